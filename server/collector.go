package server

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/redlockcompat"
	"github.com/redfence/redfence/server/replica"
)

// metric describes one metric of /metrics.
type metric struct {
	name   string
	kind   string // "gauge" or "counter"
	labels string // names, separated by commas
	help   string
}

// reading is what one look at /metrics is made of.
type reading struct {
	server *Server
	status replica.Status
	stats  *replica.Stats
}

// plainMetric is a metric without labels.
type plainMetric struct {
	name  string
	help  string
	value func(*reading) float64
}

func asFloat[T int | int64 | uint64](read func(*reading) T) func(*reading) float64 {
	return func(r *reading) float64 { return float64(read(r)) }
}

func asOne(read func(*reading) bool) func(*reading) float64 {
	return func(r *reading) float64 {
		if read(r) {
			return 1
		}
		return 0
	}
}

var gauges = []plainMetric{
	{"redfence_is_leader", "1 on the node that leads.", asOne(func(r *reading) bool { return r.status.Role == replica.RoleLeader })},
	{"redfence_has_leader", "1 while this node knows a leader.", asOne(func(r *reading) bool { return r.status.Leader != "" })},
	{"redfence_ready", "1 while this node can serve.", asOne(func(r *reading) bool { return r.server.backend.Ready() == nil })},
	{"redfence_loading", "1 while this node replays or restores.", asOne(func(r *reading) bool { return r.server.backend.Loading() })},
	{"redfence_term", "Raft's term.", asFloat(func(r *reading) uint64 { return r.status.Term })},
	{"redfence_members", "Members of the cluster.", asFloat(func(r *reading) int { return len(r.status.Members) })},
	{"redfence_last_index", "Index of the last entry in this node's log.", asFloat(func(r *reading) uint64 { return r.status.LastIndex })},
	{"redfence_commit_index", "Index up to which entries are committed.", asFloat(func(r *reading) uint64 { return r.status.CommitIndex })},
	{"redfence_applied_index", "Index up to which entries are applied.", asFloat(func(r *reading) uint64 { return r.status.AppliedIndex })},
	{"redfence_tokens", "The last fencing token given.", asFloat(func(r *reading) uint64 { return r.status.Tokens })},
	{"redfence_records_bytes", "Memory of the records, as the memory limit counts it.", asFloat(func(r *reading) int64 { return r.status.Memory })},
	{"redfence_keys_without_lease", "Keys that stay until somebody deletes them.", asFloat(func(r *reading) int { return unleased(r.status.Counts) })},
	{"redfence_lease_clock_seconds", "The lease clock.", func(r *reading) float64 { return float64(r.status.LeaseNow) / 1e6 }},
	{"redfence_disk_busy_seconds", "How long the longest write to the log that still runs has run.", func(r *reading) float64 { return r.status.DiskBusy.Seconds() }},
	{"redfence_queue_commands", "Commands of this node that wait for an answer.", asFloat(func(r *reading) int64 { return r.stats.QueueCommands.Load() })},
	{"redfence_queue_bytes", "Bytes of the commands that wait.", asFloat(func(r *reading) int64 { return r.stats.QueueBytes.Load() })},
	{"redfence_connections", "Open client connections.", asFloat(func(r *reading) int { return r.server.connected() })},
	{"redfence_connections_max", "How many client connections there may be.", asFloat(func(r *reading) int { return r.server.settings.maxClients() })},
	{"redfence_blocked_connections", "Connections of this node whose command waits.", asFloat(func(r *reading) int64 { return r.server.blocked.Load() })},
	{"redfence_waiters", "Commands of all nodes that wait for something to take.", asFloat(func(r *reading) int { return r.status.Waiting })},
	{"redfence_listeners", "Connections that listen to channels.", asFloat(func(r *reading) int { return len(r.server.hub.audience()) })},
	{"redfence_output_held_bytes", "Messages that wait for clients to read them.", asFloat(func(r *reading) int64 { return r.server.outputHeld.Load() })},
	{"redfence_replies_held_bytes", "Replies that are made and not yet written; --reply-memory bounds them.", asFloat(func(r *reading) int64 { return r.server.backend.Replies().Used() })},
	{"redfence_input_held_bytes", "What clients make the node keep: unfinished commands, transactions, watched keys, channels.", asFloat(func(r *reading) int64 { return r.server.inputHeld.Load() })},
}

