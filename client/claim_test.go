package client

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests, 0 for a new one")

// TestLostReply: promise 6 for a client of several nodes: the request whose reply
// was lost is asked again with the same owner, of another node; one grant comes of it.
func TestLostReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		cl := c.client("a", "b")
		defer cl.Close()
		c.swallow = func(node string, args []string) bool { return node == "a" && args[0] == "LOCK.ACQUIRE" }
		for _, wait := range []bool{true, false} {
			m := cl.Mutex(fmt.Sprint("door", wait))
			g, err := m.acquire(context.Background(), wait)
			if err != nil {
				t.Fatal(err)
			}
			if c.holder(m.names[0]) != g.Owner() {
				t.Errorf("held by %q, the grant is of %q", c.holder(m.names[0]), g.Owner())
			}
			if err := g.Unlock(context.Background()); err != nil {
				t.Error(err)
			}
			cl.current = 0
		}
		if c.tokens != 2 {
			t.Errorf("%d grants for 2 calls", c.tokens)
		}
	})
}

// TestAskedAgain: errors that leave the lock's fate open, or say that nothing was
// executed, are no answers; other errors are.
func TestAskedAgain(t *testing.T) {
	for _, text := range []string{
		"CLUSTERDOWN no leader", "TRYAGAIN busy", "LOADING", "LOADING a log", "WAITLOST the node was out of touch",
		"ERR outcome unknown: x", "ERR lease ended before the grant could be answered", "NOAUTH Authentication required.", "ERR syntax",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, "a", "b")
			cl := c.client("a", "b")
			defer cl.Close()
			c.refuse = func(node string, args []string) string {
				if node == "a" && strings.HasPrefix(args[0], "LOCK.ACQ") {
					return "-" + text + "\r\n"
				}
				return ""
			}
			g, err := cl.Mutex("door").Lock(context.Background())
			if final := strings.HasPrefix(text, "NOAUTH") || text == "ERR syntax" || text == "LOADING"; final != (err != nil) {
				t.Errorf("%s: %v", text, err)
			}
			if g != nil && g.Unlock(context.Background()) != nil {
				t.Error("not released")
			}
		})
	}
}

// TestGivenUpWait: who stops waiting leaves the line, and nothing is left behind.
func TestGivenUpWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		cl := c.client("a", "b")
		defer cl.Close()
		g := taken(t, cl.Mutex("door"))
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := cl.Mutex("door").Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the wait ended with %v", err)
		}
		if d := time.Since(began); d > 5100*time.Millisecond {
			t.Errorf("a wait of 5 s took %v", d)
		}
		synctest.Wait()
		if n := c.waitingFor("door"); n != 0 {
			t.Errorf("%d still wait", n)
		}
		if err := g.Unlock(context.Background()); err != nil {
			t.Error(err)
		}
		if h := c.holder("door"); h != "" {
			t.Errorf("held by %q, who has given up", h)
		}
	})
}

// TestGivenUpGrant: a lock that was granted to somebody who had stopped asking is
// released, also when the node executes the request late.
func TestGivenUpGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		cl := c.client("a", "b")
		defer cl.Close()
		c.nodes["a"].stop()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if g, err := cl.Mutex("door").TryLock(ctx); err == nil {
			t.Fatalf("granted %v by a node that stands still", g.Token())
		}
		time.Sleep(1500 * time.Millisecond)
		c.nodes["a"].cont()
		time.Sleep(10 * time.Second)
		if h := c.holder("door"); h != "" {
			t.Errorf("held by %q, who has given up", h)
		}
	})
}

// TestLongWait: a wait longer than the lease ends with a full lease, counted from
// an extension that was sent after the grant.
func TestLongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		first := taken(t, cl.Mutex("door"))
		got := make(chan *Grant)
		go func() { got <- taken(t, cl.Mutex("door", WithTTL(2*time.Second))) }()
		time.Sleep(time.Minute)
		if err := first.Unlock(context.Background()); err != nil {
			t.Fatal(err)
		}
		g := <-got
		if left := g.Left(); left < 1800*time.Millisecond || !time.Now().Add(left).Before(c.until("door")) {
			t.Errorf("%v are left of a lease of 2 s", left)
		}
		if g.Token() <= first.Token() {
			t.Errorf("token %d after %d", g.Token(), first.Token())
		}
		if err := g.Unlock(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestWaitMovesOn: the node that somebody waits on dies, or stands still; another
// one grants.
func TestWaitMovesOn(t *testing.T) {
	for _, fault := range []func(n *fakeNode){(*fakeNode).kill, (*fakeNode).stop} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, "a", "b")
			cl, other := c.client("a", "b"), c.client("b")
			defer cl.Close()
			defer other.Close()
			held := taken(t, other.Mutex("door", WithTTL(time.Minute)))
			got := make(chan *Grant)
			go func() { got <- taken(t, cl.Mutex("door", WithTTL(time.Minute))) }()
			time.Sleep(time.Second)
			fault(c.nodes["a"])
			time.Sleep(30 * time.Second)
			if err := held.Unlock(context.Background()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			g := <-got
			if d := time.Since(began); d > time.Second {
				t.Errorf("granted after %v", d)
			}
			if c.holder("door") != g.Owner() {
				t.Errorf("held by %q, the grant is of %q", c.holder("door"), g.Owner())
			}
			if err := g.Unlock(context.Background()); err != nil {
				t.Error(err)
			}
			if n := c.nodes["a"]; n.hung != nil {
				n.cont()
			}
		})
	}
}

