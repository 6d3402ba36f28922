package bench_test

import (
	"strings"
	"testing"
)

// TestLiveHeapIsReadFromTheLastCollection: other lines of the log don't matter.
func TestLiveHeapIsReadFromTheLastCollection(t *testing.T) {
	log := "gc 1 @0.012s 2%: 0.018+0.61+0.002 ms clock, 0.03+0.1/0.5/0.2+0.005 ms cpu, 3->4->2 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n" +
		"time=x level=INFO msg=ready\n" +
		"gc 2 @0.112s 2%: 0.018+0.61+0.002 ms clock, 0.03+0.1/0.5/0.2+0.005 ms cpu, 70->72->35 MB, 72 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
	if n, live := lastCollection(log); n != 2 || live != 35<<20 {
		t.Errorf("collection %d, %d bytes", n, live)
	}
	if n, live := lastCollection("level=INFO msg=ready"); n != 0 || live != 0 {
		t.Errorf("collection %d, %d bytes of a log without one", n, live)
	}
}

// TestHeldLocksAreCompared: the page has the cost beside many locks, and what one takes.
func TestHeldLocksAreCompared(t *testing.T) {
	r := complete()
	r.Held = []heldLocks{{System: "few", Locks: 1_000, Live: 10 << 20, Restart: 0.5}, {System: "many", Locks: 101_000, Live: 40 << 20, Restart: 2, Snapshots: snapshots{2, 0.7, 1.5, 2.25, 10}}}
	r.Runs = append(r.Runs,
		run{Round: 1, System: "few", Workers: heldWorkers, Seconds: 1, Cycles: 120},
		run{Round: 1, System: "many", Workers: heldWorkers, Seconds: 1, Cycles: 100})
	page := r.markdown()
	for _, want := range []string{
		"beside 101000 locks takes 1.20 (1.20 to 1.20) times what it takes beside 1000", "A lock takes 315 bytes", "| 101000 | 100 (100 to 100) | 0.00 (0.00 to 0.00) | 40 | 2.00 | 2: 0.70 | 1.50, 2.25 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page doesn't say %q:\n%s", want, page)
		}
	}
	if got := perLock(heldLocks{Locks: 1}, heldLocks{Locks: 2, Live: 5}); got != -1 {
		t.Errorf("a node told nothing: %v", got)
	}
}