var counters = []plainMetric{
	{"redfence_lost_time_seconds_total", "Time by which leases became longer because the leading process stood still.", func(r *reading) float64 { return r.status.LostTime.Seconds() }},
	{"redfence_entries_proposed_total", "Entries proposed by this node.", asFloat(func(r *reading) uint64 { return r.stats.EntriesProposed.Load() })},
	{"redfence_proposed_bytes_total", "Bytes of the entries proposed by this node.", asFloat(func(r *reading) uint64 { return r.stats.BytesProposed.Load() })},
	{"redfence_commands_proposed_total", "Commands in the entries proposed by this node.", asFloat(func(r *reading) uint64 { return r.stats.CommandsProposed.Load() })},
	{"redfence_checkpoints_total", "Entries that only moved the lease clock.", asFloat(func(r *reading) uint64 { return r.stats.Checkpoints.Load() })},
	{"redfence_expiry_entries_total", "Entries proposed because a lease had run out.", asFloat(func(r *reading) uint64 { return r.stats.Expiries.Load() })},
	{"redfence_entries_applied_total", "Entries applied.", asFloat(func(r *reading) uint64 { return r.stats.EntriesApplied.Load() })},
	{"redfence_applied_bytes_total", "Bytes of the entries applied.", asFloat(func(r *reading) uint64 { return r.stats.BytesApplied.Load() })},
	{"redfence_batches_sent_total", "Batches sent to the leader, resent ones included.", asFloat(func(r *reading) uint64 { return r.stats.BatchesSent.Load() })},
	{"redfence_batches_resent_total", "Batches sent again after a leader change or a broken connection.", asFloat(func(r *reading) uint64 { return r.stats.BatchesResent.Load() })},
	{"redfence_batches_cancelled_total", "Batches given up.", asFloat(func(r *reading) uint64 { return r.stats.BatchesCancelled.Load() })},
	{"redfence_batches_forwarded_total", "Batches received from other nodes.", asFloat(func(r *reading) uint64 { return r.stats.BatchesForwarded.Load() })},
	{"redfence_reads_local_total", "Reads answered by this node's machine as the leader.", asFloat(func(r *reading) uint64 { return r.stats.ReadsLocal.Load() })},
	{"redfence_reads_forwarded_total", "Reads sent to the leader.", asFloat(func(r *reading) uint64 { return r.stats.ReadsForwarded.Load() })},
	{"redfence_read_rounds_total", "Confirmations asked of a majority for reads.", asFloat(func(r *reading) uint64 { return r.stats.ReadRounds.Load() })},
	{"redfence_no_leader_total", "Commands answered with CLUSTERDOWN.", asFloat(func(r *reading) uint64 { return r.stats.NoLeader.Load() })},
	{"redfence_unknown_outcomes_total", "Commands answered with an unknown outcome.", asFloat(func(r *reading) uint64 { return r.stats.UnknownOutcomes.Load() })},
	{"redfence_too_busy_total", "Commands refused because too many waited.", asFloat(func(r *reading) uint64 { return r.stats.TooBusy.Load() })},
	{"redfence_terms_led_total", "How often this node became the leader.", asFloat(func(r *reading) uint64 { return r.stats.TermsLed.Load() })},
	{"redfence_snapshots_total", "Snapshots taken.", asFloat(func(r *reading) uint64 { return r.stats.Snapshots.Load() })},
	{"redfence_snapshots_loaded_total", "Snapshots restored from disk or from the leader.", asFloat(func(r *reading) uint64 { return r.stats.SnapshotsLoaded.Load() })},
	{"redfence_links_made_total", "Connections made to the leader.", asFloat(func(r *reading) uint64 { return r.stats.LinksMade.Load() })},
	{"redfence_links_refused_total", "Connections between nodes that were refused.", asFloat(func(r *reading) uint64 { return r.stats.LinksRefused.Load() })},
	{"redfence_faults_total", "Commands that ended in a bug of Redfence and were undone.", asFloat(func(r *reading) uint64 { return r.stats.Faults.Load() })},
	{"redfence_connections_total", "Connections accepted.", asFloat(func(r *reading) int64 { return r.server.stats.connections.Load() })},
	{"redfence_connections_refused_total", "Connections refused because there were too many.", asFloat(func(r *reading) int64 { return r.server.stats.rejected.Load() })},
	{"redfence_accept_errors_total", "Failed accepts, as without a free file descriptor.", asFloat(func(r *reading) int64 { return r.server.stats.acceptErrors.Load() })},
	{"redfence_protocol_errors_total", "Connections closed for breaking the protocol.", asFloat(func(r *reading) int64 { return r.server.stats.protocolErrors.Load() })},
	{"redfence_auth_failures_total", "Wrong passwords.", asFloat(func(r *reading) int64 { return r.server.stats.authFailures.Load() })},
	{"redfence_late_grants_total", "Grants that had run out before they could be answered.", asFloat(func(r *reading) int64 { return r.server.stats.lateGrants.Load() })},
	{"redfence_messages_total", "Messages handed to listeners.", asFloat(func(r *reading) int64 { return r.server.stats.messages.Load() })},
	{"redfence_messages_dropped_total", "Messages for listeners that were too far behind and were closed.", asFloat(func(r *reading) int64 { return r.server.stats.slowListeners.Load() })},
	{"redfence_input_bytes_total", "Bytes read from clients.", asFloat(func(r *reading) int64 { return r.server.stats.inputBytes.Load() })},
	{"redfence_output_bytes_total", "Bytes written to clients.", asFloat(func(r *reading) int64 { return r.server.stats.outputBytes.Load() })},
}

