package main

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/redfence/redfence/fsm"
)

// config is what `redfence serve` can be told. Each field is a flag, a
// REDFENCE_* variable and a key of the file, all of the flag's name.
type config struct {
	NodeID  string // 1 to 64 of A-Z a-z 0-9 . _ -
	DataDir string // made if it isn't there

	Listen     addrList // shared port; at least one address or a unix socket
	UnixSocket string   // shared port on a unix socket, "" for none
	Seats      addrList // one address a seat, in order; none closes the seat ports
	RaftListen string   // between nodes
	// RaftAdvertise is where other nodes reach RaftListen: "" means the node's
	// address on the --cluster line, or RaftListen itself.
	RaftAdvertise string
	HTTPListen    addrList // metrics and health; none for no HTTP

	Cluster peerList // all nodes with their raft addresses; empty is a cluster of this one node
	// Join is a member's raft address, for a node without data; "" for none. It
	// excludes Cluster and wants a NodeID that was given.
	Join string

	Heartbeat time.Duration // without which a follower asks for votes; 20 ms to 1 min

	LogStore      string   // wal or bolt
	InFlight      int      // entries that the leader has proposed and not yet seen applied
	SnapshotBytes byteSize // of log, after which a snapshot is taken

	NoLeaderWait time.Duration // how long a command waits for a leader; 1 ms to 60 s
	PasswordFile string        // "" for none
	MaxClients   int           // connections of clients
	Timeout      time.Duration // a connection that is idle for so long is closed; 0 never
	MaxMemory    byteSize      // of the records, 0 is no limit
	ReplyMemory  byteSize      // of replies that are not written yet
	KeyEvents    string        // as Redis's notify-keyspace-events

	Profiles bool // /debug/pprof over HTTP

	LogFormat string // text or json
	LogLevel  string // debug, info, warn or error

	// nodeIDGiven says that NodeID is not the default.
	nodeIDGiven bool
	// password is from REDFENCE_PASSWORD or PasswordFile, "" for none. It has no
	// flag: arguments can be read by everyone on the machine.
	password string
}

func defaultConfig() config {
	return config{
		NodeID:        "n1",
		DataDir:       "redfence-data",
		Listen:        addrList{"127.0.0.1:6379"},
		Seats:         addrList{"127.0.0.1:6381", "127.0.0.1:6382", "127.0.0.1:6383"},
		RaftListen:    "127.0.0.1:7379",
		HTTPListen:    addrList{"127.0.0.1:8379"},
		Heartbeat:     300 * time.Millisecond,
		LogStore:      "wal",
		InFlight:      1,
		SnapshotBytes: 64 << 20,
		NoLeaderWait:  3 * time.Second,
		MaxClients:    10_000,
		ReplyMemory:   256 << 20,
		LogFormat:     "text",
		LogLevel:      "info",
	}
}

