package replica

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// count is what INCRs came to.
type count struct {
	acked, unknown, refused atomic.Int64
}

// increment sends INCRs of key through a node from many goroutines until each
// has sent its share.
func (c *count) increment(t *testing.T, n *Node, key string, workers, each int) *sync.WaitGroup {
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range each {
				answers, err := n.Do(t.Context(), fsm.Client{}, []fsm.Command{command("incr", key)})
				switch {
				case err == nil && answers[0].Value.Kind == reply.Int:
					c.acked.Add(1)
				case err == nil || errors.Is(err, ErrUnknownOutcome):
					c.unknown.Add(1)
				default:
					c.refused.Add(1)
				}
			}
		}()
	}
	return &wg
}

func (c *count) check(t *testing.T, got int64) {
	t.Helper()
	acked, unknown := c.acked.Load(), c.unknown.Load()
	if got < acked || got > acked+unknown {
		t.Fatalf("the counter is %d; %d acknowledged, %d unknown, %d refused", got, acked, unknown, c.refused.Load())
	}
	t.Logf("counter %d: %d acknowledged, %d unknown, %d refused", got, acked, unknown, c.refused.Load())
}

// Promise 6: what is in flight on a node that survives runs once, whatever
// happens to the leader.
func TestForwardedCommandsRunOnceThroughAKill(t *testing.T) {
	rounds := 5
	if testing.Short() {
		rounds = 2
	}
	c := newCluster(t, 3)
	var total count
	for round := range rounds {
		leader := c.leader()
		survivor := c.another(leader)
		before := total.acked.Load()
		wg := total.increment(t, c.nodes[survivor], "c", 50, 20)
		eventually(t, 10*time.Second, "some are acknowledged", func() bool { return total.acked.Load() > before+100 })
		c.kill(leader)
		wg.Wait()
		if u := total.unknown.Load() + total.refused.Load(); u > 0 {
			t.Errorf("round %d: %d commands on a node that survived had no true answer", round, u)
		}
		total.check(t, do(t, c.nodes[survivor], "incrby", "c", "0").Int)
		c.start(leader)
		c.ready()
	}
}

// The same for commands of a leader that is deposed and lives on.
func TestOwnCommandsRunOnceThroughAHandover(t *testing.T) {
	c := newCluster(t, 3)
	var total count
	for range 3 {
		leader := c.leader()
		before := total.acked.Load()
		wg := total.increment(t, c.nodes[leader], "c", 50, 20)
		eventually(t, 10*time.Second, "some are acknowledged", func() bool { return total.acked.Load() > before+100 })
		if err := c.nodes[leader].Handover(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if u := total.unknown.Load() + total.refused.Load(); u > 0 {
			t.Errorf("%d commands on a node that survived had no true answer", u)
		}
		total.check(t, do(t, c.nodes[leader], "incrby", "c", "0").Int)
	}
}
