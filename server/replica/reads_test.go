package replica

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm/reply"
)

func TestReadIsConfirmedOnlyByWhatWasSentAfterIt(t *testing.T) {
	g := newReadGate(func() (bool, []string) { return true, []string{"a", "b"} })
	if _, _, err := g.enter(); err != errNotLeading {
		t.Fatalf("a read entered without a term: %v", err)
	}
	g.open(3)
	before := g.next()
	w, term, err := g.enter()
	if err != nil || term != 3 {
		t.Fatal(term, err)
	}
	confirmed := func() bool {
		select {
		case ok := <-w.done:
			return ok
		default:
			return false
		}
	}
	after := g.next()
	for _, step := range []struct {
		member      string
		term, began uint64
		want        bool
	}{
		{"a", 3, before, false}, // lay in the socket since before
		{"b", 3, before, false},
		{"a", 2, after, false},       // of another term
		{"learner", 3, after, false}, // has no vote
		{"a", 3, after, true},
	} {
		g.answered(step.member, step.term, step.began)
		if got := confirmed(); got != step.want {
			t.Fatalf("after %+v confirmed is %v", step, got)
		}
	}
	w, _, _ = g.enter()
	g.close()
	if ok := <-w.done; ok {
		t.Fatal("confirmed by the end of the term")
	}
}

// In five nodes one other is not a majority.
func TestReadNeedsAMajority(t *testing.T) {
	g := newReadGate(func() (bool, []string) { return true, []string{"a", "b", "c", "d"} })
	g.open(1)
	w, _, _ := g.enter()
	g.answered("a", 1, g.next())
	if len(w.done) != 0 {
		t.Fatal("two of five are no majority")
	}
	g.answered("b", 1, g.next())
	if len(w.done) != 1 {
		t.Fatal("three of five are one")
	}
}

// valve is a network whose dialed connections can be held in each direction.
type valve struct {
	mu      sync.Mutex
	cond    *sync.Cond
	reading bool // bytes that come are let in
	writing bool // bytes that go are let out
}

func newValve() *valve {
	v := &valve{reading: true, writing: true}
	v.cond = sync.NewCond(&v.mu)
	return v
}

func (v *valve) set(reading, writing bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.reading, v.writing = reading, writing
	v.cond.Broadcast()
}

func (v *valve) pass(open *bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for !*open {
		v.cond.Wait()
	}
}

func (v *valve) dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &heldConn{conn, v}, nil
}

type heldConn struct {
	net.Conn
	valve *valve
}

func (c *heldConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.valve.pass(&c.valve.reading)
	return n, err
}

func (c *heldConn) Write(p []byte) (int, error) {
	c.valve.pass(&c.valve.writing)
	return c.Conn.Write(p)
}

// A leader that was stopped and continued finds answers to its old heartbeats in
// its sockets. They must not confirm a read that came after.
func TestAnswersHeldInSocketsDoNotConfirm(t *testing.T) {
	v := newValve()
	// So long a heartbeat that nobody deposes the held leader.
	c := newCluster(t, 3, func(cfg *Config) { cfg.Heartbeat, cfg.Dial = 3*time.Second, v.dial })
	leader := c.nodes[c.leader()]
	do(t, leader, "set", "k", "v")
	defer v.set(true, true)

	v.set(false, true) // answers stay in the sockets
	eventually(t, 5*time.Second, "heartbeats were sent and not answered", func() bool {
		before := leader.gate.clock.Load()
		<-time.After(700 * time.Millisecond)
		return leader.gate.clock.Load() == before
	})
	v.set(false, false)
	got := make(chan reply.Value, 1)
	go func() {
		answers, err := leader.Do(t.Context(), client("x"), cmds("get", "k"))
		if err != nil {
			t.Error(err)
			got <- reply.Value{}
			return
		}
		got <- answers[0].Value
	}()
	eventually(t, 5*time.Second, "the read waits", func() bool {
		leader.gate.mu.Lock()
		defer leader.gate.mu.Unlock()
		return len(leader.gate.waiting) == 1
	})
	v.set(true, false) // the old answers come in, nothing new goes out
	select {
	case v := <-got:
		t.Fatalf("answered %v from what lay in the sockets", v)
	case <-time.After(500 * time.Millisecond):
	}
	v.set(true, true)
	wantReply(t, <-got, reply.String("v"))
}
