package fsm

import "github.com/redfence/redfence/fsm/reply"

// serve serves who waits for what the command before has brought, in Redis's
// order: key by key as they got their value, and those of a key as they came. What
// serving one brings to another key comes behind all that.
//
// Each waiter that is looked at leaves its queues, so it ends.
func (s *State) serve() {
	ws := &s.waiters
	for i := 0; i < len(ws.ready); i++ {
		p := ws.ready[i]
		delete(ws.isReady, p)
		for {
			r := s.get(s.databases[p.db], p.key)
			if r == nil {
				break
			}
			q := ws.queues[queueID{p, r.kind}]
			if q == nil {
				break
			}
			_, first, _ := q.Min()
			s.serveOne(first, p.key)
		}
	}
	clear(ws.ready)
	ws.ready = ws.ready[:0]
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
	s.spent += int64(c.walked + size/copyBytes + callCost)
	s.replied += size
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
