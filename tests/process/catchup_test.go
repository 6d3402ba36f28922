package process_test

import (
	"context"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestStoppedFollowerCatchesUp: a follower that was stopped and continued comes to
// where the others are, though nothing more is written.
func TestStoppedFollowerCatchesUp(t *testing.T) {
	c := process.Start(t, 3)
	leader := c.Leader()
	lame := c.Others(leader)[0]
	lame.Stop()
	writer := leader.Redis()
	for range 2000 { // an entry each
		if err := writer.Incr(context.Background(), "n").Err(); err != nil {
			t.Fatal(err)
		}
	}
	lame.Continue()
	process.Until(t, "the follower has caught up", func() bool { return lame.Info("applied_index") == leader.Info("applied_index") })
}
