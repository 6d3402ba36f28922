package fsm

import "github.com/redfence/redfence/fsm/reply"

// What tells about a lock and its fencing token, whoever made it and by which command.

var lockRows = []Spec{
	{
		Name: "lock.token", Arity: -2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "key [owner]",
		Summary: "The fencing token of the grant that holds key, or of the owner's; null without one", run: runLockToken,
	},
	{
		Name: "lock.check", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "key token",
		Summary: "1 if the grant with that fencing token still holds key, else 0", run: runLockCheck,
	},
}

// tokenOf is the fencing token of the grant that r belongs to. A record of the
// shared port is a grant of its own. On the seats the grant is the majority's;
// without one there is none.
func (c *call) tokenOf(r *record, seats bool) (uint64, bool) {
	if !seats {
		return r.token, true
	}
	if c.s.votes(r, c.db.num) < c.s.majority() || r.grant == 0 {
		return 0, false
	}
	return r.grant, true
}

// grantOf finds the record that holds key's name, behind whichever door, whether
// it is of the seats, and its grant's token, if it is a grant. Every port tells
// the same of a majority of seats. With a value only a record that holds it counts.
func (c *call) grantOf(key string, value *string) (r *record, seats bool, token uint64, ok bool) {
	r, seats = c.holderOf(key)
	if r == nil {
		return nil, false, 0, false
	}
	if h, several := holdingsOf(r); several {
		token, ok = c.holdersToken(r, h, value)
		return r, false, token, ok
	}
	if value != nil && (r.kind != stringKind || r.str != *value) {
		return r, seats, 0, false
	}
	token, ok = c.tokenOf(r, seats)
	return r, seats, token, ok
}

// holdersToken is the token of one holder of a lock that several hold, or the
// highest of them; nobody has one in a delay.
func (c *call) holdersToken(r *record, h *holdings, owner *string) (uint64, bool) {
	if owner == nil {
		token, _, held := h.tokens.Max()
		return token, held
	}
	x, ok := c.holdingOf(r, *owner)
	if !ok {
		return 0, false
	}
	return x.token, true
}

// holderOf is the shared port's record, else the one with a majority of seats,
// else what this seat or the lowest has.
func (c *call) holderOf(key string) (r *record, seats bool) {
	shared := c.s.db(SharedSpace, c.db.num)
	if r = c.s.get(shared, key); r != nil {
		return r, false
	}
	r = c.s.other(shared, key)
	if own := c.own(key); r != nil && own != nil && c.s.votes(r, c.db.num) < c.s.majority() {
		r = own
	}
	return r, true
}

func runLockToken(c *call) reply.Value {
	if len(c.args) > 3 {
		return WrongArity(c.spec.Name)
	}
	var value *string
	if len(c.args) == 3 {
		value = &c.args[2]
	}
	_, _, token, ok := c.grantOf(c.args[1], value)
	if !ok {
		return reply.Null
	}
	return reply.Integer(int64(token))
}

// runLockCheck looks behind both doors: a resource need not know through which
// one its caller got the lock.
func runLockCheck(c *call) reply.Value {
	n, ok := ParseInt(c.args[2])
	if !ok || n < 0 {
		return errNotInteger
	}
	r, _, token, held := c.grantOf(c.args[1], nil)
	if h, several := holdingsOf(r); several {
		x, ok := h.tokens.Get(uint64(n))
		return reply.Truth(ok && c.s.endOfHolding(x) > c.s.clock.now)
	}
	return reply.Truth(held && token == uint64(n))
}
