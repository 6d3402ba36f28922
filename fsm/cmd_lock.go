package fsm

import "github.com/redfence/redfence/fsm/reply"

// What tells about a lock and its fencing token, whoever made it and by which command.

var lockRows = []Spec{
	{
		Name: "lock.token", Arity: -2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "key [value]",
		Summary: "The fencing token of the grant that holds key, if asked only while it has the value; null without one", run: runLockToken,
	},
	{
		Name: "lock.check", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "key token",
		Summary: "1 if the grant with that fencing token still holds key, else 0", run: runLockCheck,
	},
	{
		Name: "lock.info", Arity: 2, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "key",
		Summary: "Who holds key, since when, from where and with what token; null if nobody does", run: runLockInfo,
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
	if value != nil && (r.kind != stringKind || r.str != *value) {
		return r, seats, 0, false
	}
	token, ok = c.tokenOf(r, seats)
	return r, seats, token, ok
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
	_, _, token, held := c.grantOf(c.args[1], nil)
	return reply.Truth(held && token == uint64(n))
}

// runLockInfo answers a map. Redis's "-1 for no lease" holds for pttl.
func runLockInfo(c *call) reply.Value {
	r, seats, token, ok := c.grantOf(c.args[1], nil)
	if r == nil {
		return reply.Null
	}
	through := "shared port"
	if seats {
		through = "seat ports"
	}
	tokenValue := reply.Null
	if ok {
		tokenValue = reply.Integer(int64(token))
	}
	return reply.Pairs(
		reply.String("name"), reply.String(r.key),
		reply.String("type"), reply.String(kindNames[r.kind]),
		reply.String("owner"), ownerOf(r),
		reply.String("token"), tokenValue,
		reply.String("held-ms"), reply.Integer((c.now-r.since)/1000),
		reply.String("pttl"), reply.Integer(c.pttl(r)),
		reply.String("client-name"), reply.String(r.holder.Name),
		reply.String("client-addr"), reply.String(r.holder.Addr),
		reply.String("client-library"), reply.String(r.holder.Library),
		reply.String("node"), reply.String(r.holder.Node),
		reply.String("through"), reply.String(through),
		reply.String("seats"), c.seatVotes(r.key),
	)
}

// ownerOf is who holds a lock by the value of its key; null where the value has
// elements, which may stand for several.
func ownerOf(r *record) reply.Value {
	if !isString(r) {
		return reply.Null
	}
	return reply.String(r.str)
}

func (c *call) pttl(r *record) int64 {
	if r.deadline == never {
		return -1
	}
	return leftMillis(r.deadline, c.now)
}

// seatVotes lists what the seats have under key, one map each for those that
// have something.
func (c *call) seatVotes(key string) reply.Value {
	votes := []reply.Value{}
	for seat := uint8(1); seat <= c.s.cluster.Seats; seat++ {
		r := c.s.get(c.s.db(seat, c.db.num), key)
		if r == nil {
			continue
		}
		votes = append(votes, reply.Pairs(
			reply.String("seat"), reply.Integer(int64(seat)),
			reply.String("owner"), ownerOf(r),
			reply.String("token"), reply.Integer(int64(r.token)),
			reply.String("pttl"), reply.Integer(c.pttl(r)),
		))
	}
	return reply.List(votes...)
}
