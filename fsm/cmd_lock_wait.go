package fsm

import (
	"slices"

	"github.com/redfence/redfence/fsm/reply"
)

// Waiting for a lock: first come, first served. Whatever frees a name offers it
// to the next in the same entry; the node that holds that one's connection takes
// it by another entry, which starts the lease.

var lockWaitRows = []Spec{
	{
		Name: "lock.cancel", Arity: 3, Flags: Write, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name owner",
		Summary: "Ends the waits of an owner for a lock, which are answered null, and passes on what it is offered: 1, or 0 if there was none", run: runLockCancel,
	},
	{
		Name: "_take", Arity: -4, Flags: Write, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name owner ttl-ms [options]",
		Summary: "For the server: takes what was offered to one who waited", run: runLockTake,
	},
}

// lockQueue names the queues of those who wait for locks. No value is of that kind.
const lockQueue valueKind = 255

// Offered is what a wait for a lock is answered: the node takes it by TakeArgs.
// No command answers a client this.
var Offered = reply.Simple("OFFERED")

// IsOffered says whether an answer is Offered.
func IsOffered(a *Answer) bool { return a.Value.Kind == Offered.Kind && a.Value.Str == Offered.Str }

// TakeArgs is the command that takes what was offered to one that waited.
func TakeArgs(args []string) []string {
	if args[0] == "lock.acquireall" {
		return append([]string{"_takeall"}, args[1:]...)
	}
	return append([]string{"_take"}, args[1:]...)
}

// MayWait says whether a command that Resolve found right may wait.
func MayWait(spec *Spec, args []string) bool {
	return spec.Has(Blocking) && (spec.Group != "lock" || lockWait(spec.Name, args) > 0)
}

// lockWait is for how many milliseconds a command for locks waits, 0 if not at all.
func lockWait(name string, args []string) int64 {
	if name == "lock.acquireall" {
		var all acquisitions
		if bad := all.parse(args); bad.IsError() {
			return 0
		}
		return all.wait
	}
	var a acquisition
	if bad := a.options(args); bad.IsError() {
		return 0
	}
	return max(0, a.wait)
}

func wantLock(args []string) (want, reply.Value) {
	var a acquisition
	bad := a.options(args)
	w := want{keys: args[1:2], kind: lockQueue}
	if a.sessionGiven {
		id, _ := ParseInt(a.sessionID)
		w.session = uint64(max(0, id))
	}
	return w, bad
}

// awaited says whether somebody waits for a lock of that name.
func (c *call) awaited(name string) bool {
	ws := &c.s.waiters
	return ws.kinds[lockQueue] > 0 && ws.queues[queueID{place{uint16(c.db.num), name}, lockQueue}] != nil
}

// noteFreed remembers that a name, or a part of it, may be had, if somebody waits.
func (s *State) noteFreed(d *database, name string) {
	ws := &s.waiters
	if ws.kinds[lockQueue] == 0 {
		return
	}
	p := place{uint16(d.num), name} // also when a seat's record ends
	if ws.queues[queueID{p, lockQueue}] != nil && !ws.isFreed[p] {
		ws.freed = append(ws.freed, p)
		ws.isFreed[p] = true
	}
}

// serveLocks offers what may be had to those who wait for it, name by name as
// they were freed, and as far as the entry has room: see serve.
func (s *State) serveLocks() {
	s.endWaits()
	ws, done := &s.waiters, 0
	for ; done < len(ws.freed) && s.servesMore(); done++ {
		p := ws.freed[done]
		delete(ws.isFreed, p)
		for s.servesMore() && s.offerNext(p) {
		}
		if !s.servesMore() && ws.queues[queueID{p, lockQueue}] != nil && !ws.isFreed[p] {
			ws.freed = append(ws.freed, p)
			ws.isFreed[p] = true
		}
	}
	ws.freed = slices.Delete(ws.freed, 0, done)
}

// offerNext offers a name to the first who waits for it. It answers false if
// nobody does, or the first can't have it yet: nobody is served out of turn.
func (s *State) offerNext(p place) bool {
	q := s.waiters.queues[queueID{p, lockQueue}]
	if q == nil {
		return false
	}
	_, w, _ := q.Min()
	if w.args[0] == "lock.acquireall" {
		return s.offerAll(w)
	}
	c := call{
		s: s, db: w.db, client: &w.client, spec: byName["lock.acquire"], args: w.args,
		now: s.clock.now, wall: s.clock.wall, most: KeysStepsMax,
	}
	start, served := s.mark(), false
	v := c.guarded(func(c *call) reply.Value {
		a := acquisition{offer: true}
		if bad := a.parse(c); bad.IsError() {
			return bad
		}
		r, bad := c.acquire(&a)
		served = r != nil
		return bad
	})
	s.countServed(int64(c.walked+callCost), v.Size())
	switch {
	case v.IsError():
		s.undoTo(start)
		s.wake(w, Answer{Value: v})
	case !served:
		return false
	default:
		s.wake(w, Answer{Value: Offered})
	}
	s.undo = s.undo[:0]
	return true
}

