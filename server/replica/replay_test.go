package replica

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

// A node that replays a long log after its start neither keeps the others from
// electing a leader nor keeps an office in which it can serve nobody; in the end it
// has what they have.
func TestReplayHoldsUpNobody(t *testing.T) {
	c := newCluster(t, 3, func(cfg *Config) { cfg.Held = NewMemory() })
	first := c.leader()
	late := c.another(first)
	third := c.another(first, late)
	do(t, c.nodes[first], "eval", "redis.log(redis.LOG_WARNING, 'held') return 1", "0")
	for range 3000 { // more than raft hands to a machine before it waits for it
		do(t, c.nodes[first], "incr", "c")
	}
	c.stop(late)
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	var replays atomic.Bool
	c.cfgs[late].ScriptLog = func(int, string) {
		replays.Store(true)
		<-held
	}
	committed := c.nodes[first].raft.Load().CommitIndex()
	n := c.start(late)
	eventually(t, 10*time.Second, "a node that replays", func() bool {
		r := n.raft.Load()
		return replays.Load() && r != nil && r.CommitIndex() >= committed
	})
	c.kill(first)
	eventually(t, 5*time.Second, "a leader among the others", func() bool { return c.nodes[third].serving.Load() != nil })
	if v := do(t, c.nodes[third], "incr", "c"); v.Int != 3001 {
		t.Errorf("the new leader counts on to %d", v.Int)
	}
	release()
	eventually(t, 10*time.Second, "the same state", func() bool {
		i, h := n.StateHash()
		j, g := c.nodes[third].StateHash()
		return i == j && h == g
	})
}

// What a restart replays is bounded also where commands are short: each counts
// towards the next snapshot with the time that it takes.
func TestManyShortCommandsBringASnapshot(t *testing.T) {
	n := newCluster(t, 1, func(cfg *Config) { cfg.SnapshotBytes = 1 << 20 }).nodes[0]
	do(t, n, "rpush", "l", "a", "b")
	const commands = 60_000
	var pipeline []fsm.Command
	for range 5_000 {
		pipeline = append(pipeline, fsm.Command{Args: []string{"lset", "l", "1", "x"}})
	}
	for range commands / len(pipeline) {
		if _, err := n.Do(t.Context(), client("x"), pipeline); err != nil {
			t.Fatal(err)
		}
	}
	atMost := n.cfg.SnapshotBytes * stepsPerByte / commandSteps // between two snapshots
	want := uint64(commands / (atMost + 2*int64(len(pipeline))))
	eventually(t, 10*time.Second, "snapshots", func() bool { return n.Stats().Snapshots.Load() >= want })
	if want < 2 {
		t.Errorf("the test would be content with %d snapshots", want)
	}
}
