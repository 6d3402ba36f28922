package fsm

import "github.com/redfence/redfence/fsm/reply"

var lockAllRows = []Spec{
	{
		Name: "lock.acquireall", Arity: -5, Flags: Write | DenyOOM | MovableKeys | Blocking, Where: Machine, want: wantLocks,
		Group: "lock", Since: "redfence", Args: "owner ttl-ms numnames name [name ...] [WAIT ms]",
		Summary: "Takes several locks at once, all or none, after a wait if need be: their fencing tokens and the lease, null if others hold one", run: runLockAcquireAll,
	},
	{
		Name: "_takeall", Arity: -5, Flags: Write | MovableKeys, Where: Machine,
		Group: "lock", Since: "redfence", Args: "owner ttl-ms numnames name [name ...] [WAIT ms]",
		Summary: "For the server: takes what was offered to one who waited for several locks", run: runLockTakeAll,
	},
}

// acquisitions is what LOCK.ACQUIREALL asks for.
type acquisitions struct {
	owner, ttl string
	names      []string
	wait       int64
}

// parse reads what can be read without the state.
func (a *acquisitions) parse(args []string) reply.Value {
	n, ok := ParseInt(args[3])
	if !ok {
		return errNotInteger
	}
	if n < 1 || n > LockNamesMax || n > int64(len(args)-4) {
		return errLockNames
	}
	a.owner, a.ttl, a.names = args[1], args[2], args[4:4+n]
	rest := args[4+n:]
	if len(rest) == 0 {
		return reply.Value{}
	}
	if len(rest) != 2 || !is(rest[0], "wait") {
		return errSyntax
	}
	if a.wait, ok = ParseInt(rest[1]); !ok || a.wait < 0 || a.wait > LeaseMillisMax {
		return errLockWait
	}
	return reply.Value{}
}

func wantLocks(args []string) (want, reply.Value) {
	var a acquisitions
	bad := a.parse(args)
	return want{keys: a.names, kind: lockQueue}, bad
}

// each are the acquisitions one by one, or the error for what is wrong with them.
func (a *acquisitions) each(c *call) ([]acquisition, reply.Value) {
	if bad := c.lockNames(a.owner, a.names...); bad.IsError() {
		return nil, bad
	}
	ttl, bad := c.lockMillis(a.ttl)
	if bad.IsError() {
		return nil, bad
	}
	all := make([]acquisition, len(a.names))
	for i, name := range a.names {
		all[i] = acquisition{name: name, owner: a.owner, ttl: ttl, delay: -1, deadline: c.s.clock.deadlineAfter(ttl)}
	}
	return all, reply.Value{}
}

func runLockAcquireAll(c *call) reply.Value {
	var a acquisitions
	if bad := a.parse(c.args); bad.IsError() {
		return bad
	}
	all, bad := a.each(c)
	if bad.IsError() {
		return bad
	}
	v := c.acquireAll(all)
	if v.IsNull() && a.wait > 0 && c.ticket != 0 && c.origin != nil {
		w, _ := wantLocks(c.args)
		return c.waitFor(w)
	}
	return v
}

// acquireAll takes the locks one after the other, in one entry: when one is not to
// be had, those taken before it are as they were.
func (c *call) acquireAll(all []acquisition) reply.Value {
	start := c.s.mark()
	tokens, end := make([]reply.Value, len(all)), int64(never)
	for i := range all {
		r, bad := c.acquire(&all[i])
		if bad.IsError() || r == nil {
			c.s.undoTo(start)
			if bad.IsError() {
				return bad
			}
			return reply.NullArray
		}
		tokens[i] = reply.Integer(int64(r.token))
		end = min(end, c.s.endOf(r))
	}
	return reply.List(reply.List(tokens...), reply.Integer(c.answered(end)))
}

// offerAll offers a waiter all of its names together, once it heads the line of
// each and each is to be had. Until then a free name stays reserved for it: the
// others in its line are behind it.
func (s *State) offerAll(w *waiter) bool {
	for _, name := range w.want.keys {
		if _, first, _ := s.waiters.queues[queueID{place{w.db.order, name}, lockQueue}].Min(); first != w {
			return false
		}
		// What is overdue goes first, for good: the attempt below may be undone.
		if r, ok := w.db.keys.Get(name); ok && s.gone(r) {
			s.endDue(w.db, r)
		} else if _, several := holdingsOf(r); ok && several {
			s.endHoldings(w.db, r)
		}
	}
	c := call{
		s: s, db: w.db, client: &w.client, spec: byName["lock.acquireall"], args: w.args,
		now: s.clock.now, wall: s.clock.wall, most: KeysStepsMax,
	}
	start, served := s.mark(), false
	v := c.guarded(func(c *call) (bad reply.Value) {
		served, bad = c.offerEach()
		return bad
	})
	s.spent += int64(c.walked + callCost*len(w.want.keys))
	if v.IsError() || !served {
		s.undoTo(start)
	}
	switch {
	case v.IsError():
		s.wake(w, Answer{Value: v})
	case served:
		s.wake(w, Answer{Value: Offered})
	}
	s.undo = s.undo[:0]
	return v.IsError() || served
}

// offerEach offers the names of the command at hand until one is not to be had.
func (c *call) offerEach() (served bool, bad reply.Value) {
	var a acquisitions
	if bad := a.parse(c.args); bad.IsError() {
		return false, bad
	}
	all, bad := a.each(c)
	if bad.IsError() {
		return false, bad
	}
	for i := range all {
		all[i].offer = true
		r, bad := c.acquire(&all[i])
		if r == nil {
			return false, bad
		}
	}
	return true, reply.Value{}
}

// runLockTakeAll grants what was offered. If a part of it is lost, the rest is
// passed on.
func runLockTakeAll(c *call) reply.Value {
	var a acquisitions
	if bad := a.parse(c.args); bad.IsError() {
		return bad
	}
	all, bad := a.each(c)
	if bad.IsError() {
		return bad
	}
	v := reply.NullArray
	if c.hasEach(&a) {
		v = c.acquireAll(all)
	}
	if !v.IsNull() && !v.IsError() {
		return v
	}
	for _, name := range a.names {
		c.passOn(c.own(name), a.owner)
	}
	if v.IsError() {
		return v
	}
	return errOfferLost
}

// hasEach says whether an owner holds or is offered each of the names.
func (c *call) hasEach(a *acquisitions) bool {
	for _, name := range a.names {
		own := c.own(name)
		if !c.hasOrIsOffered(own, a.owner) {
			return false
		}
	}
	return true
}
