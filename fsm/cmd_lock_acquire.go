package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// Locks for those who can send a command of their own. One of a single owner is
// an ordinary string whose value is the owner; one that several hold is of the
// type lock, which only these commands and FLUSH change.

var acquireRows = []Spec{
	{
		Name: "lock.acquire", Arity: -4, Flags: Write | DenyOOM | Blocking, want: wantLock, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name owner ttl-ms [WAIT ms] [SHARED | PERMITS n] [SESSION id] [DELAY ms] [NOTE text]",
		Summary: "Takes a lock, after a wait if need be: its fencing token and its lease, null if others hold it. The present owner gets the same token again", run: runLockAcquire,
	},
	{
		Name: "lock.extend", Arity: 4, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name owner ttl-ms",
		Summary: "Makes the owner's lease end ttl-ms from now: 1, or 0 if it does not hold the lock", run: runLockExtend,
	},
	{
		Name: "lock.release", Arity: 3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name owner",
		Summary: "Lets a lock go: 1, or 0 if the owner does not hold it. Asked again within a minute it answers as it did", run: runLockRelease,
	},
}

// acquisition is what LOCK.ACQUIRE asks for.
type acquisition struct {
	name, owner      string
	ttl              int64 // milliseconds, 0 for the session's
	wait             int64 // milliseconds to wait for, -1 if not given
	offer            bool  // asked for one who waits: it is offered, not granted
	shared           bool
	permits          int64 // 0 for none
	session          *session
	delay            int64 // microseconds, -1 if not given
	note             *string
	deadline         int64 // never if the lease is the session's
	sessionGiven     bool
	sessionID, ttlIn string
}

func (a *acquisition) several() bool { return a.shared || a.permits > 0 }

// parse reads the options, in any order, each once: the error for the client if
// one is wrong.
func (a *acquisition) parse(c *call) reply.Value {
	if bad := a.options(c.args); bad.IsError() {
		return bad
	}
	return a.check(c)
}

// options reads what can be read without the state.
func (a *acquisition) options(args []string) reply.Value {
	a.name, a.owner, a.ttlIn, a.delay, a.wait = args[1], args[2], args[3], -1, -1
	for i := 4; i < len(args); i++ {
		if is(args[i], "shared") && !a.several() {
			a.shared = true
			continue
		}
		if i+1 == len(args) {
			return errSyntax
		}
		if bad := a.option(args[i], args[i+1]); bad.IsError() {
			return bad
		}
		i++
	}
	return reply.Value{}
}

// option reads an option that has a value.
func (a *acquisition) option(word, value string) reply.Value {
	switch {
	case is(word, "wait") && a.wait < 0:
		n, ok := ParseInt(value)
		if !ok || n < 0 || n > LeaseMillisMax {
			return errLockWait
		}
		a.wait = n
	case is(word, "permits") && !a.several():
		n, ok := ParseInt(value)
		if !ok || n < 1 || n > PermitsMax {
			return errPermits
		}
		a.permits = n
	case is(word, "session") && !a.sessionGiven:
		a.sessionGiven, a.sessionID = true, value
	case is(word, "delay") && a.delay < 0:
		n, ok := ParseInt(value)
		if !ok || n < 0 || n > LockDelayMax {
			return errLockDelay
		}
		a.delay = n * 1000
	case is(word, "note") && a.note == nil:
		if len(value) > NoteMax {
			return errNoteTooLong
		}
		a.note = &value
	default:
		return errSyntax
	}
	return reply.Value{}
}

// check reads the lease and looks at what the arguments are together.
func (a *acquisition) check(c *call) reply.Value {
	if bad := c.lockNames(a.owner, a.name); bad.IsError() {
		return bad
	}
	if a.sessionGiven {
		return a.checkSession(c)
	}
	var bad reply.Value
	if a.ttl, bad = c.lockMillis(a.ttlIn); bad.IsError() {
		return bad
	}
	a.deadline = c.s.clock.deadlineAfter(a.ttl)
	return reply.Value{}
}

func (a *acquisition) checkSession(c *call) reply.Value {
	if a.ttlIn != "0" {
		return errSessionTTL
	}
	var bad reply.Value
	a.session, bad = c.session(a.sessionID)
	a.deadline = never
	return bad
}

// lockNames checks an owner and names that native commands are given.
func (c *call) lockNames(owner string, names ...string) reply.Value {
	if c.db.space != SharedSpace {
		return errLockOnSeat
	}
	if owner == "" {
		return errNoOwner
	}
	if len(owner) > OwnerMax {
		return errOwnerTooLong
	}
	for _, name := range names {
		if bad := tooLong(name, 0); bad.IsError() {
			return bad
		}
	}
	return reply.Value{}
}

// lockMillis reads the lease of a native lock or a session.
func (c *call) lockMillis(text string) (int64, reply.Value) {
	n, ok := ParseInt(text)
	if !ok {
		return 0, errNotInteger
	}
	if n <= 0 || n > LeaseMillisMax {
		return 0, c.invalidExpire()
	}
	return n, reply.Value{}
}

