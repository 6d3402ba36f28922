package process_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

const extend = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`

// TestRenewalsThroughFailovers: a holder that renews keeps its lock while
// leaders are killed, and a rival that asks all the time never gets it.
func TestRenewalsThroughFailovers(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	const ttl = 9 * time.Second
	if err := c.Nodes[0].Redis().SetNX(ctx, "L", "tokA", ttl).Err(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var stolen atomic.Int64
	var rivals sync.WaitGroup
	for _, n := range c.Nodes {
		rivals.Go(func() {
			conn := process.NewClient(n.Client)
			defer conn.Close()
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Millisecond):
				}
				if ok, err := conn.SetNX(ctx, "L", "tokB", ttl).Result(); err == nil && ok {
					stolen.Add(1)
				}
			}
		})
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range max(2, *kills/10) {
		leader := c.Leader()
		pause(t, time.Duration(rng.IntN(1500))*time.Millisecond)
		leader.Kill()
		other := c.Others(leader)[rng.IntN(2)]
		failed := 0
		process.Until(t, "the lease is renewed", func() bool {
			n, err := other.Redis().Eval(ctx, extend, []string{"L"}, "tokA", ttl.Milliseconds()).Int64()
			if err == nil && n != 1 {
				t.Fatal("a renewal said that the lock was lost")
			}
			if err != nil {
				failed++
			}
			return err == nil
		})
		if failed > 1 {
			t.Errorf("%d renewals in a row failed", failed)
		}
		leader.Start()
		c.Ready()
	}
	close(stop)
	rivals.Wait()
	if n := stolen.Load(); n > 0 {
		t.Errorf("the rival was granted the lock %d times", n)
	}
}

// TestLeaseAfterFullStop: a stop of the whole cluster neither ends a lease nor
// gives it its whole time again.
func TestLeaseAfterFullStop(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	conn := c.Nodes[0].Redis()
	for key, ttl := range map[string]time.Duration{"A": 3 * time.Second, "B": time.Minute} {
		if err := conn.SetNX(ctx, key, "x", ttl).Err(); err != nil {
			t.Fatal(err)
		}
	}
	pause(t, 2*time.Second)
	for _, n := range c.Nodes {
		n.Kill()
	}
	pause(t, 3*time.Second)
	for _, n := range c.Nodes {
		n.Start()
	}
	c.Ready()
	started := time.Now()
	left, err := conn.PTTL(ctx, "B").Result()
	if err != nil {
		t.Fatal(err)
	}
	if left > 59*time.Second+500*time.Millisecond || left < 50*time.Second {
		t.Errorf("a lease of a minute has %v after 2 s of service", left)
	}
	process.Until(t, "the lease of 3 s ends", func() bool {
		n, err := conn.Exists(ctx, "A").Result()
		return err == nil && n == 0
	})
	if took := time.Since(started); took > 4*time.Second {
		t.Errorf("a lease of 3 s, 2 of them served, went on for %v after the restart", took)
	}
}

// TestShortLeaseThroughRestarts: a lease that is restarted every two seconds
// still ends.
func TestShortLeaseThroughRestarts(t *testing.T) {
	c := process.Start(t, 1)
	ctx := context.Background()
	n := c.Nodes[0]
	if err := n.Redis().SetNX(ctx, "L", "x", 5*time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	for restarts := 0; ; restarts++ {
		if restarts == 12 {
			t.Fatal("a lease of 5 s outlived 12 restarts of 2 s each")
		}
		pause(t, 2*time.Second)
		left, err := n.Redis().PTTL(ctx, "L").Result()
		if err != nil {
			t.Fatal(err)
		}
		if left == -2 {
			break
		}
		n.Kill()
		n.Start()
		n.Ready()
	}
}

// TestLeaseThroughHandovers: leadership that moves every second makes a lease
// longer by what was lost at most, and PTTL never goes up by more.
func TestLeaseThroughHandovers(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	sent := time.Now()
	if err := c.Nodes[0].Redis().SetNX(ctx, "L", "tokA", 5*time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	stop, free := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			n := c.Nodes[i%3]
			asked, cancel := context.WithTimeout(ctx, 2*time.Second)
			ok, err := process.NewClient(n.Client).SetNX(asked, "L", "tokB", time.Minute).Result()
			cancel()
			if err == nil && ok {
				free <- time.Since(sent)
				return
			}
		}
	}()
	for {
		leader := c.Leader()
		if err := leader.Terminate(); err != nil {
			t.Errorf("%s ended with %v", leader.ID, err)
		}
		leader.Start()
		leader.Ready()
		select {
		case took := <-free:
			close(stop)
			if took < 4995*time.Millisecond {
				t.Errorf("given away after %v of 5s", took)
			}
			if took > 15*time.Second {
				t.Errorf("given away only after %v", took)
			}
			return
		case <-time.After(time.Second):
		}
		if time.Since(sent) > process.Wait {
			t.Fatal("a lease of 5 s never ended")
		}
	}
}

// TestKillAndRestartOfOneNode: what the README shows first.
func TestKillAndRestartOfOneNode(t *testing.T) {
	c := process.Start(t, 1)
	ctx := context.Background()
	n := c.Nodes[0]
	if v, err := n.Redis().Do(ctx, "SET", "k", "v", "NX", "PX", "30000").Text(); v != "OK" || err != nil {
		t.Fatalf("SET NX: %q %v", v, err)
	}
	if err := n.Redis().Do(ctx, "SET", "k", "w", "NX", "PX", "30000").Err(); !errors.Is(err, redis.Nil) {
		t.Fatalf("SET NX of a held lock: %v", err)
	}
	token, err := n.Redis().Do(ctx, "LOCK.TOKEN", "k").Int64()
	if err != nil {
		t.Fatal(err)
	}
	n.Kill()
	n.Start()
	n.Ready()
	if again, err := n.Redis().Do(ctx, "LOCK.TOKEN", "k").Int64(); again != token || err != nil {
		t.Errorf("the token is %d (%v) after a restart, want %d", again, err, token)
	}
	if left, err := n.Redis().PTTL(ctx, "k").Result(); left <= 20*time.Second || left > 30*time.Second || err != nil {
		t.Errorf("the lease has %v left (%v)", left, err)
	}
	if err := n.Redis().SetNX(ctx, "k2", "v", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if next, err := n.Redis().Do(ctx, "LOCK.TOKEN", "k2").Int64(); next <= token || err != nil {
		t.Errorf("the next grant's token is %d (%v), want above %d", next, err, token)
	}
}