// acquireOffered is asking by an owner to whom the lock is offered, or for one
// that holds it and also waited.
func (c *call) acquireOffered(a *acquisition, own *record, h *holdings, x *holding) (*record, reply.Value) {
	switch {
	case h.whole == a.several() || a.permits != h.permits:
		return nil, errOtherMode
	case a.offer:
		return own, reply.Value{}
	case !h.whole:
		return c.joinHolders(a, own, h)
	}
	c.s.drop(c.db, own)
	return c.grantWhole(a), reply.Value{}
}

// runLockTake grants what was offered. Its owner may have taken it by asking
// again meanwhile, and is answered alike.
func runLockTake(c *call) reply.Value {
	var a acquisition
	if bad := a.parse(c); bad.IsError() {
		return bad
	}
	if !c.hasOrIsOffered(c.own(a.name), a.owner) {
		return errOfferLost
	}
	r, bad := c.acquire(&a)
	switch {
	case bad.IsError():
		return bad
	case r == nil:
		return errOfferLost
	}
	return c.grantOfLock(&a, r)
}

// hasOrIsOffered says whether a record is a lock that an owner holds or is offered.
func (c *call) hasOrIsOffered(r *record, owner string) bool {
	h, several := holdingsOf(r)
	if !several {
		return r != nil && isString(r) && r.str == owner
	}
	_, holds := h.owners.Get(owner)
	return holds
}

// ownerOfWait is who the lock is for.
func ownerOfWait(w *waiter) string {
	if w.args[0] == "lock.acquireall" {
		return w.args[1]
	}
	return w.args[2]
}

// passOn ends the offer that an owner has.
func (c *call) passOn(r *record, owner string) bool {
	h, several := holdingsOf(r)
	if !several {
		return false
	}
	x, ok := h.owners.Get(owner)
	if !ok || !x.offered || c.s.endOfHolding(x) <= c.s.clock.now {
		return false
	}
	c.s.endHolding(c.db, r, owner, false)
	return true
}

// passOnWhole ends the offer of a whole name, whoever has it.
func (c *call) passOnWhole(r *record) bool {
	h, several := holdingsOf(r)
	if !several || !h.whole {
		return false
	}
	x, _ := h.ends.Min()
	return c.passOn(r, x.owner)
}

func runLockCancel(c *call) reply.Value {
	name, owner := c.args[1], c.args[2]
	if c.db.space != SharedSpace {
		return errLockOnSeat
	}
	var waits []*waiter
	if q := c.s.waiters.queues[queueID{place{c.db.order, name}, lockQueue}]; q != nil {
		q.Scan(func(_ uint64, w *waiter) bool {
			c.visit(1)
			if ownerOfWait(w) == owner {
				waits = append(waits, w)
			}
			return !c.exhausted()
		})
	}
	if c.exhausted() {
		return errTooFar
	}
	passed := c.passOn(c.own(name), owner)
	for _, w := range waits {
		c.s.endWait(w, reply.NullArray)
	}
	return reply.Truth(passed || len(waits) > 0)
}

// endSessionWaits ends the waits for locks that were to be in a session.
func (s *State) endSessionWaits(id uint64) {
	q := s.waiters.bySession[id]
	if q == nil {
		return
	}
	for _, w := range q.Values() {
		s.endWait(w, errNoSession)
	}
}

// endedWait is a wait that ends once the command at hand has ended well.
type endedWait struct {
	waiter *waiter
	value  reply.Value
}

func (s *State) endWait(w *waiter, v reply.Value) {
	s.waiters.ended = append(s.waiters.ended, endedWait{w, v})
}

// endWaits answers those whose waits the command before has ended.
func (s *State) endWaits() {
	ws := &s.waiters
	for _, e := range ws.ended {
		if w, waits := ws.all.Get(e.waiter.arrival); waits && w == e.waiter {
			s.wake(w, Answer{Value: e.value})
		}
	}
	clear(ws.ended)
	ws.ended = ws.ended[:0]
}

// waitersInfo tells who waits for a lock: how many, and the first of them.
func (c *call) waitersInfo(name string) []reply.Value {
	n, list := 0, []reply.Value{}
	if q := c.s.waiters.queues[queueID{place{uint16(c.db.num), name}, lockQueue}]; q != nil {
		n = q.Len()
		q.Scan(func(_ uint64, w *waiter) bool {
			c.visit(1)
			list = append(list, reply.Pairs(
				reply.String("owner"), reply.String(ownerOfWait(w)),
				reply.String("client-name"), reply.String(w.client.Name),
				reply.String("client-addr"), reply.String(w.client.Addr),
				reply.String("node"), reply.String(w.client.Node),
			))
			return len(list) < WaitersShown && !c.exhausted()
		})
	}
	return []reply.Value{reply.String("waiting"), reply.Integer(int64(n)), reply.String("waiters"), reply.List(list...)}
}