// agreed are the terms of a grant, or of one asked for again, which keeps what
// is not named anew.
func (a *acquisition) agreed(before *terms) *terms {
	t := terms{session: before.sessionID(), delay: before.delayMicros(), note: before.noteText()}
	if a.session != nil {
		t.session = a.session.id
	}
	if a.delay >= 0 {
		t.delay = a.delay
	}
	if a.note != nil {
		t.note = strings.Clone(*a.note)
	}
	return t.orNil()
}

// sameSession says whether the one who holds a lock asks for it with the session
// that it has it by: with another one its lease might end early.
func (a *acquisition) sameSession(t *terms) bool {
	if a.session == nil {
		return t.sessionID() == 0
	}
	return t.sessionID() == a.session.id
}

// full says whether the session can't have another lock.
func (a *acquisition) full(c *call) bool {
	if a.session == nil {
		return false
	}
	x, ok := c.s.sessions.find(a.session.id)
	return ok && x.locks >= SessionLocksMax
}

func runLockAcquire(c *call) reply.Value {
	var a acquisition
	if bad := a.parse(c); bad.IsError() {
		return bad
	}
	r, bad := c.acquire(&a)
	switch {
	case bad.IsError():
		return bad
	case r == nil && a.wait > 0 && c.ticket != 0 && c.origin != nil:
		w, _ := wantLock(c.args)
		return c.waitFor(w)
	case r == nil:
		return reply.NullArray
	}
	return c.grantOfLock(&a, r)
}

// grantOfLock answers the one who asked with its token and lease.
func (c *call) grantOfLock(a *acquisition, r *record) reply.Value {
	token, end := r.token, c.s.endOf(r)
	if h, several := holdingsOf(r); several {
		x, _ := h.owners.Get(a.owner)
		token, end = x.token, c.s.endOfHolding(x)
	}
	return reply.List(reply.Integer(int64(token)), reply.Integer(c.answered(end)))
}

// answered is the lease that a grant is answered with, noted so that the node
// doesn't answer it once it has run out.
func (c *call) answered(end int64) int64 {
	if end == never {
		return -1
	}
	left := leftMillis(end, c.s.clock.now)
	c.granted(left)
	return left
}

// acquire grants a lock: nil if others hold it.
func (c *call) acquire(a *acquisition) (*record, reply.Value) {
	own := c.own(a.name)
	if _, several := holdingsOf(own); several {
		return c.acquireSeveral(a, own)
	}
	if own != nil {
		return c.acquireHeld(a, own)
	}
	if c.find(a.name) != nil || !a.offer && c.awaited(a.name) {
		return nil, reply.Value{}
	}
	if a.full(c) {
		return nil, errSessionFull
	}
	// What is past its end and waits to be ended goes first: its sessions and
	// holders are not the new grant's.
	if r, ok := c.db.keys.Get(a.name); ok {
		c.visit(c.s.endDue(c.db, r))
	}
	if a.several() || a.offer {
		h := newHoldings(a.permits)
		h.whole = !a.several()
		return c.joinHolders(a, nil, h)
	}
	return c.grantWhole(a), reply.Value{}
}

// grantWhole makes the one who asks the only owner of a free name.
func (c *call) grantWhole(a *acquisition) *record {
	rec := &record{
		key: strings.Clone(a.name), str: strings.Clone(a.owner), kind: stringKind,
		deadline: a.deadline, terms: a.agreed(nil),
	}
	c.put(rec)
	c.event('n', "new", a.name)
	c.event('$', "set", a.name)
	if a.deadline != never {
		c.event('g', "expire", a.name)
	}
	c.event(lockClass, "lock.grant", a.name)
	return rec
}

// acquireHeld is asking for a lock that one owner has: if it is the one who asks,
// it is answered as it was, and its lease is at least as long as it asks.
func (c *call) acquireHeld(a *acquisition, own *record) (*record, reply.Value) {
	switch {
	case !isString(own) || own.str != a.owner:
		return nil, reply.Value{}
	case a.several():
		return nil, errOtherMode
	case !a.sameSession(own.terms):
		return nil, errOtherSession
	}
	if a.offer {
		return own, reply.Value{} // it will ask again itself
	}
	fresh := *own
	fresh.deadline, fresh.terms = max(own.deadline, a.deadline), a.agreed(own.terms)
	c.s.putNew(c.db, &fresh)
	if fresh.deadline != own.deadline {
		c.event('g', "expire", a.name)
	}
	return &fresh, reply.Value{}
}

