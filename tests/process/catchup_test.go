package process_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// backlog stops a follower and writes some 800 entries of a size, soon enough for
// connections not to be given up.
func backlog(t *testing.T, leader, lame *process.Node, size int) {
	t.Helper()
	writer, value := leader.Redis(), strings.Repeat("v", size)
	began := time.Now()
	lame.Stop()
	var all sync.WaitGroup
	for i := range 4 { // each waits for the entry of another, so each write is an entry
		all.Go(func() {
			for n := 0; n < 200 && time.Since(began) < 3*time.Second; n++ {
				if err := writer.Set(context.Background(), string(rune('a'+i)), value, 0).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestStoppedFollowerCatchesUp: a follower that was stopped and continued comes to
// where the others are, though nothing more is written: by one message, and by many.
func TestStoppedFollowerCatchesUp(t *testing.T) {
	t.Run("little", func(t *testing.T) { catchesUp(t, 1) })
	t.Run("much", func(t *testing.T) { catchesUp(t, 20<<10) })
}

func catchesUp(t *testing.T, size int) {
	c := process.Start(t, 3)
	leader := c.Leader()
	lame := c.Others(leader)[0]
	backlog(t, leader, lame, size)
	lame.Continue()
	process.Until(t, "the follower has caught up", func() bool { return lame.Info("applied_index") == leader.Info("applied_index") })
}

// TestLaggingFollowerIsEnough: with one follower far behind and the other stopped, a
// write waits for the first to get what it lacks, and for nothing else.
func TestLaggingFollowerIsEnough(t *testing.T) {
	best := time.Hour
	for range 3 {
		c := process.Start(t, 3)
		leader := c.Leader()
		lame, other := c.Others(leader)[0], c.Others(leader)[1]
		backlog(t, leader, lame, 1)
		other.Stop()
		before, written := leader.Info("last_index"), make(chan error)
		go func() { written <- leader.Redis().Incr(context.Background(), "n").Err() }()
		process.Until(t, "it is in the log", func() bool { return leader.Info("last_index") != before })
		lame.Continue()
		began := time.Now()
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(began))
		t.Logf("a write took %v", time.Since(began))
		other.Continue()
	}
	if best > 400*time.Millisecond {
		t.Errorf("a write took %v at best", best)
	}
}