// bind makes a flag of each field, with its present value as the default.
func (c *config) bind(fs *pflag.FlagSet) {
	fs.StringVar(&c.NodeID, "node-id", c.NodeID, "name of this node, the same at every start; 1 to 64 of A-Z a-z 0-9 . _ -")
	fs.StringVar(&c.DataDir, "data-dir", c.DataDir, "folder of this node's data, made if it isn't there; one process uses it at a time")
	fs.Var(&c.Listen, "listen", "addresses of the shared port for Redis clients")
	fs.StringVar(&c.UnixSocket, "unix-socket", c.UnixSocket, "path of a unix socket that serves like the shared port; empty for none")
	fs.Var(&c.Seats, "seats", "addresses of the seat ports for Redlock clients, seat 1 first, or none; their number is fixed when the cluster is born")
	fs.StringVar(&c.RaftListen, "raft-listen", c.RaftListen, "address for the other nodes")
	fs.StringVar(&c.RaftAdvertise, "raft-advertise", c.RaftAdvertise, "where other nodes reach --raft-listen; empty for this node's address on the --cluster line")
	fs.Var(&c.HTTPListen, "http-listen", "addresses for /metrics, /healthz and /readyz, or none")
	fs.Var(&c.Cluster, "cluster", "all nodes with their raft addresses, the same on each node at every start; empty for a cluster of one")
	fs.StringVar(&c.Join, "join", c.Join, "raft address of a member, for a new node of a running cluster; ignored once the node has data")
	fs.DurationVar(&c.Heartbeat, "heartbeat", c.Heartbeat, "how long a follower is without a leader before it asks for votes; 20ms to 1m, the same on each node")
	fs.IntVar(&c.InFlight, "entries-in-flight", c.InFlight, "entries of the log that a leader has under way at once, 1 to 64: more than 1 may help where each node has a disk of its own")
	fs.StringVar(&c.LogStore, "log-store", c.LogStore, "how the log is stored: wal or bolt; fixed when the node's data is made")
	fs.Var(&c.SnapshotBytes, "snapshot-bytes", "bytes of log after which a snapshot is taken; at least 1mb")
	fs.DurationVar(&c.NoLeaderWait, "no-leader-wait", c.NoLeaderWait, "how long a command waits for a leader before CLUSTERDOWN; 1ms to 60s")
	fs.StringVar(&c.PasswordFile, "password-file", c.PasswordFile, "file with the password that clients must give, or set REDFENCE_PASSWORD; empty for no password")
	fs.IntVar(&c.MaxClients, "maxclients", c.MaxClients, "client connections at a time; 1 to 1000000")
	fs.DurationVar(&c.Timeout, "timeout", c.Timeout, "closes a connection that is idle for so long; 0 for never, else at least 1s")
	fs.Var(&c.MaxMemory, "maxmemory", "bytes of records above which writes are refused with OOM; 0 for no limit, else at least 1mb")
	fs.Var(&c.ReplyMemory, "reply-memory", "bytes of replies that wait for clients to read them, above which large reads wait; at least 16mb")
	fs.StringVar(&c.KeyEvents, "notify-keyspace-events", c.KeyEvents, "keyspace events that this node publishes, with Redis's letters; empty for none")
	fs.BoolVar(&c.Profiles, "pprof", c.Profiles, "serve /debug/pprof on --http-listen: whoever reaches it sees what the process does, and can keep it busy")
	fs.StringVar(&c.LogFormat, "log-format", c.LogFormat, "text or json, on standard error")
	fs.StringVar(&c.LogLevel, "log-level", c.LogLevel, "debug, info, warn or error")
}

var nodeIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// validate refuses what can't be served, in words that name the flag.
func (c *config) validate() error {
	for _, check := range []func() error{c.checkIdentity, c.checkAddresses, c.checkCluster, c.checkLimits, c.checkWords} {
		if err := check(); err != nil {
			return usageError{err}
		}
	}
	return nil
}

func (c *config) checkIdentity() error {
	if !nodeIDForm.MatchString(c.NodeID) {
		return fmt.Errorf("--node-id %q: want 1 to 64 of A-Z a-z 0-9 . _ -", c.NodeID)
	}
	if c.DataDir == "" {
		return fmt.Errorf("--data-dir must not be empty")
	}
	return nil
}

func (c *config) checkAddresses() error {
	if len(c.Listen) == 0 && c.UnixSocket == "" {
		return fmt.Errorf("--listen is none and there is no --unix-socket: nothing could reach this node")
	}
	if len(c.Seats) > fsm.SeatsMax {
		return fmt.Errorf("--seats has %d addresses, at most %d", len(c.Seats), fsm.SeatsMax)
	}
	if err := checkAddr(c.RaftListen); err != nil {
		return fmt.Errorf("--raft-listen: %w", err)
	}
	if c.RaftAdvertise != "" {
		if err := checkAddr(c.RaftAdvertise); err != nil {
			return fmt.Errorf("--raft-advertise: %w", err)
		}
	}
	if isWildcard(c.raftAddress()) {
		return fmt.Errorf("--raft-listen %s is no address that other nodes can reach: give --raft-advertise or --cluster", c.RaftListen)
	}
	return c.checkDistinct()
}

// checkDistinct refuses one address for two purposes. Port 0 takes any free one.
func (c *config) checkDistinct() error {
	seen := map[string]string{}
	for _, use := range []struct {
		flag  string
		addrs []string
	}{
		{"--listen", c.Listen}, {"--seats", c.Seats}, {"--raft-listen", []string{c.RaftListen}}, {"--http-listen", c.HTTPListen},
	} {
		for _, addr := range use.addrs {
			if strings.HasSuffix(addr, ":0") {
				continue
			}
			if other := seen[addr]; other != "" {
				return fmt.Errorf("%s and %s both want %s", other, use.flag, addr)
			}
			seen[addr] = use.flag
		}
	}
	return nil
}