// Metrics with labels.
var (
	locksMetric       = metric{"redfence_locks", "gauge", "port", "Keys of each kind of port."}
	lagMetric         = metric{"redfence_member_lag_entries", "gauge", "node", "How many entries a member is behind; only the leader knows."}
	commandsMetric    = metric{"redfence_commands_total", "counter", "command", "Commands executed."}
	failuresMetric    = metric{"redfence_command_failures_total", "counter", "command", "Commands answered with an error, refused ones included."}
	errorsMetric      = metric{"redfence_errors_total", "counter", "word", "Errors answered, by their first word."}
	misdirectedMetric = metric{"redfence_misdirected_locks_total", "counter", "client", "Locks that a client asked of several nodes' shared ports as if they were masters of their own."}
	versionMetric     = metric{"redfence_build_info", "gauge", "version,node", "1; the binary's version is a label."}
)

// collector reads everything when somebody asks.
type collector struct{ server *Server }

// Describe sends nothing: which labels there are changes with the cluster.
func (*collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	r := &reading{c.server, c.server.backend.Status(), c.server.backend.Stats()}
	for _, m := range gauges {
		emit(out, metric{name: m.name, kind: "gauge", help: m.help}, m.value(r))
	}
	for _, m := range counters {
		emit(out, metric{name: m.name, kind: "counter", help: m.help}, m.value(r))
	}
	emit(out, versionMetric, 1, c.server.cfg.Version, r.status.Node)
	for space, n := range r.status.Keys {
		emit(out, locksMetric, float64(n), redlockcompat.PortName(uint8(space)))
	}
	for _, m := range r.status.Members {
		if m.Lag >= 0 {
			emit(out, lagMetric, float64(m.Lag), m.Node)
		}
	}
	for _, spec := range fsm.Table() {
		s := c.server.stats.of(spec)
		if calls := s.calls.Load(); calls > 0 {
			emit(out, commandsMetric, float64(calls), spec.Name)
		}
		if failed := s.failed.Load() + s.rejected.Load(); failed > 0 {
			emit(out, failuresMetric, float64(failed), spec.Name)
		}
	}
	for client, n := range c.server.misdirected.all() {
		emit(out, misdirectedMetric, float64(n), strings.ToValidUTF8(client, "?"))
	}
	for word, n := range c.server.stats.words.all() {
		emit(out, errorsMetric, float64(n), strings.ToValidUTF8(word, "?"))
	}
}

func emit(out chan<- prometheus.Metric, m metric, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if m.kind == "counter" {
		kind = prometheus.CounterValue
	}
	var names []string
	if m.labels != "" {
		names = strings.Split(m.labels, ",")
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(m.name, m.help, names, nil), kind, value, labels...)
}