// acquireSeveral is asking for a lock that several hold, or for a name in its delay.
func (c *call) acquireSeveral(a *acquisition, own *record) (*record, reply.Value) {
	c.visit(c.s.endHoldings(c.db, own))
	if own = c.own(a.name); own == nil {
		return c.acquire(a)
	}
	h, several := holdingsOf(own)
	if !several {
		return c.acquire(a)
	}
	x, holds := h.owners.Get(a.owner)
	switch {
	case h.len() == 0, h.whole && !holds:
		return nil, reply.Value{}
	case holds && (a.offer || x.offered):
		return c.acquireOffered(a, own, h, x)
	case !a.several() && holds:
		return nil, errOtherMode
	case !a.several():
		return nil, reply.Value{}
	case a.permits != h.permits:
		return nil, c.otherPermits(h)
	case holds && !a.sameSession(x.terms):
		return nil, errOtherSession
	case holds:
		return c.rejoin(a, own, h, x)
	case !a.offer && c.awaited(a.name):
		return nil, reply.Value{}
	case h.delayed > c.s.clock.now, h.permits > 0 && int64(h.len()) >= h.permits:
		return nil, reply.Value{}
	case a.full(c):
		return nil, errSessionFull
	case h.len() >= HoldersMax:
		return nil, errHoldersMax
	}
	return c.joinHolders(a, own, h)
}

func (c *call) otherPermits(h *holdings) reply.Value {
	if h.permits == 0 {
		return errHeldAsShared
	}
	return errHeldAsPermits
}

// joinHolders makes the one who asks a holder; own is nil for the first.
func (c *call) joinHolders(a *acquisition, own *record, h *holdings) (*record, reply.Value) {
	x := &holding{
		owner: strings.Clone(a.owner), since: c.s.clock.now,
		deadline: a.deadline, terms: a.agreed(nil), holder: c.s.holderOf(c.client),
	}
	if a.offer {
		x.offered, x.deadline = true, c.s.clock.now+OfferKept
	} else {
		c.s.tokens++
		x.token = c.s.tokens
		c.s.forgetRelease(c.db, a.name, a.owner)
	}
	before, _ := h.owners.Get(a.owner) // an offer that is taken
	h = h.copy()
	h.put(x)
	if own != nil {
		c.s.putHoldings(c.db, own, h, before, x)
	} else {
		c.s.putNew(c.db, &record{
			key: strings.Clone(a.name), kind: lockKind, obj: h, deadline: h.lastEnd(),
			token: x.token, since: x.since, holder: x.holder,
		})
		c.event('n', "new", a.name)
	}
	if !a.offer {
		c.s.nativeEvent(c.db, "grant", a.name, a.owner, x.token)
	}
	return c.own(a.name), reply.Value{}
}

// rejoin answers a holder that asks again: the same token, and a lease at least
// as long as it asks.
func (c *call) rejoin(a *acquisition, own *record, h *holdings, x *holding) (*record, reply.Value) {
	fresh := *x
	fresh.deadline, fresh.terms = max(x.deadline, a.deadline), a.agreed(x.terms)
	h = h.copy()
	h.put(&fresh)
	c.s.putHoldings(c.db, own, h, x, &fresh)
	c.event(lockClass, "lock.extend", a.name)
	return c.own(a.name), reply.Value{}
}

// holdingOf finds an owner's holding of a lock that several hold, while its
// lease runs.
func (c *call) holdingOf(r *record, owner string) (*holding, bool) {
	h, several := holdingsOf(r)
	if !several {
		return nil, false
	}
	x, ok := h.owners.Get(owner)
	return x, ok && !x.offered && c.s.endOfHolding(x) > c.s.clock.now
}

func runLockExtend(c *call) reply.Value {
	name, owner := c.args[1], c.args[2]
	if c.db.space != SharedSpace {
		return errLockOnSeat
	}
	ttl, bad := c.lockMillis(c.args[3])
	if bad.IsError() {
		return bad
	}
	deadline := c.s.clock.deadlineAfter(ttl)
	own := c.own(name)
	x, ok := c.holdingOf(own, owner)
	switch {
	case ok && x.terms.sessionID() != 0, own != nil && own.str == owner && own.terms.sessionID() != 0:
		return errExtendSession
	case ok:
		fresh := *x
		fresh.deadline = deadline
		h := own.obj.(*holdings).copy()
		h.put(&fresh)
		c.s.putHoldings(c.db, own, h, x, &fresh)
		c.event(lockClass, "lock.extend", name)
	case own != nil && isString(own) && own.str == owner:
		c.renew(own, deadline)
		c.event('g', "expire", name)
	default:
		return reply.Integer(0)
	}
	return reply.Integer(1)
}

// runLockRelease answers 1 again to the one who released last, since its first
// reply may have been lost.
func runLockRelease(c *call) reply.Value {
	name, owner := c.args[1], c.args[2]
	if c.db.space != SharedSpace {
		return errLockOnSeat
	}
	own := c.own(name)
	switch _, ok := c.holdingOf(own, owner); {
	case c.passOn(own, owner): // asked again it is answered alike, too
	case ok:
		c.s.endHolding(c.db, own, owner, false)
	case own != nil && isString(own) && own.str == owner:
		c.remove(own)
		c.event(lockClass, "lock.release", name)
	default:
		return reply.Truth(c.s.released.find(c.db.order, name, owner, c.s.clock.now))
	}
	if len(owner) <= OwnerMax {
		c.s.keepRelease(c.db, name, owner)
	}
	return reply.Integer(1)
}