func (c *config) checkCluster() error {
	switch {
	case c.Join != "" && len(c.Cluster) > 0:
		return fmt.Errorf("--join and --cluster exclude each other: a node joins a cluster, or is born with it")
	case c.Join != "" && !c.nodeIDGiven:
		return fmt.Errorf("--join needs --node-id: the default n1 is a member already")
	case c.Join != "" && checkAddr(c.Join) != nil:
		return fmt.Errorf("--join: %w", checkAddr(c.Join))
	case len(c.Cluster) == 0:
		return nil
	}
	ids, addrs := map[string]bool{}, map[string]bool{}
	for _, p := range c.Cluster {
		if !nodeIDForm.MatchString(p.id) {
			return fmt.Errorf("--cluster: node id %q: want 1 to 64 of A-Z a-z 0-9 . _ -", p.id)
		}
		if ids[p.id] || addrs[p.addr] {
			return fmt.Errorf("--cluster names %s=%s twice", p.id, p.addr)
		}
		if isWildcard(p.addr) || strings.HasSuffix(p.addr, ":0") {
			return fmt.Errorf("--cluster: %s is no address that other nodes can reach", p.addr)
		}
		ids[p.id], addrs[p.addr] = true, true
	}
	if !ids[c.NodeID] {
		return fmt.Errorf("--cluster does not name this node: --node-id is %s", c.NodeID)
	}
	return nil
}

func (c *config) checkLimits() error {
	switch {
	case c.SnapshotBytes < 1<<20:
		return fmt.Errorf("--snapshot-bytes %s: at least 1mb", c.SnapshotBytes.String())
	case c.NoLeaderWait < time.Millisecond || c.NoLeaderWait > time.Minute:
		return fmt.Errorf("--no-leader-wait %s: want 1ms to 60s", c.NoLeaderWait)
	case c.InFlight < 1 || c.InFlight > 64:
		return fmt.Errorf("--entries-in-flight %d: want 1 to 64", c.InFlight)
	case c.Heartbeat < 20*time.Millisecond || c.Heartbeat > time.Minute:
		return fmt.Errorf("--heartbeat %s: want 20ms to 1m", c.Heartbeat)
	case c.MaxClients < 1 || c.MaxClients > 1_000_000:
		return fmt.Errorf("--maxclients %d: want 1 to 1000000", c.MaxClients)
	case c.Timeout < 0 || c.Timeout > 0 && c.Timeout < time.Second:
		return fmt.Errorf("--timeout %s: want 0 for never, or at least 1s", c.Timeout)
	case c.MaxMemory != 0 && c.MaxMemory < 1<<20:
		return fmt.Errorf("--maxmemory %s: want 0 for no limit, or at least 1mb", c.MaxMemory.String())
	case c.ReplyMemory < 16<<20:
		return fmt.Errorf("--reply-memory %s: at least 16mb", c.ReplyMemory.String())
	}
	return nil
}

func (c *config) checkWords() error {
	for _, w := range []struct {
		flag, value string
		allowed     []string
	}{
		{"--log-store", c.LogStore, []string{"wal", "bolt"}},
		{"--log-format", c.LogFormat, []string{"text", "json"}},
		{"--log-level", c.LogLevel, []string{"debug", "info", "warn", "error"}},
	} {
		if !slices.Contains(w.allowed, w.value) {
			return fmt.Errorf("%s %q: want %s", w.flag, w.value, strings.Join(w.allowed, " or "))
		}
	}
	if i := strings.IndexFunc(c.KeyEvents, func(r rune) bool { return !strings.ContainsRune(keyEventLetters, r) }); i >= 0 {
		return fmt.Errorf("--notify-keyspace-events %q: %q is none of the letters %s", c.KeyEvents, c.KeyEvents[i], keyEventLetters)
	}
	return nil
}

// keyEventLetters are those that Redis's setting of that name takes.
const keyEventLetters = "KEg$lshzxetdmnA"

// raftAddress is where other nodes reach this one.
func (c *config) raftAddress() string {
	if c.RaftAdvertise != "" {
		return c.RaftAdvertise
	}
	for _, p := range c.Cluster {
		if p.id == c.NodeID {
			return p.addr
		}
	}
	return c.RaftListen
}

func isWildcard(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// isOpen says whether somebody on another machine could connect.
func isOpen(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}
