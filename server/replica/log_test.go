package replica

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// Promise 10: the log is cut by its bytes, and a node that was away gets a snapshot.
func TestSnapshotsByBytesAndForLateNodes(t *testing.T) {
	c := newCluster(t, 3, func(cfg *Config) { cfg.SnapshotBytes = 4 << 20 })
	leader := c.leader()
	late := c.another(leader)
	c.stop(late)
	value := strings.Repeat("v", 100_000)
	for i := range 300 { // 30 MB into ten keys
		do(t, c.nodes[leader], "set", fmt.Sprint("k", i%10), value)
	}
	if taken := c.nodes[leader].stats.Snapshots.Load(); taken < 4 {
		t.Fatalf("%d snapshots for 30 MB of log, one each 4 MB wanted", taken)
	}
	do(t, c.nodes[leader], "set", "last", "one")
	if files := snapshotsIn(t, c.cfgs[leader].Dir); len(files) > snapshotsKept {
		t.Fatalf("%d snapshots are kept", len(files))
	}
	first, err := c.nodes[leader].stores.logs.FirstIndex()
	if err != nil || first < 100 {
		t.Fatalf("the log begins at %d (%v)", first, err)
	}
	missed := false
	c.cfgs[late].OnMissedEvents = func() { missed = true }
	c.start(late)
	c.ready()
	eventually(t, 10*time.Second, "it has caught up", func() bool {
		i1, h1 := c.nodes[leader].StateHash()
		i2, h2 := c.nodes[late].StateHash()
		return i1 == i2 && h1 == h2
	})
	if c.nodes[late].stats.SnapshotsLoaded.Load() == 0 || !missed {
		t.Fatal("it caught up without a snapshot, or nobody was told of missed events")
	}
	// It restarts from what it was sent, and counts for a majority.
	c.stop(late)
	c.start(late)
	other := c.another(leader, late)
	c.stop(other)
	wantReply(t, do(t, c.nodes[late], "get", "last"), reply.String("one"))
	wantReply(t, do(t, c.nodes[late], "incr", "c"), reply.Integer(1))
}

// Events reach each node's subscribers once and in order, also through an election.
func TestEventsComeOnceAndInOrder(t *testing.T) {
	var mu sync.Mutex
	heard := map[string][]string{}
	c := planCluster(t, 3)
	for i := range c.cfgs {
		id := c.cfgs[i].NodeID
		c.cfgs[i].OnEvents = func(events []fsm.Event) {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range events {
				heard[id] = append(heard[id], e.Payload)
			}
		}
		c.start(i)
	}
	c.ready()
	var want []string
	publish := func(from *Node) {
		for range 50 {
			want = append(want, fmt.Sprint(len(want)))
			do(t, from, "publish", "ch", want[len(want)-1])
		}
	}
	publish(c.nodes[0])
	if err := c.nodes[c.leader()].Handover(t.Context()); err != nil {
		t.Fatal(err)
	}
	publish(c.nodes[1])
	publish(c.nodes[2])
	for _, cfg := range c.cfgs {
		eventually(t, 5*time.Second, cfg.NodeID+" heard all", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(heard[cfg.NodeID]) >= len(want)
		})
		mu.Lock()
		got := heard[cfg.NodeID]
		mu.Unlock()
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%s heard %v", cfg.NodeID, got)
		}
	}
	pushed := uint64(0)
	for _, n := range c.nodes {
		pushed += n.stats.EventsPushed.Load()
	}
	if pushed == 0 {
		t.Error("no event was pushed by the leader")
	}
}

func TestFeedWaitsForWhatIsMissing(t *testing.T) {
	var got string
	f := &feed{stats: &Stats{}, sink: func(events []fsm.Event) {
		for _, e := range events {
			got += e.Payload
		}
	}}
	event := func(p string) []fsm.Event { return []fsm.Event{{Kind: fsm.Published, Payload: p}} }
	f.applied(1, nil)
	f.applied(2, event("a"))
	f.pushed(&eventsPush{prev: 2, index: 5, events: event("b")}, false)
	f.pushed(&eventsPush{prev: 2, index: 5, events: event("b")}, false) // once more
	f.pushed(&eventsPush{prev: 6, index: 7, events: event("d")}, false) // 6 is missing
	f.pushed(&eventsPush{prev: 5, index: 6, events: event("c")}, true)  // without the key events that are wanted
	f.applied(3, nil)
	f.applied(5, event("b"))
	f.applied(6, event("c"))
	f.applied(7, event("d"))
	f.skipTo(10)
	f.applied(9, event("x"))
	f.applied(11, event("e"))
	if got != "abcde" {
		t.Fatalf("heard %q", got)
	}
}

// Promise 10, and 8: what scripts cost counts as log does, so that a restart
// does not repeat them all.
func TestSnapshotsByWhatScriptsCost(t *testing.T) {
	c := newCluster(t, 1, func(cfg *Config) { cfg.SnapshotBytes = 1 << 20 })
	for range 40 { // 40,000,000 instructions, in some 10 kB of log
		do(t, c.nodes[0], "eval", "while true do end", "0")
	}
	eventually(t, 10*time.Second, "a snapshot is taken", func() bool { return c.nodes[0].stats.Snapshots.Load() >= 2 })
}
