package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// states keeps what a callback was told.
type states struct {
	mu  sync.Mutex
	all []string
}

func (s *states) told(st State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, st.String())
}

func (s *states) check(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.all, want) {
		t.Errorf("the callback was told %q, want %q", s.all, want)
	}
}

func taken(t *testing.T, m *Mutex) *Grant {
	t.Helper()
	g, err := m.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestRenewedWhileHeld: a lock is held for many leases, and nothing renews it
// after Unlock.
func TestRenewedWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		var s states
		g := taken(t, cl.Mutex("door", WithTTL(3*time.Second), WithState(s.told)))
		for range 100 {
			time.Sleep(time.Second)
			if g.Context().Err() != nil || g.State() != Safe || c.holder("door") != g.Owner() {
				t.Fatalf("not held any more: %v, %v", context.Cause(g.Context()), g.State())
			}
		}
		if n := c.count("LOCK.EXTEND"); n < 90 || n > 110 {
			t.Errorf("renewed %d times in 100 s with a lease of 3 s, want about every second", n)
		}
		// The clock stands where a renewal is due: it may be on its way.
		synctest.Wait()
		before := c.count("LOCK.EXTEND")
		if err := g.Unlock(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(context.Cause(g.Context()), ErrReleased) || c.holder("door") != "" {
			t.Errorf("after Unlock: cause %v, holder %q", context.Cause(g.Context()), c.holder("door"))
		}
		time.Sleep(time.Minute)
		if n := c.count("LOCK.EXTEND"); n != before {
			t.Errorf("renewed %d times after Unlock", n-before)
		}
		s.check(t)
	})
}

// TestContextEndsFirst: promise 2 for a holder: when the cluster can't be reached,
// the Context ends before the lease does, and the states say why.
func TestContextEndsFirst(t *testing.T) {
	for _, ttl := range []time.Duration{MinTTL, time.Second, 30 * time.Second, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, "a", "b")
			cl := c.client("a", "b")
			defer cl.Close()
			var s states
			g := taken(t, cl.Mutex("door", WithTTL(ttl), WithState(s.told)))
			time.Sleep(2 * ttl)
			end := c.until("door")
			for _, n := range c.nodes {
				n.stop()
			}
			<-g.Context().Done()
			early := time.Until(end)
			if least := ttl/500 + marginMin; early < least || early > ttl/3 {
				t.Errorf("a lease of %v: the Context ended %v before it, want %v at least", ttl, early, least)
			}
			if !errors.Is(context.Cause(g.Context()), ErrExpired) || !errors.Is(context.Cause(g.Context()), ErrLost) {
				t.Errorf("the cause is %v", context.Cause(g.Context()))
			}
			s.check(t, "in jeopardy", "lost")
			for _, n := range c.nodes {
				n.cont()
			}
		})
	}
}

// TestJeopardyPasses: the cluster comes back in time, and the lock was held throughout.
func TestJeopardyPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		cl := c.client("a", "b")
		defer cl.Close()
		var s states
		g := taken(t, cl.Mutex("door", WithTTL(10*time.Second), WithState(s.told)))
		c.nodes["a"].kill()
		c.nodes["b"].kill()
		time.Sleep(7 * time.Second)
		if g.State() != Jeopardy || g.Context().Err() != nil {
			t.Errorf("without a cluster: %v, %v", g.State(), g.Context().Err())
		}
		c.nodes["b"].start()
		time.Sleep(time.Second)
		if g.State() != Safe {
			t.Errorf("the cluster is back: %v", g.State())
		}
		time.Sleep(time.Minute)
		s.check(t, "in jeopardy", "safe")
		if err := g.Unlock(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestCountedFromSending: a slow reply takes from the lease, it doesn't lengthen it.
func TestCountedFromSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		c.refuse = func(_ string, args []string) string {
			if strings.HasPrefix(args[0], "LOCK.") {
				time.Sleep(time.Second)
			}
			return ""
		}
		g, err := cl.Mutex("door", WithTTL(30*time.Second), WithoutRenewal()).TryLock(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if left, most := g.Left(), 29*time.Second-60*time.Millisecond-time.Second; left > most {
			t.Errorf("%v are left, want %v at most", left, most)
		}
		if end := time.Now().Add(g.Left()); !end.Before(c.until("door")) {
			t.Error("the holder counts past the lease")
		}
		c.refuse = nil
		if err := g.Unlock(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestLostLock: who is told that the lease is gone ends at once, and Unlock says so.
func TestLostLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		var s states
		g := taken(t, cl.Mutex("door", WithTTL(3*time.Second), WithState(s.told)))
		c.take("door")
		if err := g.Confirm(context.Background()); !errors.Is(err, ErrLost) {
			t.Errorf("Confirm: %v", err)
		}
		if err := g.Unlock(context.Background()); !errors.Is(err, ErrLost) {
			t.Errorf("Unlock: %v", err)
		}
		g = taken(t, cl.Mutex("door", WithTTL(3*time.Second)))
		c.take("door")
		<-g.Context().Done()
		if cause := context.Cause(g.Context()); cause != ErrLost {
			t.Errorf("the cause is %v", cause)
		}
		if err := g.Extend(context.Background()); !errors.Is(err, ErrLost) {
			t.Errorf("Extend: %v", err)
		}
		s.check(t, "lost")
	})
}

