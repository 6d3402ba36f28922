package bench_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// snapshots is what snapshots of a node with many locks cost those who lock beside.
type snapshots struct {
	Taken   int     `json:"taken"`
	Seconds float64 `json:"seconds"` // of the longest
	Quiet   float64 `json:"acquire_p99_ms"`
	During  float64 `json:"acquire_p99_ms_during_snapshots"`
	Counted int64   `json:"acquires_during_snapshots"`
}

// window is when a snapshot was written.
type window struct{ from, to time.Time }

// snapshotLine finds where raft's log tells of a snapshot's begin and end.
var snapshotLine = regexp.MustCompile(`(?m)^time=(\S+) .*msg="raft: (starting snapshot up to|snapshot complete up to)"`)

// snapshotWindows are the snapshots that a node's log tells of from begin to end.
func snapshotWindows(log string) []window {
	var out []window
	var from time.Time
	for _, m := range snapshotLine.FindAllStringSubmatch(log, -1) {
		at, err := time.Parse(time.RFC3339Nano, m[1])
		if err != nil {
			continue
		}
		if strings.HasPrefix(m[2], "starting") {
			from = at
		} else if !from.IsZero() {
			out = append(out, window{from, at})
			from = time.Time{}
		}
	}
	return out
}

// timed is one acquire.
type timed struct {
	began time.Time
	took  time.Duration
}

// overlaps says whether any of the time from begin to end is in a window.
func (x timed) overlaps(all []window) bool {
	for _, w := range all {
		if x.began.Before(w.to) && x.began.Add(x.took).After(w.from) {
			return true
		}
	}
	return false
}

// measureSnapshots starts the node anew so that it takes a snapshot every few
// seconds, and locks beside.
func (c *crowded) measureSnapshots(t *testing.T, length time.Duration) {
	c.node.Kill()
	before := len(c.node.Env)
	c.node.Env = append(c.node.Env, fmt.Sprint("REDFENCE_SNAPSHOT_BYTES=", snapshotBytes), "REDFENCE_LOG_LEVEL=debug")
	defer func() { c.node.Env = c.node.Env[:before] }()
	c.node.Start()
	c.node.Ready()
	f, err := c.about.open(heldWorkers)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.close()
	acquires := timeAcquires(t, f, length)
	windows := snapshotWindows(c.node.Log())
	quiet, during := newTally().took, newTally().took
	for _, x := range acquires {
		if x.overlaps(windows) {
			record(during, x.took)
		} else {
			record(quiet, x.took)
		}
	}
	p99 := func(h *hdrhistogram.Histogram) float64 { return float64(h.ValueAtQuantile(99)) / 1000 }
	c.Snapshots = snapshots{Taken: len(windows), Quiet: p99(quiet), During: p99(during), Counted: during.TotalCount()}
	for _, w := range windows {
		c.Snapshots.Seconds = max(c.Snapshots.Seconds, w.to.Sub(w.from).Seconds())
	}
}

// timeAcquires locks and unlocks for so long and answers every acquire.
func timeAcquires(t *testing.T, f fleet, length time.Duration) (all []timed) {
	ctx, cancel := context.WithTimeout(context.Background(), length+hangWait)
	defer cancel()
	end := time.Now().Add(length)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for i := range heldWorkers {
		workers.Go(func() {
			lock, own := f.worker(i, fmt.Sprint("beside a snapshot:", i)), []timed(nil)
			for time.Now().Before(end) {
				began := time.Now()
				if err := lock.acquire(ctx); err != nil {
					t.Errorf("beside a snapshot: acquire: %v", err)
					return
				}
				own = append(own, timed{began, time.Since(began)})
				if err := lock.release(ctx); err != nil {
					t.Errorf("beside a snapshot: release: %v", err)
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	workers.Wait()
	return all
}
