package fsm

import (
	"slices"

	"github.com/redfence/redfence/fsm/reply"
)

// served is what serving who waits has cost in the entry at hand.
type served struct {
	commands int
	steps    int64
	replies  int
}

// servesMore says whether the entry at hand has room to serve another command
// that waits. Each entry has room for one.
func (s *State) servesMore() bool {
	x := &s.served
	return x.commands < ServedMax && x.steps < ServedStepsMax && x.replies < ServedRepliesMax
}

// countServed charges the entry for one that was served.
func (s *State) countServed(steps int64, reply int) {
	s.served.commands++
	s.served.steps += steps
	s.served.replies += reply
	s.spent += steps
	s.replied += reply
}

// serve serves who waits for what was brought, in Redis's order: key by key as they
// got their value, and those of a key as they came. What serving one brings to
// another key comes behind all that.
//
// What the entry has no room for is left for the next one. A key that is not done
// goes behind the others by then: many who wait for it must not hold them up.
//
// Each waiter that is looked at leaves its queues, so it ends.
func (s *State) serve() {
	ws, done := &s.waiters, 0
	for ; done < len(ws.ready) && s.servesMore(); done++ {
		p := ws.ready[done]
		if s.serveKey(p) {
			delete(ws.isReady, p)
		} else {
			ws.ready = append(ws.ready, p)
		}
	}
	ws.ready = slices.Delete(ws.ready, 0, done)
}

// serveKey serves who waits for a key. It answers false if the entry has no room
// for all whom the key could serve.
func (s *State) serveKey(p place) bool {
	for {
		r := s.get(s.databases[p.db], p.key)
		if r == nil {
			return true
		}
		q := s.waiters.queues[queueID{p, r.kind}]
		if q == nil {
			return true
		}
		if !s.servesMore() {
			return false
		}
		_, first, _ := q.Min()
		s.serveOne(first, p.key)
	}
}

// serveOne runs a waiter's command on a key that can serve it. One that fails is
// answered its error and takes nothing.
func (s *State) serveOne(w *waiter, key string) {
	c := call{
		s: s, db: w.db, client: &w.client, spec: rowOf(w.args), args: w.args,
		now: s.clock.now, wall: s.clock.wall, most: KeysStepsMax,
	}
	start := s.mark()
	v := c.guarded(func(c *call) reply.Value { return w.want.take(c, key) })
	if v.Size() > ReplyMax {
		s.undoTo(start)
		v = errReplyTooLong
	}
	size := v.Size()
	s.countServed(int64(c.walked+size/copyBytes+callCost), size)
	s.undo = s.undo[:0]
	s.wake(w, Answer{Value: v})
}

// wake ends a wait with its reply, which is kept until its origin has it.
func (s *State) wake(w *waiter, a Answer) {
	s.unwait(w)
	o := s.byID[w.origin]
	s.woken = append(s.woken, Woken{w.origin, o.node, w.ticket, a})
	o.keepWoken(w.ticket, a)
}

// loseWaits ends all waits of an origin that is out of touch or gone.
func (s *State) loseWaits(o *origin) {
	for {
		_, w, some := o.waiting.Min()
		if !some {
			return
		}
		s.wake(w, Answer{Value: errWaitLost})
	}
}

// settle forgets tickets that their origin is done with: it has the reply, or
// nobody is there any more to be told.
func (s *State) settle(o *origin, tickets []uint64) {
	for _, ticket := range tickets {
		if w, there := o.waiting.Get(ticket); there {
			s.unwait(w)
		}
		if a, there := o.woken.Delete(ticket); there {
			o.wokenSize -= a.Value.Size()
		}
	}
}

// keepWoken keeps the reply to a wait within the bounds of kept replies.
func (o *origin) keepWoken(ticket uint64, a Answer) {
	if a.Value.Size() > KeptReplyMax {
		a = Answer{Value: ErrUnknownOutcome}
	}
	o.woken.Set(ticket, a)
	o.wokenSize += a.Value.Size()
	for o.woken.Len() > KeptWoken || o.wokenSize > KeptBytes {
		_, old, _ := o.woken.PopMin()
		o.wokenSize -= old.Value.Size()
	}
}

// Fate is what the machine knows of a command that began to wait.
type Fate uint8

const (
	// FateUnknown: it was served, and its reply is no longer kept; or it never waited.
	FateUnknown Fate = iota
	// FateAhead: the batch that brought it is not executed yet.
	FateAhead
	// FateWaits: it waits.
	FateWaits
	// FateWoken: it was answered.
	FateWoken
)

// Fate is what became of a ticket that came with a batch of an origin.
func (s *State) Fate(origin, number, ticket uint64) (Fate, Answer) {
	o := s.byID[origin]
	switch {
	case o == nil:
		return FateUnknown, Answer{}
	case o.last < number:
		return FateAhead, Answer{}
	}
	if _, waits := o.waiting.Get(ticket); waits {
		return FateWaits, Answer{}
	}
	if a, kept := o.woken.Get(ticket); kept {
		return FateWoken, a
	}
	return FateUnknown, Answer{}
}

// KeptReplies counts the replies to waits that are kept for origins.
func (s *State) KeptReplies() int {
	n := 0
	for _, o := range s.byID {
		n += o.woken.Len()
	}
	return n
}
