package replica

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
)

// errNotLeading is for reads that this node can't answer; they may be asked again elsewhere.
var errNotLeading = errors.New("replica: not leading")

// readGate lets a lone read through once a majority of voters has shown that
// this node still led after the read had arrived: each of them answered with
// success, in this term, an AppendEntries whose sending began after the arrival.
// Raft's VerifyLeader is only used to send heartbeats at once. Its own verdict
// counts answers to heartbeats that were sent before, so a leader that was
// stopped and continued would confirm itself from what lies in its sockets.
type readGate struct {
	clock atomic.Uint64 // orders arrivals and sendings

	mu      sync.Mutex
	term    uint64            // that is being served; 0 is none
	best    map[string]uint64 // by member: the latest sending that it answered in this term
	waiting []*waitingRead
	voters  func() (self bool, others []string)
	kick    chan struct{} // asks for heartbeats
}

type waitingRead struct {
	arrived uint64
	done    chan bool // of capacity 1: whether it is confirmed
}

func newReadGate(voters func() (bool, []string)) *readGate {
	return &readGate{voters: voters, kick: make(chan struct{}, 1)}
}

// next is a number later than all before it.
func (g *readGate) next() uint64 { return g.clock.Add(1) }

// open begins to serve a term; close ends it and refuses all that waits.
func (g *readGate) open(term uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.term, g.best = term, map[string]uint64{}
}

func (g *readGate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.term = 0
	for _, w := range g.waiting {
		w.done <- false
	}
	g.waiting = nil
}

// enter registers a read that arrives now. Alone in its cluster a leader need
// not ask anybody: the result is then nil.
func (g *readGate) enter() (*waitingRead, uint64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.term == 0 {
		return nil, 0, errNotLeading
	}
	self, others := g.voters()
	if self && len(others) == 0 {
		return nil, g.term, nil
	}
	w := &waitingRead{arrived: g.next(), done: make(chan bool, 1)}
	g.waiting = append(g.waiting, w)
	return w, g.term, nil
}

// answered notes that a member answered with success, in term, a message whose sending began at began.
func (g *readGate) answered(member string, term, began uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if term != g.term || began <= g.best[member] {
		return
	}
	g.best[member] = began
	if len(g.waiting) == 0 {
		return
	}
	self, others := g.voters()
	keep := g.waiting[:0]
	for _, w := range g.waiting {
		if g.confirmed(w, self, others) {
			w.done <- true
		} else {
			keep = append(keep, w)
		}
	}
	clear(g.waiting[len(keep):])
	g.waiting = keep
	if len(keep) > 0 {
		poke(g.kick)
	}
}

func (g *readGate) confirmed(w *waitingRead, self bool, others []string) bool {
	count, size := 0, len(others)
	if self {
		count, size = 1, size+1
	}
	for _, id := range others {
		if g.best[id] > w.arrived {
			count++
		}
	}
	return count > size/2
}

// leave takes back a read that is not waited for any more.
func (g *readGate) leave(w *waitingRead) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, x := range g.waiting {
		if x == w {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return
		}
	}
}

// sendHeartbeats runs until stop: each kick, and each beat, makes raft send heartbeats
// to all members at once.
func (n *Node) sendHeartbeats() {
	for {
		select {
		case <-n.stop:
			return
		case <-n.gate.kick:
			n.stats.ReadRounds.Add(1)
		case <-n.beat:
		}
		if r := n.raft.Load(); r != nil {
			r.VerifyLeader() // the verdict is of no use: see readGate
		}
	}
}

// beats is what makes a leader's heartbeats go out, given the clock's ticks.
func (n *Node) beats(tick time.Duration) func() {
	left, every := 0, max(1, int(n.cfg.Heartbeat/beatsPerTimeout/tick))
	return func() {
		if left--; left > 0 {
			return
		}
		if r := n.raft.Load(); r != nil && r.State() == raft.Leader {
			left = every
			poke(n.beat)
		}
	}
}

// readHere answers lone reads on this node if it leads, as many as there is room for.
func (n *Node) readHere(ctx context.Context, client *fsm.Client, cmds []fsm.Command, share *Share) ([]fsm.Answer, error) {
	r := n.raft.Load()
	if r == nil {
		return nil, errNotLeading
	}
	w, term, err := n.gate.enter()
	if err != nil {
		return nil, err
	}
	// Whatever was acknowledged before this read, here or by a follower that saw
	// the commit before this node's machine did, is at or below this index.
	committed := r.CommitIndex()
	if w != nil {
		poke(n.gate.kick)
		select {
		case ok := <-w.done:
			if !ok {
				return nil, errNotLeading
			}
		case <-ctx.Done():
			n.gate.leave(w)
			return nil, ctx.Err()
		case <-n.stop:
			n.gate.leave(w)
			return nil, ErrClosed
		}
	}
	if r.State() != raft.Leader || r.CurrentTerm() != term {
		return nil, errNotLeading
	}
	if !n.machine.waitApplied(committed, ctx.Done()) {
		return nil, errNotLeading
	}
	answers, err := n.machine.read(ctx, client, cmds, fsm.At{Now: n.clock.now(), Wall: n.cfg.Wall()}, share)
	n.stats.ReadsLocal.Add(uint64(len(answers)))
	return answers, err
}

// voters says whether this node has a vote in raft's latest configuration, and who else.
func (n *Node) voters() (self bool, others []string) {
	r := n.raft.Load()
	if r == nil {
		return false, nil
	}
	for _, s := range r.GetConfiguration().Configuration().Servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		if string(s.ID) == n.cfg.NodeID {
			self = true
		} else {
			others = append(others, string(s.ID))
		}
	}
	return self, others
}
