package process_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/client"
	"github.com/redfence/redfence/tests/internal/process"
)

// ours is the project's own client of a cluster, whose first node it talks to.
func ours(t *testing.T, nodes ...*process.Node) *client.Client {
	t.Helper()
	var addrs []string
	for _, n := range nodes {
		addrs = append(addrs, n.Client)
	}
	c, err := client.New(addrs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// granted is a grant that must be had.
func granted(t *testing.T) func(g *client.Grant, err error) *client.Grant {
	return func(g *client.Grant, err error) *client.Grant {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

func refused(t *testing.T, what string, g *client.Grant, err error) {
	t.Helper()
	if !errors.Is(err, client.ErrHeld) {
		t.Errorf("%s: %v %v, want that it is held", what, g, err)
	}
}

func unlock(t *testing.T, gs ...*client.Grant) {
	t.Helper()
	for _, g := range gs {
		if err := g.Unlock(context.Background()); err != nil {
			t.Errorf("unlock %v: %v", g.Names(), err)
		}
	}
}

// TestClientKinds: every kind of lock of the client, through different nodes.
func TestClientKinds(t *testing.T) {
	cl := process.Start(t, 3)
	a, b := ours(t, cl.Nodes...), ours(t, cl.Nodes[2], cl.Nodes[0])
	ctx, got := within(t, time.Minute), granted(t)

	g := got(a.Mutex("door", client.WithNote("cleaning")).TryLock(ctx))
	other, err := b.Mutex("door").TryLock(ctx)
	refused(t, "a second mutex", other, err)
	if note, err := b.Do(ctx, "LOCK.INFO", "door"); err != nil || note.(map[any]any)["note"] != "cleaning" {
		t.Errorf("LOCK.INFO: %v %v", note, err)
	}
	if err := errors.Join(g.Extend(ctx), g.Confirm(ctx)); err != nil {
		t.Error(err)
	}
	waiting := make(chan *client.Grant)
	go func() { waiting <- got(b.Mutex("door").Lock(ctx)) }()
	unlock(t, g)
	next := <-waiting
	if next.Token() <= g.Token() {
		t.Errorf("token %d after %d", next.Token(), g.Token())
	}
	unlock(t, next)

	r1, r2 := got(a.RWMutex("book").TryRLock(ctx)), got(b.RWMutex("book").RLock(ctx))
	other, err = a.RWMutex("book").TryLock(ctx)
	refused(t, "a writer beside readers", other, err)
	unlock(t, r1, r2)
	w := got(b.RWMutex("book").Lock(ctx))
	other, err = a.RWMutex("book").TryRLock(ctx)
	refused(t, "a reader beside a writer", other, err)
	unlock(t, w)

	s1, s2 := got(a.Semaphore("seats", 2).Acquire(ctx)), got(b.Semaphore("seats", 2).TryAcquire(ctx))
	other, err = a.Semaphore("seats", 2).TryAcquire(ctx)
	refused(t, "a third of two permits", other, err)
	if _, err := a.Semaphore("seats", 3).TryAcquire(ctx); err == nil || errors.Is(err, client.ErrHeld) {
		t.Errorf("another number of permits: %v", err)
	}
	unlock(t, s1, s2)

	m := got(a.MultiLock([]string{"x", "y", "z"}, client.WithTTL(2*time.Second)).TryLock(ctx))
	other, err = b.MultiLock([]string{"w", "z"}).TryLock(ctx)
	refused(t, "one name of several is held", other, err)
	unlock(t, got(b.Mutex("w").TryLock(ctx)))
	if err := m.Extend(ctx); err != nil || len(m.Tokens()) != 3 || m.Token() != m.Tokens()[2] {
		t.Errorf("Extend: %v; tokens %v, highest %d", err, m.Tokens(), m.Token())
	}
	unlock(t, m)
	unlock(t, got(b.MultiLock([]string{"w", "z"}).Lock(ctx)))
}

// TestClientSession: locks of a session live and end with it, and an operator's
// break is found out by renewal.
func TestClientSession(t *testing.T) {
	cl := process.Start(t, 1)
	a := ours(t, cl.Nodes...)
	ctx, got := within(t, time.Minute), granted(t)
	s, err := a.OpenSession(ctx, client.WithTTL(time.Second), client.WithNote("worker 7"))
	if err != nil {
		t.Fatal(err)
	}
	g := got(a.Mutex("one", client.WithSession(s)).TryLock(ctx))
	h := got(a.Mutex("two", client.WithSession(s)).Lock(ctx))
	pause(t, 3*time.Second)
	if g.Context().Err() != nil || h.Confirm(ctx) != nil || g.State() != client.Safe {
		t.Errorf("after three leases: %v, %v", context.Cause(g.Context()), g.State())
	}
	unlock(t, g)
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	<-h.Context().Done()
	if err := h.Unlock(ctx); !errors.Is(err, client.ErrLost) {
		t.Errorf("unlock after the session: %v", err)
	}
	unlock(t, got(a.MultiLock([]string{"one", "two"}).TryLock(ctx)))

	b := got(a.Mutex("broken", client.WithTTL(time.Second)).TryLock(ctx))
	if v, err := a.Do(ctx, "LOCK.BREAK", "broken"); err != nil || v != int64(1) {
		t.Fatal(v, err)
	}
	<-b.Context().Done()
	if cause := context.Cause(b.Context()); cause != client.ErrLost {
		t.Errorf("a broken lock ended with %v", cause)
	}
}

// TestClientElection: one leads at a time, the others see who, and the next leads
// when it resigns.
func TestClientElection(t *testing.T) {
	cl := process.Start(t, 1)
	a, b := ours(t, cl.Nodes...), ours(t, cl.Nodes...)
	ctx := within(t, time.Minute)
	seen := make(chan client.Leader, 10)
	go func() {
		for l, err := range b.Election("boss").Observe(ctx) {
			if err != nil {
				t.Errorf("observe: %v", err)
			}
			seen <- l
		}
	}()
	if l := <-seen; l != (client.Leader{}) {
		t.Errorf("%v leads, and nobody has campaigned", l)
	}
	first, err := a.Election("boss").Campaign(ctx, "alice")
	if err != nil {
		t.Fatal(err)
	}
	if l := <-seen; l.Value != "alice" || l.Token != first.Token() {
		t.Errorf("%v leads", l)
	}
	next := make(chan *client.Leadership)
	go func() {
		l, err := b.Election("boss").Campaign(ctx, "bob")
		if err != nil {
			t.Error(err)
		}
		next <- l
	}()
	if err := first.Resign(ctx); err != nil {
		t.Error(err)
	}
	second := <-next
	process.Until(t, "bob is seen", func() bool { return (<-seen).Value == "bob" })
	if second.Token() <= first.Token() {
		t.Errorf("token %d after %d", second.Token(), first.Token())
	}
	if err := second.Resign(ctx); err != nil {
		t.Error(err)
	}
}

// TestClientObserve: an observer asks for nothing while nothing happens, hears of a
// flush and of a name full of signs, and goes on at another node when its own dies.
func TestClientObserve(t *testing.T) {
	cl := process.Start(t, 3)
	ctx, got := within(t, time.Minute), granted(t)
	name := `bo*[s]s?\`
	leads := make(chan string, 16)
	observer := ours(t, cl.Nodes...)
	go func() { // always in the loop, never with us: what it asks, it asks by itself
		defer close(leads)
		for l, err := range observer.Election(name).Observe(ctx) {
			if err != nil {
				l.Value = err.Error()
			}
			leads <- l.Value
		}
	}()
	expect := func(value string) {
		t.Helper()
		select {
		case got := <-leads:
			if got != value {
				t.Fatalf("%q leads, want %q", got, value)
			}
		case <-ctx.Done():
			t.Fatalf("nothing was heard, want %q", value)
		}
	}
	expect("")
	other := ours(t, cl.Nodes[2], cl.Nodes[1])
	for range 50 {
		unlock(t, got(other.Mutex("boss").TryLock(ctx)))
	}
	info, err := cl.Nodes[0].Redis().Info(ctx, "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, info, _ = strings.Cut(info, "cmdstat_lock.info:")
	// One look as it subscribed.
	if calls, _, _ := strings.Cut(info, ","); calls != "calls=1" {
		t.Errorf("LOCK.INFO was asked when nothing had happened: %s", calls)
	}
	if _, err := other.Election(name).Campaign(ctx, "alice"); err != nil {
		t.Fatal(err)
	}
	expect("alice")
	if _, err := other.Do(ctx, "FLUSHDB"); err != nil {
		t.Fatal(err)
	}
	expect("")
	cl.Nodes[0].Kill()
	if _, err := other.Election(name).Campaign(ctx, "bob"); err != nil {
		t.Fatal(err)
	}
	expect("bob")
	observer.Close()
	if got, more := <-leads; more {
		t.Fatalf("%q was told of by a client that is closed", got)
	}
}

// TestClientOnce: of many machines one runs the job, and none within WithAtLeast,
// also when its process has died.
func TestClientOnce(t *testing.T) {
	cl := process.Start(t, 3)
	ctx := within(t, time.Minute)
	var runs atomic.Int32
	job := func(c *client.Client) (bool, error) {
		return c.Once("nightly", client.WithAtLeast(2*time.Second)).Do(ctx, func(context.Context, *client.Grant) error {
			runs.Add(1)
			return nil
		})
	}
	var machines sync.WaitGroup
	began := time.Now()
	for i := range 9 {
		machines.Go(func() {
			if _, err := job(ours(t, cl.Nodes[i%3])); err != nil {
				t.Error(err)
			}
		})
	}
	machines.Wait()
	if n := runs.Load(); n != 1 {
		t.Errorf("the job ran %d times", n)
	}
	c := ours(t, cl.Nodes...)
	process.Until(t, "the job can run again", func() bool { ran, err := job(c); return ran && err == nil })
	if d := time.Since(began); d < 1990*time.Millisecond {
		t.Errorf("it ran again after %v, want 2 s at least", d)
	}
}

// TestClientNodeKilled: promises 1, 2 and 6 for holders that talk to a node that is
// killed, whether it leads or not: the lock is held throughout, no two are inside at
// once, tokens rise.
func TestClientNodeKilled(t *testing.T) {
	cl := process.Start(t, 3)
	ctx, got := within(t, 5*time.Minute), granted(t)
	held := got(ours(t, cl.Nodes...).Mutex("held", client.WithTTL(6*time.Second)).Lock(ctx))
	done, finish := context.WithCancel(ctx)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var inside string
	var last int64
	entered := 0
	for i := range 6 {
		c := ours(t, cl.Nodes[i%3], cl.Nodes[(i+1)%3], cl.Nodes[(i+2)%3])
		workers.Go(func() {
			for done.Err() == nil {
				g, err := c.Mutex("turns", client.WithTTL(5*time.Second)).Lock(done)
				if err != nil {
					continue
				}
				mu.Lock()
				if inside != "" && g.Context().Err() == nil {
					t.Errorf("%s is inside beside %d", inside, i)
				}
				if g.Token() <= last {
					t.Errorf("token %d after %d", g.Token(), last)
				}
				inside, last = fmt.Sprint(i), g.Token()
				entered++
				mu.Unlock()
				// What is inside stays for a moment, so that a second one would be seen.
				select {
				case <-time.After(20 * time.Millisecond):
				case <-g.Context().Done():
				}
				mu.Lock()
				inside = ""
				mu.Unlock()
				if err := g.Unlock(ctx); err != nil {
					t.Errorf("unlock: %v", err)
				}
			}
		})
	}
	for round := range max(3, *kills/3) {
		victim := cl.Nodes[round%3]
		if round%2 == 0 {
			victim = cl.Leader()
		}
		mu.Lock()
		before := entered
		mu.Unlock()
		victim.Kill()
		process.Until(t, "locks are granted", func() bool { mu.Lock(); defer mu.Unlock(); return entered > before+5 })
		victim.Start()
		victim.Ready()
	}
	finish()
	workers.Wait()
	if held.Context().Err() != nil || held.Confirm(ctx) != nil {
		t.Errorf("the lock that is held throughout: %v", context.Cause(held.Context()))
	}
	unlock(t, held)
	process.Until(t, "no lock is left behind", func() bool {
		n, err := cl.Nodes[0].Redis().Exists(ctx, "turns", "held").Result()
		return n == 0 && err == nil
	})
	t.Logf("%d turns", entered)
}
