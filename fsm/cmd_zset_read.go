package fsm

import (
	"math"
	"strconv"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that read single members of a sorted set, or all. They see both kinds of port.

// count0 is the number of members of a sorted set that may not be there.
func (z *zset) count0() int {
	if z == nil {
		return 0
	}
	return z.len()
}

// scoreOf is a member's score as a reply, null without one.
func (c *call) scoreOf(z *zset, member string) reply.Value {
	c.visit(1)
	score, ok := z.score(member)
	if !ok {
		return reply.Null
	}
	return reply.Float64(score)
}

func runZSCORE(c *call) reply.Value {
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	return c.scoreOf(z, c.args[2])
}

func runZMSCORE(c *call) reply.Value {
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	elems := make([]reply.Value, len(c.args)-2)
	for i, member := range c.args[2:] {
		elems[i] = c.scoreOf(z, member)
	}
	return reply.List(elems...)
}

func runZCARD(c *call) reply.Value {
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	return reply.Integer(int64(z.count0()))
}

func runZRANK(c *call) reply.Value    { return c.rankOf(false) }
func runZREVRANK(c *call) reply.Value { return c.rankOf(true) }

func (c *call) rankOf(reverse bool) reply.Value {
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	score, ok := z.score(c.args[2])
	if !ok {
		return reply.Null
	}
	rank := z.rank(zmember{score, c.args[2]})
	if reverse {
		rank = z.len() - 1 - rank
	}
	return reply.Integer(int64(rank))
}

func runZSCAN(c *call) reply.Value {
	if _, ok := ParseCursor(c.args[2]); !ok {
		return errCursor
	}
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() || z == nil {
		return emptyScan(bad)
	}
	m, bad := c.elementMatcher(c.args[3:])
	if bad.IsError() {
		return bad
	}
	elems := []reply.Value{}
	z.order.Scan(func(x zmember) bool {
		if m.match(x.member) {
			elems = append(elems, c.text(x.member), c.text(scannedScore(x.score)))
		}
		return !m.spent()
	})
	return scanned(&m, elems)
}

// scannedScore spells a score as a small sorted set of Redis does in ZSCAN:
// integers in full as far as it packs them as such.
func scannedScore(f float64) string {
	if math.Abs(f) <= math.MaxInt64/2 && f == math.Trunc(f) {
		return strconv.FormatInt(int64(f), 10)
	}
	return reply.FormatDouble(f)
}

func runZRANDMEMBER(c *call) reply.Value {
	if len(c.args) == 2 {
		z, bad := found[*zset](c, c.args[1])
		if bad.IsError() || z == nil {
			return bad
		}
		return c.text(z.at(int(c.s.draw() % uint64(z.len()))).member)
	}
	count, with, bad := c.randomCount("withscores")
	if bad.IsError() {
		return bad
	}
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if z == nil || count == 0 {
		return reply.List()
	}
	if count < -ElementsMax {
		return errRange
	}
	var members []zmember
	for _, i := range c.pick(z.len(), count) {
		members = append(members, z.at(i))
	}
	return c.listed(members, with)
}

// listed answers members, with their scores if asked.
func (c *call) listed(members []zmember, with bool) reply.Value {
	if with {
		return reply.Twos(c.scored(members)...)
	}
	elems := make([]reply.Value, len(members))
	for i, m := range members {
		elems[i] = c.text(m.member)
	}
	return reply.List(elems...)
}
