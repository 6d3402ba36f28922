package replica

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// switchboard is a network from which nodes can be cut off.
type switchboard struct {
	mu    sync.Mutex
	off   map[string]bool // by raft address
	deaf  map[string]bool
	conns map[net.Conn][2]string
}

func newSwitchboard() *switchboard {
	return &switchboard{off: map[string]bool{}, deaf: map[string]bool{}, conns: map[net.Conn][2]string{}}
}

func (s *switchboard) dialer(from string) func(context.Context, string) (net.Conn, error) {
	noRoute := errors.New("no route")
	return func(ctx context.Context, addr string) (net.Conn, error) {
		if s.isOff(from, addr) {
			return nil, noRoute
		}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.off[from] || s.off[addr] { // the cut came while it was dialed
			conn.Close()
			return nil, noRoute
		}
		s.conns[conn] = [2]string{from, addr}
		return &wire{Conn: conn, deaf: func() bool { return s.isDeaf(from) }}, nil
	}
}

// wire is a connection whose answers get lost while its dialer is deaf.
type wire struct {
	net.Conn
	deaf func() bool
}

func (w *wire) Read(p []byte) (int, error) {
	for {
		n, err := w.Conn.Read(p)
		if err != nil || !w.deaf() {
			return n, err
		}
	}
}

func (s *switchboard) isDeaf(addr string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaf[addr]
}

// deafen makes a node hear no answers: what it sends arrives. It can't be undone
// by healing alone: connections that lost bytes must be cut.
func (s *switchboard) deafen(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf[addr] = true
}

func (s *switchboard) isOff(ends ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(ends, func(addr string) bool { return s.off[addr] })
}

func (s *switchboard) cut(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off[addr] = true
	for conn, ends := range s.conns {
		if ends[0] == addr || ends[1] == addr {
			conn.Close()
			delete(s.conns, conn)
		}
	}
}

func (s *switchboard) heal(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.off, addr)
	delete(s.deaf, addr)
}

// newCutCluster is a cluster on a switchboard whose commands wait for a leader for
// so long, and half as long again for an answer.
func newCutCluster(t *testing.T, wait time.Duration) (*cluster, *switchboard) {
	s := newSwitchboard()
	c := newCluster(t, 3, func(cfg *Config) {
		cfg.Dial = s.dialer(cfg.RaftListen)
		cfg.NoLeaderWait, cfg.AnswerWait = wait, wait+wait/2
	})
	return c, s
}

// B07: what a leader that is cut off has appended is unknown, not failed; it
// runs at most once, and not after its client was told so and it was cancelled.
func TestCutOffLeaderSaysUnknown(t *testing.T) {
	c, s := newCutCluster(t, 400*time.Millisecond)
	var total count
	for range 3 {
		l := c.leader()
		leader, addr := c.nodes[l], c.cfgs[l].RaftListen
		total.increment(t, leader, "c", 8, 20).Wait()
		s.cut(addr)
		total.increment(t, leader, "c", 8, 2).Wait()
		if _, err := leader.Do(t.Context(), client("x"), cmds("get", "c")); !errors.Is(err, ErrNoLeader) {
			t.Fatalf("a read on a leader that is cut off: %v", err)
		}
		other := c.nodes[c.another(l)]
		eventually(t, 5*time.Second, "another leader serves", func() bool {
			_, err := other.Do(t.Context(), client("x"), cmds("incrby", "c", "0"))
			return err == nil
		})
		s.heal(addr)
		ready(t, leader)
		// The last of what was sent is known once a later command is answered.
		eventually(t, 5*time.Second, "the node that was cut off has caught up", func() bool {
			_, err := leader.Do(t.Context(), client("x"), cmds("incrby", "c", "0"))
			return err == nil
		})
		settled := do(t, other, "incrby", "c", "0").Int
		total.check(t, settled)
		<-time.After(100 * time.Millisecond)
		wantReply(t, do(t, other, "incrby", "c", "0"), reply.Integer(settled))
		if total.unknown.Load() == 0 {
			t.Error("no outcome was unknown: the cut came too late to test anything")
		}
	}
}

// What the others have in their logs will be committed by one of them, whatever
// the leader that sent it hears of that: not one of these commands is "refused".
func TestSentAndNeverAnsweredIsUnknown(t *testing.T) {
	c, s := newCutCluster(t, 400*time.Millisecond)
	l := c.leader()
	leader, addr := c.nodes[l], c.cfgs[l].RaftListen
	var total count
	total.increment(t, leader, "c", 4, 5).Wait()
	s.deafen(addr)
	before := leader.raft.Load().LastIndex()
	wg := total.increment(t, leader, "c", 4, 1)
	for i, n := range c.nodes {
		if i != l {
			eventually(t, time.Second, "the entry has arrived", func() bool { return n.raft.Load().LastIndex() > before })
		}
	}
	s.cut(addr)
	wg.Wait()
	other := c.nodes[c.another(l)]
	eventually(t, 5*time.Second, "another leader serves", func() bool {
		_, err := other.Do(t.Context(), client("x"), cmds("get", "c"))
		return err == nil
	})
	s.heal(addr)
	ready(t, leader)
	settled := do(t, leader, "incrby", "c", "0").Int
	total.check(t, settled)
	if settled == total.acked.Load() || total.unknown.Load() == 0 {
		t.Errorf("counter %d, %d of unknown outcome: nothing that arrived went unanswered", settled, total.unknown.Load())
	}
}

// A follower that is cut off while its commands travel gets the true answers
// when it comes back in time.
func TestCutOffFollowerGetsItsAnswers(t *testing.T) {
	c, s := newCutCluster(t, 5*time.Second)
	l := c.leader()
	f := c.another(l)
	var total count
	for range 5 {
		before := total.acked.Load()
		wg := total.increment(t, c.nodes[f], "c", 20, 20)
		eventually(t, 5*time.Second, "some are acknowledged", func() bool { return total.acked.Load() > before+50 })
		s.cut(c.cfgs[f].RaftListen)
		<-time.After(30 * time.Millisecond)
		s.heal(c.cfgs[f].RaftListen)
		wg.Wait()
		if u := total.unknown.Load() + total.refused.Load(); u > 0 {
			t.Errorf("%d commands had no true answer", u)
		}
		total.check(t, do(t, c.nodes[l], "incrby", "c", "0").Int)
	}
}

// Those who wait for nothing leave no trace: contexts that end.
func TestContextEndsAWait(t *testing.T) {
	c, s := newCutCluster(t, 400*time.Millisecond)
	l := c.leader()
	s.cut(c.cfgs[l].RaftListen)
	eventually(t, 5*time.Second, "it leads no more", func() bool { return c.nodes[l].serving.Load() == nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.nodes[l].Do(ctx, fsm.Client{}, cmds("incr", "c")); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if _, err := c.nodes[l].Do(ctx, fsm.Client{}, cmds("get", "c")); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if waits := c.nodes[l].stats.QueueCommands.Load(); waits != 0 {
		t.Fatalf("%d commands wait", waits)
	}
}
