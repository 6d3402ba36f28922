package server

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/redlockcompat"
	"github.com/redfence/redfence/server/replica"
)

// infoText builds INFO: lines of name:value under headings. Drivers read it, so
// every value is true of this server, or one that means "nothing" in Redis.
type infoText struct {
	strings.Builder
	session *session
	server  *Server
	status  replica.Status
}

// infoSections are the sections in the order in which INFO shows them; those
// not shown by default are asked for by name or with "all".
var infoSections = []struct {
	name      string
	heading   string
	byDefault bool
	write     func(*infoText)
}{
	{"server", "Server", true, infoServer},
	{"clients", "Clients", true, infoClients},
	{"memory", "Memory", true, infoMemory},
	{"persistence", "Persistence", true, infoPersistence},
	{"stats", "Stats", true, infoStats},
	{"replication", "Replication", true, infoReplication},
	{"cpu", "CPU", true, infoCPU},
	{"modules", "Modules", true, func(*infoText) {}},
	{"commandstats", "Commandstats", false, infoCommandstats},
	{"errorstats", "Errorstats", true, infoErrorstats},
	{"cluster", "Cluster", true, infoCluster},
	{"redfence", "Redfence", true, infoRedfence},
	{"keyspace", "Keyspace", true, infoKeyspace},
}

func info(c *session, args []string) reply.Value {
	wanted := map[string]bool{}
	for _, a := range args[1:] {
		switch a = strings.ToLower(a); a {
		case "all", "everything", "default":
			for _, s := range infoSections {
				wanted[s.name] = wanted[s.name] || s.byDefault || a != "default"
			}
		default:
			wanted[a] = true
		}
	}
	b := &infoText{session: c, server: c.server, status: c.server.backend.Status()}
	for _, s := range infoSections {
		if !wanted[s.name] && (len(args) > 1 || !s.byDefault) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("# " + s.heading + "\r\n")
		s.write(b)
	}
	return text(b.String())
}

func (b *infoText) text(name, value string) { b.WriteString(name + ":" + value + "\r\n") }

func (b *infoText) number(name string, n int64) { b.text(name, strconv.FormatInt(n, 10)) }

func (b *infoText) yes(name string, yes bool) { b.number(name, reply.Truth(yes).Int) }

// runID names a port of a node in 40 hex digits; it stays the same over
// restarts. Every port of every node has another, so that an operator sees
// whether a client's masters are really different ones.
func runID(cluster, node string, space uint8) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s/%s/%d", cluster, node, space))
	return hex.EncodeToString(sum[:])
}

// portOf is the port of an address, "0" if it has none.
func portOf(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil || strings.HasPrefix(addr, "/") {
		return "0"
	}
	return port
}

func infoServer(b *infoText) {
	s := b.server
	up := time.Since(s.started)
	b.text("redis_version", redlockcompat.RedisVersion)
	b.text("redfence_version", s.cfg.Version)
	b.text("redis_git_sha1", "00000000")
	b.text("redis_git_dirty", "0")
	b.text("redis_mode", redlockcompat.Mode)
	b.text("os", runtime.GOOS+" "+runtime.GOARCH)
	b.number("arch_bits", strconv.IntSize)
	b.text("go_version", strings.TrimPrefix(runtime.Version(), "go"))
	b.number("process_id", int64(os.Getpid()))
	b.text("run_id", runID(b.status.Cluster, b.status.Node, b.session.space))
	b.text("tcp_port", portOf(b.session.local))
	b.number("server_time_usec", time.Now().UnixMicro())
	b.number("uptime_in_seconds", int64(up.Seconds()))
	b.number("uptime_in_days", int64(up.Hours()/24))
}

func infoClients(b *infoText) {
	b.number("connected_clients", int64(b.server.connected()))
	b.number("cluster_connections", 0)
	b.number("maxclients", int64(b.server.settings.maxClients()))
	b.number("blocked_clients", b.server.blocked.Load())
	tracking, _ := b.server.trackers.sizes()
	b.number("tracking_clients", int64(tracking))
	b.number("pubsub_clients", int64(len(b.server.hub.audience())))
}

func infoMemory(b *infoText) {
	heap, resident := memoryUsed()
	b.number("used_memory", int64(heap))
	b.text("used_memory_human", human(heap))
	b.number("used_memory_rss", int64(resident))
	b.text("used_memory_rss_human", human(resident))
	b.number("used_memory_dataset", b.status.Memory)
	b.number("used_memory_scripts_eval", int64(b.status.ScriptBytes))
	b.number("number_of_cached_scripts", int64(b.status.Scripts))
	b.number("mem_clients_normal", b.server.inputHeld.Load()+b.server.outputHeld.Load())
	b.number("maxmemory", int64(b.server.cfg.MemoryMax))
	b.text("maxmemory_human", human(b.server.cfg.MemoryMax))
	b.text("maxmemory_policy", "noeviction")
	b.text("mem_allocator", "go")
}

