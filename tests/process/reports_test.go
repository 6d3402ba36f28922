package process_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestRenewedThroughFailovers (B01): a lock that its owner renews every third of its
// lease outlives each loss of the leader, at whatever point of the renewal. The owner is
// never told that it lost the lock, nobody else gets it, and of two renewals one succeeds.
func TestRenewedThroughFailovers(t *testing.T) {
	const lease, every = 9 * time.Second, 3 * time.Second
	c := process.Start(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	first := c.Nodes[0].Redis()
	if err := first.Do(ctx, "SET", "L", "owner", "NX", "PX", lease.Milliseconds()).Err(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	var renewed, asked atomic.Int64
	all.Go(func() { renewer(ctx, t, c, lease, every, &renewed) })
	for _, n := range c.Nodes {
		all.Go(func() { rival(ctx, t, n, lease, &asked) })
	}
	for range max(3, *kills/4) {
		pause(t, rand.N(every))
		leader := c.Leader()
		others := c.Others(leader)
		leader.Kill()
		if outage := firstSuccess(t, others[0]); outage > 3*time.Second {
			t.Errorf("nothing was served for %v", outage)
		}
		leader.Start()
		leader.Ready()
	}
	process.Until(t, "it was renewed more than once", func() bool { return renewed.Load() > 1 })
	cancel()
	all.Wait()
	t.Logf("renewed %d times, asked for by others %d times", renewed.Load(), asked.Load())
	if asked.Load() == 0 {
		t.Error("nobody else asked for the lock")
	}
}

const renewScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end`

// renewer renews the lock until ctx ends, through one node after the other.
func renewer(ctx context.Context, t *testing.T, c *process.Cluster, lease, every time.Duration, renewed *atomic.Int64) {
	failed := 0
	for i := 0; ; i++ {
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
		n := c.Nodes[i%3]
		got, err := n.Redis().Eval(ctx, renewScript, []string{"L"}, "owner", lease.Milliseconds()).Int()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if failed++; failed > 1 {
				t.Errorf("two renewals in a row failed, the last through %s: %v", n.ID, err)
			}
		case got != 1:
			t.Errorf("a renewal through %s answers %d: the lock is lost", n.ID, got)
		default:
			failed = 0
			renewed.Add(1)
		}
	}
}

// rival asks for the lock again and again until ctx ends.
func rival(ctx context.Context, t *testing.T, n *process.Node, lease time.Duration, asked *atomic.Int64) {
	conn := process.NewClient(n.Client)
	defer conn.Close()
	for ctx.Err() == nil {
		err := conn.Do(ctx, "SET", "L", "rival", "NX", "PX", lease.Milliseconds()).Err()
		switch {
		case err == nil:
			t.Errorf("%s gave the lock to another", n.ID)
		case errors.Is(err, redis.Nil):
			asked.Add(1)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// TestAcknowledgedOutlivesTheLeader (B02): what was answered OK is there when the
// leader is killed in the same instant.
func TestAcknowledgedOutlivesTheLeader(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	rounds := max(5, *kills/2)
	for i := range rounds {
		leader := c.Leader()
		key, value := fmt.Sprint("k", i), fmt.Sprint("owner", i)
		if err := leader.Redis().Do(ctx, "SET", key, value, "NX", "PX", 60_000).Err(); err != nil {
			t.Fatal(err)
		}
		leader.Kill()
		other := c.Others(leader)[i%2]
		var got string
		process.Until(t, "the others answer", func() bool {
			var err error
			got, err = other.Redis().Get(ctx, key).Result()
			return err == nil || errors.Is(err, redis.Nil)
		})
		if got != value {
			t.Fatalf("round %d: %s has %q, want %q, which was acknowledged", i, key, got, value)
		}
		leader.Start()
		leader.Ready()
	}
	t.Logf("%d acknowledged grants, each there after its leader was killed at once", rounds)
}

// TestNothingIsAcknowledgedAlone (B02): a leader that is cut off from both followers
// acknowledges nothing.
func TestNothingIsAcknowledgedAlone(t *testing.T) {
	c, nw := process.StartApart(t, 3, "--no-leader-wait", "300ms")
	leader := c.Leader()
	others := c.Others(leader)
	nw.Isolate(leader, others)
	for i := range 3 {
		err := leader.Redis().Do(context.Background(), "SET", fmt.Sprint("alone", i), "v", "NX", "PX", 60_000).Err()
		if err == nil || errors.Is(err, redis.Nil) {
			t.Fatalf("a leader that is cut off answers %v", err)
		}
		if text := err.Error(); !strings.HasPrefix(text, "CLUSTERDOWN") && !strings.Contains(text, "outcome unknown") {
			t.Errorf("it says %q", text)
		}
	}
	nw.Heal()
	leader.Ready()
}