// TestUnlockWithoutAnswer: releasing goes on when nobody waits for it any more.
func TestUnlockWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		g := taken(t, cl.Mutex("door", WithTTL(time.Hour)))
		c.nodes["a"].kill()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := g.Unlock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Unlock without a cluster: %v", err)
		}
		if err := g.Unlock(ctx); !errors.Is(err, ErrReleased) {
			t.Errorf("Unlock again: %v", err)
		}
		time.Sleep(5 * time.Second)
		c.nodes["a"].start()
		time.Sleep(time.Second)
		if h := c.holder("door"); h != "" {
			t.Errorf("still held by %q", h)
		}
	})
}

// TestOnceAtLeast: the name stays held for as long as asked, from the start of the job.
func TestOnceAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		job := cl.Once("nightly", WithAtLeast(5*time.Minute), WithTTL(time.Minute))
		runs := 0
		run := func(context.Context, *Grant) error { runs++; time.Sleep(10 * time.Second); return nil }
		began := time.Now()
		for time.Since(began) < 299*time.Second {
			if _, err := job.Do(context.Background(), run); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if runs != 1 {
			t.Errorf("ran %d times within 5 minutes", runs)
		}
		time.Sleep(2 * time.Second)
		if ran, err := job.Do(context.Background(), run); !ran || err != nil {
			t.Errorf("5 minutes later: %v %v", ran, err)
		}
	})
}

// TestForgottenGrant: what the program refers to no more isn't renewed for ever.
func TestForgottenGrant(t *testing.T) {
	c := newCluster(t, "a")
	cl := c.client("a")
	defer cl.Close()
	ended := make(chan State, 3)
	collected := func(bound time.Duration) bool {
		deadline := time.After(bound)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.GC()
			select {
			case <-ended:
				return true
			case <-deadline:
				return false
			case <-tick.C:
			}
		}
	}
	func() {
		g := taken(t, cl.Mutex("door", WithTTL(time.Hour), WithState(func(s State) { ended <- s })))
		ctx, cancel := context.WithCancel(g.Context())
		defer cancel()
		g = nil
		if collected(100*time.Millisecond) || ctx.Err() != nil {
			t.Error("the Context is in use, and the grant has ended")
		}
		_ = g
	}()
	if !collected(10 * time.Second) {
		t.Error("a forgotten grant is renewed for ever")
	}
}

// TestUnderFaults: promise 1 as a holder knows it: under nodes that die, stand
// still and lose replies, no two are inside at once, and in the end nothing is held.
func TestUnderFaults(t *testing.T) {
	first := *seed
	if first == 0 {
		first = rand.Uint64()
	}
	for i := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { underFaults(t, first+i) })
		if t.Failed() {
			t.Logf("-seed %d", first+i)
			return
		}
	}
}

func underFaults(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t, "a", "b", "c")
	var mu sync.Mutex
	draw := func(n int) int { mu.Lock(); defer mu.Unlock(); return rng.IntN(n) }
	faulty := true
	c.swallow = func(_ string, args []string) bool {
		mu.Lock()
		defer mu.Unlock()
		return faulty && strings.HasPrefix(args[0], "LOCK.") && rng.IntN(8) == 0
	}
	var workers sync.WaitGroup
	inside, entered := "", 0
	work := func(id int, cl *Client) {
		for range 12 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+draw(20))*time.Second)
			g, err := cl.Mutex("door", WithTTL(2*time.Second)).Lock(ctx)
			cancel()
			if err != nil {
				continue
			}
			mu.Lock()
			if inside != "" {
				t.Errorf("%d is inside with %s", id, inside)
			}
			inside = fmt.Sprint(id)
			entered++
			mu.Unlock()
			select {
			case <-g.Context().Done():
			case <-time.After(time.Duration(draw(5000)) * time.Millisecond):
			}
			mu.Lock()
			inside = ""
			mu.Unlock()
			ctx, cancel = context.WithTimeout(context.Background(), time.Duration(draw(2000))*time.Millisecond)
			_ = g.Unlock(ctx) // may be cut off by a fault
			cancel()
		}
	}
	for id := range 5 {
		cl := c.client("a", "b", "c")
		defer cl.Close()
		workers.Go(func() { work(id, cl) })
	}
	for range 30 {
		time.Sleep(time.Duration(draw(4000)) * time.Millisecond)
		n := c.nodes[string(rune('a'+draw(3)))]
		if draw(2) == 0 {
			n.kill()
			time.Sleep(time.Duration(draw(4000)) * time.Millisecond)
			n.start()
		} else {
			n.stop()
			time.Sleep(time.Duration(draw(8000)) * time.Millisecond)
			n.cont()
		}
	}
	workers.Wait()
	mu.Lock()
	faulty = false
	mu.Unlock()
	time.Sleep(time.Minute)
	if h := c.holder("door"); h != "" || c.waitingFor("door") > 0 {
		t.Errorf("held by %q, %d wait, and everybody has gone", h, c.waitingFor("door"))
	}
	if entered < 10 {
		t.Errorf("only %d came in", entered)
	}
}