// TestStoppedHolder: a process that stood still sees the end of its Context before
// any timer has fired.
func TestStoppedHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		var jump atomic.Int64
		began := time.Now()
		cl.now = func() time.Duration { return time.Since(began) + time.Duration(jump.Load()) }
		g := taken(t, cl.Mutex("door", WithTTL(3*time.Second)))
		ctx := g.Context()
		jump.Store(int64(3 * time.Second))
		if ctx.Err() == nil {
			t.Error("the lease has run out, and Err is nil")
		}
		select {
		case <-ctx.Done():
		default:
			t.Error("the lease has run out, and Done is open")
		}
		if g.Left() != 0 || g.State() != Lost {
			t.Errorf("left %v, %v", g.Left(), g.State())
		}
		g = taken(t, cl.Mutex("window", WithTTL(3*time.Second)))
		jump.Store(int64(6 * time.Second))
		select {
		case <-g.Context().Done():
		default:
			t.Error("the lease has run out, and Done is open")
		}
	})
}

// TestAtMost: work that hangs is not renewed for ever.
func TestAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		g := taken(t, cl.Mutex("door", WithTTL(3*time.Second), WithAtMost(time.Minute)))
		began := time.Now()
		<-g.Context().Done()
		if held := time.Since(began); held != time.Minute || !errors.Is(context.Cause(g.Context()), ErrTooLong) {
			t.Errorf("held for %v: %v", held, context.Cause(g.Context()))
		}
		time.Sleep(3 * time.Second)
		if h := c.holder("door"); h != "" {
			t.Errorf("still held by %q", h)
		}
	})
}

// TestClosedClient: Close ends every Context and wait.
func TestClosedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		g := taken(t, cl.Mutex("door"))
		waited := make(chan error)
		go func() {
			_, err := cl.Mutex("door").Lock(context.Background())
			waited <- err
		}()
		synctest.Wait()
		if err := cl.Close(); err != nil {
			t.Fatal(err)
		}
		<-g.Context().Done()
		if err := <-waited; !errors.Is(err, ErrClosed) || !errors.Is(context.Cause(g.Context()), ErrClosed) {
			t.Errorf("the wait ended with %v, the Context with %v", err, context.Cause(g.Context()))
		}
		if n := c.waitingFor("door"); n != 0 {
			t.Errorf("%d still wait", n)
		}
		if _, err := cl.Mutex("x").TryLock(context.Background()); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestOptionsThatMakeNoSense are refused before anything is sent.
func TestOptionsThatMakeNoSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		ctx := context.Background()
		for i, bad := range []interface {
			TryLock(context.Context) (*Grant, error)
		}{
			cl.Mutex("x", WithTTL(time.Millisecond)), cl.Mutex("x", WithTTL(time.Second+1)), cl.Mutex("x", WithMargin(time.Hour)),
			cl.Mutex("x", WithNote(strings.Repeat("n", NoteMax+1))), cl.Mutex("x", WithDelay(-1)), cl.MultiLock(nil),
			cl.MultiLock([]string{"a", "a"}), cl.MultiLock([]string{"a"}, WithNote("n")),
		} {
			if _, err := bad.TryLock(ctx); err == nil {
				t.Errorf("case %d was not refused", i)
			}
		}
		if _, err := cl.Semaphore("x", 0).TryAcquire(ctx); err == nil {
			t.Error("a semaphore without permits was not refused")
		}
		if n := c.count("LOCK.ACQUIRE"); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
	for _, addrs := range [][]string{{}, {""}, {"unix:"}} {
		if _, err := New(addrs...); err == nil {
			t.Errorf("New(%q) was not refused", addrs)
		}
	}
}

// TestDoUnlocksAfterPanic: and hands the panic on.
func TestDoUnlocksAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		cl := c.client("a")
		defer cl.Close()
		func() {
			defer func() {
				if r := recover(); fmt.Sprint(r) != "boom" {
					t.Errorf("recovered %v", r)
				}
			}()
			_ = cl.Mutex("door").Do(context.Background(), func(context.Context, *Grant) error { panic("boom") })
		}()
		if h := c.holder("door"); h != "" {
			t.Errorf("still held by %q", h)
		}
		ctx, cancel := context.WithCancel(context.Background())
		err := cl.Mutex("door").Do(ctx, func(ctx context.Context, g *Grant) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) || c.holder("door") != "" {
			t.Errorf("cancelled work: %v, held by %q", err, c.holder("door"))
		}
	})
}
