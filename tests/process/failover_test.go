package process_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestLeaderKilled: promises 1, 3, 4, 6 and 7, while the leader is killed again and again.
func TestLeaderKilled(t *testing.T) {
	c := process.Start(t, 3)
	held := hold(t, c)
	tr := startTraffic(t, c, 64)
	var outages []time.Duration
	for round := range *kills {
		leader := c.Leader()
		tr.mayBreak(leader, true)
		leader.Kill()
		outages = append(outages, firstSuccess(t, c.Others(leader)[round%2]))
		held.check(t, c.Others(leader)[(round+1)%2])
		leader.Start()
		leader.Ready()
		tr.mayBreak(leader, false)
		held.check(t, leader)
	}
	tr.finish()
	slices.Sort(outages)
	t.Logf("first success after a kill: median %v, longest %v", outages[len(outages)/2], outages[len(outages)-1])
	if worst := outages[len(outages)-1]; worst > 2*time.Second {
		t.Errorf("the first success after a kill took %v, want under 2s", worst)
	}
}

// TestLeaderStopped: a leader that is frozen and goes on answers nothing stale.
func TestLeaderStopped(t *testing.T) {
	c := process.Start(t, 3)
	held := hold(t, c)
	tr := startTraffic(t, c, 64)
	for round := range max(2, *kills/5) {
		leader := c.Leader()
		other := c.Others(leader)[round%2]
		key := fmt.Sprintf("stale:%d", round)
		set(t, leader, key, "old")
		queued := queueReads(t, leader, key, 50)
		leader.Stop()
		firstSuccess(t, other)
		set(t, other, key, "new")
		queued.send()
		pause(t, 5*time.Second)
		leader.Continue()
		queued.check(t, "new")
		c.Leader()
		held.check(t, leader)
	}
	tr.finish()
}

// TestForwardedIncrements: promise 6 for what is in flight on a follower.
func TestForwardedIncrements(t *testing.T) {
	c := process.Start(t, 3)
	for round := range max(1, *kills/2) {
		leader := c.Leader()
		follower := c.Others(leader)[round%2]
		key := fmt.Sprintf("exact:%d", round)
		var sure, unsure int64
		var mu sync.Mutex
		var clients sync.WaitGroup
		begun := make(chan struct{}, 1000)
		for range 1000 {
			clients.Go(func() {
				conn := follower.Redis()
				begun <- struct{}{}
				err := conn.Incr(context.Background(), key).Err()
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					sure++
				case strings.HasPrefix(err.Error(), "ERR outcome unknown"):
					unsure++
				case strings.HasPrefix(err.Error(), "CLUSTERDOWN"):
				default:
					t.Errorf("a forwarded command ended with %v", err)
				}
			})
		}
		for range 100 * (round + 1) % 1000 {
			<-begun
		}
		leader.Kill()
		clients.Wait()
		got, err := follower.Redis().Get(context.Background(), key).Int64()
		if err != nil && err != redis.Nil {
			t.Fatal(err)
		}
		if got < sure || got > sure+unsure {
			t.Errorf("the counter is %d after %d acknowledged increments and %d of unknown outcome", got, sure, unsure)
		}
		t.Logf("counter %d, acknowledged %d, unknown %d", got, sure, unsure)
		leader.Start()
		c.Ready()
	}
}

// heldLock is a lock that is held through the whole test.
type heldLock struct {
	value string
	token int64
}

func hold(t *testing.T, c *process.Cluster) heldLock {
	t.Helper()
	ctx := context.Background()
	conn := c.Nodes[0].Redis()
	h := heldLock{value: "the-holder"}
	if ok, err := conn.SetNX(ctx, "held", h.value, time.Hour).Result(); err != nil || !ok {
		t.Fatalf("SET NX: %v %v", ok, err)
	}
	token, err := conn.Do(ctx, "LOCK.TOKEN", "held").Int64()
	if err != nil {
		t.Fatal(err)
	}
	h.token = token
	return h
}

// check asks a node for the lock: its value, its token, and that nobody else gets it.
func (h heldLock) check(t *testing.T, n *process.Node) {
	t.Helper()
	ctx := context.Background()
	process.Until(t, n.ID+" serves", func() bool { return n.Redis().Exists(ctx, "held").Err() == nil })
	if v, err := n.Redis().Get(ctx, "held").Result(); v != h.value {
		t.Errorf("the held lock has the value %q (%v), want %q", v, err, h.value)
	}
	if token, err := n.Redis().Do(ctx, "LOCK.TOKEN", "held", h.value).Int64(); token != h.token {
		t.Errorf("the held lock has the token %d (%v), want %d", token, err, h.token)
	}
	if ok, err := n.Redis().SetNX(ctx, "held", "rival", time.Hour).Result(); ok || err != nil {
		t.Errorf("a rival asked for the held lock: %v %v", ok, err)
	}
}

// firstSuccess is how long from now until a node grants a lock.
func firstSuccess(t *testing.T, n *process.Node) time.Duration {
	t.Helper()
	start := time.Now()
	process.Until(t, n.ID+" grants a lock", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return n.Redis().Set(ctx, "probe", "x", time.Minute).Err() == nil
	})
	return time.Since(start)
}

func set(t *testing.T, n *process.Node, key, value string) {
	t.Helper()
	if err := n.Redis().Set(context.Background(), key, value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

// pause waits for a given time to pass on the test machine's clock: the length
// of a fault, never a guess at when something is done.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