// human is a size as Redis spells it: 1015.37K.
func human(n uint64) string {
	const units = "KMGT"
	if n < 1024 {
		return strconv.FormatUint(n, 10) + "B"
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 && unit < len(units)-1 {
		f, unit = f/1024, unit+1
	}
	return strconv.FormatFloat(f, 'f', 2, 64) + units[unit:unit+1]
}

func infoPersistence(b *infoText) {
	b.yes("loading", b.server.backend.Loading())
	b.number("async_loading", 0)
	b.number("rdb_changes_since_last_save", 0)
	b.number("rdb_bgsave_in_progress", 0)
	b.text("rdb_last_bgsave_status", "ok")
	// Every acknowledged write is in the log and fsynced, as with an
	// append-only file that is always synced.
	b.number("aof_enabled", 1)
	b.number("aof_rewrite_in_progress", 0)
	b.text("aof_last_write_status", "ok")
}

func infoStats(b *infoText) {
	s := &b.server.stats
	b.number("total_connections_received", s.connections.Load())
	b.number("total_commands_processed", s.processed())
	b.number("instantaneous_ops_per_sec", b.server.rate.perSecond(s.processed()))
	b.number("total_net_input_bytes", s.inputBytes.Load())
	b.number("total_net_output_bytes", s.outputBytes.Load())
	b.number("rejected_connections", s.rejected.Load())
	b.number("evicted_keys", 0)
	channels, patterns, shards := b.server.hub.sizes()
	b.number("pubsub_channels", int64(channels))
	b.number("pubsub_patterns", int64(patterns))
	b.number("pubsubshard_channels", int64(shards))
	_, keys := b.server.trackers.sizes()
	b.number("tracking_total_keys", int64(keys))
	b.number("total_error_replies", s.errors())
	b.number("acl_access_denied_auth", s.authFailures.Load())
	b.number("protocol_errors", s.protocolErrors.Load())
	b.number("grants_answered_late", s.lateGrants.Load())
}

// infoReplication says master on every node: each serves every command, and no
// driver should look for another.
func infoReplication(b *infoText) {
	b.text("role", redlockcompat.Role)
	b.number("connected_slaves", 0)
	b.text("master_failover_state", "no-failover")
	b.text("master_replid", runID(b.status.Cluster, "", 0))
	b.text("master_replid2", strings.Repeat("0", 40))
	b.number("master_repl_offset", int64(b.status.CommitIndex))
	b.number("second_repl_offset", -1)
	b.number("repl_backlog_active", 0)
}

func infoCPU(b *infoText) {
	user, system := cpuTimes()
	b.text("used_cpu_sys", strconv.FormatFloat(system.Seconds(), 'f', 6, 64))
	b.text("used_cpu_user", strconv.FormatFloat(user.Seconds(), 'f', 6, 64))
}

func infoCommandstats(b *infoText) {
	for _, spec := range fsm.Table() {
		s := b.server.stats.of(spec)
		calls, micros, rejected, failed := s.calls.Load(), s.micros.Load(), s.rejected.Load(), s.failed.Load()
		if calls+rejected+failed == 0 {
			continue
		}
		each := 0.0
		if calls > 0 {
			each = float64(micros) / float64(calls)
		}
		b.text("cmdstat_"+spec.Name, fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			calls, micros, each, rejected, failed))
	}
}

func infoErrorstats(b *infoText) {
	counts := b.server.stats.words.all()
	words := make([]string, 0, len(counts))
	for word := range counts {
		words = append(words, word)
	}
	sort.Strings(words)
	for _, word := range words {
		b.text("errorstat_"+word, "count="+strconv.FormatInt(counts[word], 10))
	}
}

func infoCluster(b *infoText) { b.number("cluster_enabled", 0) }

func infoRedfence(b *infoText) {
	st := &b.status
	b.text("node_id", st.Node)
	b.text("cluster_id", st.Cluster)
	b.text("raft_role", st.Role)
	b.text("leader", st.Leader)
	b.yes("raft_voter", slices.ContainsFunc(st.Members, func(m replica.MemberStatus) bool { return m.Node == st.Node && m.Voter }))
	for _, m := range st.Members {
		if m.Leader {
			b.text("leader_address", m.Client)
		}
	}
	b.number("members", int64(len(st.Members)))
	b.number("term", int64(st.Term))
	b.number("last_index", int64(st.LastIndex))
	b.number("commit_index", int64(st.CommitIndex))
	b.number("applied_index", int64(st.AppliedIndex))
	b.text("port", redlockcompat.PortName(b.session.space))
	b.number("seats", int64(st.Seats))
	b.number("tokens", int64(st.Tokens))
	total := 0
	for _, n := range st.Keys {
		total += n
	}
	b.number("locks", int64(total))
	b.number("locks_without_lease", int64(unleased(b.status.Counts)))
	for space, n := range st.Keys {
		b.number("locks_"+strings.ReplaceAll(redlockcompat.PortName(uint8(space)), " ", ""), int64(n))
	}
	b.number("lease_clock_ms", st.LeaseNow/1000)
	b.number("lost_time_ms", st.LostTime.Milliseconds())
}

// infoKeyspace shows the databases of this port's keyspace, as Redis would.
func infoKeyspace(b *infoText) {
	for _, n := range b.status.Counts {
		if n.Space == b.session.space {
			b.text("db"+strconv.Itoa(int(n.DB)), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0", n.Keys, n.Leased))
		}
	}
}

// unleased counts the keys that stay until somebody deletes them.
func unleased(counts []fsm.Count) int {
	n := 0
	for _, c := range counts {
		n += c.Keys - c.Leased
	}
	return n
}
