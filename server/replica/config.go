package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	gometrics "github.com/hashicorp/go-metrics"

	"github.com/redfence/redfence/fsm"
)

// Peer is one entry of the --cluster line.
type Peer struct {
	ID   string
	Addr string // host:port of its raft port
}

// Addresses is where a node serves, as other nodes and people should see it.
type Addresses struct {
	Client string
	Seats  []string
	HTTP   string
}

// Log stores.
const (
	LogStoreWAL  = "wal"
	LogStoreBolt = "bolt"
)

// Config is a node's settings. The zero value of each field but NodeID and Dir
// is usable; Start fills in the defaults.
type Config struct {
	NodeID string // unique in the cluster
	Dir    string // data directory, made when it isn't there

	// RaftListen is where other nodes connect (host:port; port 0 picks one);
	// RaftAdvertise is what they are told, RaftListen's address if empty.
	RaftListen    string
	RaftAdvertise string
	// Cluster is the --cluster line, alike on every node. Join is a member's raft
	// address. With neither a node without data is a cluster of its own.
	Cluster []Peer
	Join    string
	// Seats is how many seat ports this node has; 0 is none, which fits any cluster.
	Seats     uint8
	Addresses Addresses
	Version   string // of the binary, shown in Status

	LogStore      string // LogStoreWAL or LogStoreBolt; empty is wal
	SnapshotBytes int64  // of log, after which a snapshot is taken; 0 is 64 MiB
	MemoryMax     uint64 // bytes of records as fsm counts them; 0 is no limit
	ReplyMemory   int64  // bytes of replies that are made and not yet written; 0 is RepliesMax

	// Heartbeat is how long a follower is without a leader before it asks for
	// votes; 0 is 300 ms. The leader's own lease is as long.
	Heartbeat time.Duration
	// NoLeaderWait is how long a command waits for a leader; AnswerWait how much
	// longer one that was sent waits for its answer. 0 is 3 s and 10 s.
	NoLeaderWait time.Duration
	AnswerWait   time.Duration
	// EntriesInFlight is how many entries the leader has proposed and not yet seen
	// applied (0 is 1); BatchesInFlight is how many batches a node has sent to the
	// leader without an answer (0 is 3, at most fsm.KeptNumbers).
	EntriesInFlight int
	BatchesInFlight int
	// QueueBytes and QueueCommands bound what waits on this node; 0 is 256 MiB and 200,000.
	QueueBytes    int64
	QueueCommands int

	// OnEvents receives events in log order, once each. It must return soon and
	// not call the Node. OnMissedEvents is called when a snapshot was installed:
	// events may have been missed. KeyEvents asks for KeyChanged events.
	OnEvents       func([]fsm.Event)
	OnMissedEvents func()
	KeyEvents      bool
	ScriptLog      func(level int, text string)
	// Fatal is called once, from any goroutine, when the node can't go on: the
	// process should say why and end.
	Fatal func(error)
	Log   *slog.Logger
	// Metrics receives raft's own numbers. They are the process's: the first node
	// of a process that gives a sink sets it.
	Metrics gometrics.MetricSink

	// Seams for simulation. Nil is the real thing.
	Listen func(addr string) (net.Listener, error)
	Dial   func(ctx context.Context, addr string) (net.Conn, error)
	Mono   func() time.Duration // monotonic clock, any start
	Wall   func() int64         // microseconds since 1970
	Seed   func() uint64
	// Held, if not nil, is a disk in memory that outlives the Node: see NewMemory.
	Held *Memory

	testFault func(op string) error // a fault of the log store, in this package's tests
}

func (c *Config) setDefaults() {
	setDefault(&c.LogStore, LogStoreWAL)
	setDefault(&c.RaftListen, "127.0.0.1:0")
	setDefault(&c.SnapshotBytes, defaultSnapshotBytes)
	setDefault(&c.ReplyMemory, RepliesMax)
	setDefault(&c.Heartbeat, defaultHeartbeat)
	setDefault(&c.NoLeaderWait, defaultNoLeaderWait)
	setDefault(&c.AnswerWait, defaultAnswerWait)
	setDefault(&c.EntriesInFlight, defaultEntriesInFlight)
	setDefault(&c.BatchesInFlight, defaultBatchesInFlight)
	setDefault(&c.QueueBytes, defaultQueueBytes)
	setDefault(&c.QueueCommands, defaultQueueCommands)
	if c.OnEvents == nil {
		c.OnEvents = func([]fsm.Event) {}
	}
	if c.OnMissedEvents == nil {
		c.OnMissedEvents = func() {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Listen == nil {
		c.Listen = func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	}
	if c.Dial == nil {
		// The name is resolved on each dial, so that a node that moved is found again.
		c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{KeepAlive: 5 * time.Second}).DialContext(ctx, "tcp", addr)
		}
	}
	if c.Mono == nil {
		c.Mono = monotonic()
	}
	if c.Wall == nil {
		c.Wall = wallMicros
	}
	if c.Seed == nil {
		c.Seed = cryptoSeed
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate says what is wrong with the settings, if anything.
func (c *Config) Validate() error {
	switch {
	case c.NodeID == "" || len(c.NodeID) > 128 || strings.ContainsAny(c.NodeID, " \t\r\n,=/"):
		return fmt.Errorf("node id %q: 1 to 128 characters without spaces, commas, slashes and equals signs", c.NodeID)
	case c.Dir == "" && c.Held == nil:
		return errors.New("no data directory given")
	case c.Join != "" && len(c.Cluster) > 0:
		return errors.New("--join and --cluster exclude each other")
	case c.LogStore != LogStoreWAL && c.LogStore != LogStoreBolt:
		return fmt.Errorf("log store %q: %q or %q", c.LogStore, LogStoreWAL, LogStoreBolt)
	case c.SnapshotBytes < 0 || c.ReplyMemory < 0 || c.QueueBytes < 0 || c.QueueCommands < 0 || c.NoLeaderWait < 0 || c.AnswerWait < 0:
		return errors.New("a size or a time is negative")
	case c.Heartbeat < 20*time.Millisecond || c.Heartbeat > time.Minute:
		return fmt.Errorf("heartbeat %v: 20 ms to a minute", c.Heartbeat)
	case c.EntriesInFlight < 1 || c.EntriesInFlight > 64:
		return fmt.Errorf("%d entries in flight: 1 to 64", c.EntriesInFlight)
	case c.BatchesInFlight < 1 || c.BatchesInFlight > fsm.KeptNumbers:
		return fmt.Errorf("%d batches in flight: 1 to %d", c.BatchesInFlight, fsm.KeptNumbers)
	case c.Seats > fsm.SeatsMax:
		return fmt.Errorf("%d seats: at most %d", c.Seats, fsm.SeatsMax)
	}
	return c.validateCluster()
}

func (c *Config) validateCluster() error {
	seen := map[string]bool{}
	for _, p := range c.Cluster {
		if p.ID == "" || p.Addr == "" || seen[p.ID] {
			return fmt.Errorf("cluster line: node %q is empty, without an address, or named twice", p.ID)
		}
		seen[p.ID] = true
	}
	if len(c.Cluster) > 0 && !seen[c.NodeID] {
		return fmt.Errorf("cluster line: it does not name this node, %q", c.NodeID)
	}
	return nil
}
