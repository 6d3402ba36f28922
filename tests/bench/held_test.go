package bench_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
	"github.com/redis/go-redis/v9"
)

// heldLocks is what one node with many held locks showed.
type heldLocks struct {
	System  string  `json:"system"` // the name of its runs
	Locks   int     `json:"locks"`
	Live    int64   `json:"live_heap_bytes"` // after the last collection of the runs, to a megabyte; 0 if there was none
	Restart float64 `json:"restart_seconds"` // from the start after kill -9 until it serves
	// Of a snapshot, and what it adds.
	Snapshots snapshots `json:"snapshots"`
}

// crowded is a node that holds many locks.
type crowded struct {
	heldLocks
	node   *process.Node
	about  system
	filled int // the collections until all locks were held
}

// startCrowded starts a node and has it hold so many locks, with names of
// heldNameBytes and values of heldValueBytes.
func startCrowded(t *testing.T, locks int) *crowded {
	t.Helper()
	cluster := process.New(t, 1)
	node := cluster.Nodes[0]
	// The live heap is told by the collector alone; what is allocated includes garbage.
	// With few locks it would let garbage gather (GOGC turns that off).
	node.Env = append(node.Env, "GODEBUG=gctrace=1", "GOGC=100")
	node.Start()
	cluster.Ready()
	c := &crowded{heldLocks: heldLocks{System: fmt.Sprintf("redfence-held-%d", locks), Locks: locks}, node: node}
	c.about = system{name: c.System, open: func(workers int) (fleet, error) { return openPlain([]string{node.Client}, workers), nil }}
	client := redisClient(node.Client, 1)
	defer client.Close()
	value := strings.Repeat("v", heldValueBytes)
	for from := 0; from < locks; from += heldBatch {
		_, err := client.Pipelined(context.Background(), func(p redis.Pipeliner) error {
			for i := from; i < min(from+heldBatch, locks); i++ {
				p.SetArgs(context.Background(), fmt.Sprintf("%0*d", heldNameBytes, i), value, redis.SetArgs{Mode: "NX", TTL: time.Hour})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.filled, _ = lastCollection(node.Log())
	return c
}

// gcTrace finds the number of a collection and the live heap after it.
var gcTrace = regexp.MustCompile(`(?m)^gc (\d+) .* \d+->\d+->(\d+) MB`)

// lastCollection is the number of the last collection that a node's log has, and the
// live bytes that it found; 0 if there was none.
func lastCollection(log string) (number int, live int64) {
	all := gcTrace.FindAllStringSubmatch(log, -1)
	if len(all) == 0 {
		return 0, 0
	}
	last := all[len(all)-1]
	number, _ = strconv.Atoi(last[1])
	mb, _ := strconv.ParseInt(last[2], 10, 64)
	return number, mb << 20
}

// restart kills the node and measures how long it takes to serve all its locks again.
func (c *crowded) restart(t *testing.T) {
	// A collection from before all locks were held would tell of fewer.
	if n, live := lastCollection(c.node.Log()); n > c.filled {
		c.Live = live
	}
	c.node.Kill()
	began := time.Now()
	c.node.Start()
	c.node.Ready()
	c.Restart = time.Since(began).Seconds()
	if n, err := c.node.Redis().DBSize(context.Background()).Result(); err != nil || n != int64(c.Locks) {
		t.Errorf("%d locks after the restart of %d: %v", n, c.Locks, err)
	}
}

// measureHeld compares nodes with few and many held locks: what a cycle costs
// beside them, in turn, what memory they take, and how long a restart takes.
func measureHeld(t *testing.T, r *report, size scale) {
	var all []*crowded
	var systems []system
	for _, locks := range size.HeldLocks {
		c := startCrowded(t, locks)
		all, systems = append(all, c), append(systems, c.about)
	}
	for round := range size.Held {
		measureAll(t, r, systems, round, load{workers: heldWorkers, length: size.Length})
	}
	for _, c := range all {
		c.restart(t)
		c.measureSnapshots(t, size.Snapshots)
		r.Held = append(r.Held, c.heldLocks)
		c.node.Kill()
	}
}

// perLock is the live heap of a held lock: the difference of two nodes over that of
// their locks, so that what an empty node takes is not counted, -1 where a node
// told nothing.
func perLock(few, many heldLocks) float64 {
	if few.Live == 0 || many.Live == 0 || many.Locks <= few.Locks {
		return -1
	}
	return float64(many.Live-few.Live) / float64(many.Locks-few.Locks)
}

func (r *report) held(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Held locks\n\nOne node each; names of %d bytes, values of %d, %d workers beside them.\n\n", heldNameBytes, heldValueBytes, heldWorkers)
	b.WriteString("| locks held | cycles/s | acquire p50 ms | live heap MB | restart after kill -9, s | snapshots: longest, s | acquire p99 ms without and during one |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, h := range r.Held {
		fmt.Fprintf(b, "| %d | %s | %s | %d | %.2f | %d: %.2f | %.2f, %.2f |\n", h.Locks, r.figure(h.System, heldWorkers, 0, (*run).perSecond).show("%.0f"),
			r.figure(h.System, heldWorkers, 0, func(x *run) float64 { return x.P50 }).show("%.2f"), h.Live>>20, h.Restart,
			h.Snapshots.Taken, h.Snapshots.Seconds, h.Snapshots.Quiet, h.Snapshots.During)
	}
	if len(r.Held) < 2 {
		return
	}
	few, many := r.Held[0], r.Held[len(r.Held)-1]
	fmt.Fprintf(b, "\nA cycle beside %d locks takes %s times what it takes beside %d.", many.Locks, r.ratio(few.System, many.System, heldWorkers).show("%.2f"), few.Locks)
	if bytes := perLock(few, many); bytes >= 0 {
		fmt.Fprintf(b, " A lock takes %.0f bytes of live heap.", bytes)
	}
	b.WriteString("\n")
}
