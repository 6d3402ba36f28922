package replica

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

// Whoever listens has been told before who published is answered, also when it has
// just begun to and others' commands never stop. Without listeners nothing is sent.
func TestPushesBeginWithListening(t *testing.T) {
	var heard sync.Map // what each node heard
	c := newCluster(t, 3, func(cfg *Config) {
		node := cfg.NodeID
		cfg.OnEvents = func(events []fsm.Event) {
			for i := range events {
				if events[i].Kind == fsm.Published {
					heard.Store(node+events[i].Payload, true)
				}
			}
		}
	})
	leader := c.leader()
	n := c.nodes[c.another(leader)]
	n.SetListens(false)
	var ended atomic.Bool
	var busy sync.WaitGroup
	busy.Go(func() {
		for i := 0; !ended.Load(); i++ {
			do(t, c.nodes[leader], "set", fmt.Sprint("k", i%10), "v", "px", "60000")
			do(t, c.nodes[leader], "del", fmt.Sprint("k", i%10))
		}
	})
	defer func() { ended.Store(true); busy.Wait() }()
	do(t, n, "get", "k") // what was said before has arrived
	before := n.stats.EventsPushed.Load()
	applied := n.machine.applied.Load()
	eventually(t, 10*time.Second, "commands from elsewhere", func() bool { return n.machine.applied.Load() > applied+100 })
	if now := n.stats.EventsPushed.Load(); now != before {
		t.Errorf("%d events were pushed to a node that nobody listens at", now-before)
	}
	for i := range 50 {
		n.SetListens(true)
		do(t, n, "publish", "ch", fmt.Sprint(i))
		if _, told := heard.Load(n.cfg.NodeID + fmt.Sprint(i)); !told {
			t.Fatalf("round %d: answered before it was told", i)
		}
		n.SetListens(false)
	}
}

// Whoever begins to listen gets the last events first, so that the next ones follow
// what its own machine has made, unless a large entry came between.
func TestPushesOfBefore(t *testing.T) {
	for _, tt := range []struct {
		what  string
		sizes []int // of the entries 1, 2, ... before a node listens
		want  string
	}{
		{"none", nil, "[1]"},
		{"a few", []int{10, 10, 10}, "[1 2 3 4]"},
		{"many", make([]int, pushesKept+5), fmt.Sprint([]int{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22})},
		{"a large one", []int{10, pushedEntryMax + 1, 10}, "[3 4]"},
	} {
		var p pushes
		g := &guest{out: newOutbox(nil)}
		push := func(index, size int) {
			p.push([]*guest{g}, eventsPush{uint64(index - 1), uint64(index), false, []fsm.Event{{Kind: fsm.Published}}}, size)
		}
		for i, size := range tt.sizes {
			push(i+1, size)
		}
		p.setListens(g, true)
		p.setListens(g, true)
		push(len(tt.sizes)+1, 1)
		p.setListens(g, false)
		push(1000, 1)
		var got []uint64
		for r := bufio.NewReader(bytes.NewReader(g.out.pending)); ; {
			_, body, err := readFrame(r, frameMax)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			push, err := decodeEvents(body)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, push.index)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s before: %v were sent, want %s", tt.what, got, tt.want)
		}
	}
}
