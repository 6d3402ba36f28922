package fsm

import (
	"math"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that add members to a sorted set and take them out one by one or
// from its ends. cmd_zset_range.go has ranges, cmd_zset_algebra.go combinations.

// zaddOptions are the options of ZADD.
type zaddOptions struct{ nx, xx, gt, lt, ch, incr bool }

// parse reads the options and answers the pairs of score and member after them.
func (o *zaddOptions) parse(args []string) (pairs []string, bad reply.Value) {
	i := 0
options:
	for ; i < len(args); i++ {
		switch lower(args[i]) {
		case "nx":
			o.nx = true
		case "xx":
			o.xx = true
		case "gt":
			o.gt = true
		case "lt":
			o.lt = true
		case "ch":
			o.ch = true
		case "incr":
			o.incr = true
		default:
			break options
		}
	}
	pairs = args[i:]
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		return nil, errSyntax
	case o.nx && o.xx:
		return nil, reply.Err("ERR XX and NX options at the same time are not compatible")
	case o.gt && o.nx, o.lt && o.nx, o.gt && o.lt:
		return nil, reply.Err("ERR GT, LT, and/or NX options at the same time are not compatible")
	case o.incr && len(pairs) > 2:
		return nil, reply.Err("ERR INCR option supports a single increment-element pair")
	}
	return pairs, bad
}

var errScoreNaN = reply.Err("ERR resulting score is not a number (NaN)")

// zchange counts what a ZADD did.
type zchange struct {
	added, updated int64
	score          float64
	done           bool // of INCR: a condition did not forbid it
}

// add gives one member a score, by the options.
func (o *zaddOptions) add(z *zset, member string, score float64, n *zchange) reply.Value {
	old, there := z.score(member)
	if there && o.nx || !there && o.xx {
		return reply.Value{}
	}
	if there && o.incr {
		if score += old; math.IsNaN(score) {
			return errScoreNaN
		}
	}
	if there && (o.gt && score <= old || o.lt && score >= old) {
		return reply.Value{}
	}
	n.done, n.score = true, score
	switch {
	case !there:
		z.set(member, score)
		n.added++
	case score != old:
		z.set(member, score)
		n.updated++
	}
	return reply.Value{}
}

func runZADD(c *call) reply.Value    { return c.zadd(&zaddOptions{}) }
func runZINCRBY(c *call) reply.Value { return c.zadd(&zaddOptions{incr: true}) }

func (c *call) zadd(o *zaddOptions) reply.Value {
	pairs, bad := o.parse(c.args[2:])
	if bad.IsError() {
		return bad
	}
	scores := make([]float64, len(pairs)/2)
	for i := range scores {
		var ok bool
		if scores[i], ok = parseDouble(pairs[2*i]); !ok {
			return errNotFloat
		}
	}
	e, old, bad := editable[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	z, n := changed(old, zsetKind), zchange{}
	for i, score := range scores {
		if bad := c.zaddOne(o, z, pairs[2*i+1], score, &n); bad.IsError() {
			return bad
		}
	}
	if n.added+n.updated > 0 {
		event := "zadd"
		if o.incr {
			event = "zincr"
		}
		if bad := c.keep(e, zsetKind, z, 'z', event); bad.IsError() {
			return bad
		}
	}
	return o.answer(&n)
}

func (c *call) zaddOne(o *zaddOptions, z *zset, member string, score float64, n *zchange) reply.Value {
	if len(member) > ValueMax {
		return errValueTooLong
	}
	c.visit(2)
	c.grow(2*elementCost + len(member))
	return o.add(z, member, score, n)
}

func (o *zaddOptions) answer(n *zchange) reply.Value {
	switch {
	case o.incr && n.done:
		return reply.Float64(n.score)
	case o.incr:
		return reply.Null
	case o.ch:
		return reply.Integer(n.added + n.updated)
	}
	return reply.Integer(n.added)
}

func runZREM(c *call) reply.Value {
	e, old, bad := editable[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.Integer(0)
	}
	z, n := changed(old, zsetKind), int64(0)
	for _, member := range c.args[2:] {
		c.visit(1)
		if z.remove(member) {
			n++
		}
	}
	if n > 0 {
		c.keep(e, zsetKind, z, 'z', "zrem")
	}
	return reply.Integer(n)
}

func runZPOPMIN(c *call) reply.Value { return c.zpop(false) }
func runZPOPMAX(c *call) reply.Value { return c.zpop(true) }

func (c *call) zpop(highest bool) reply.Value {
	if len(c.args) > 3 {
		return errSyntax
	}
	count, counted := int64(1), len(c.args) == 3
	if counted {
		var bad reply.Value
		if count, bad = notNegative(c.args[2]); bad.IsError() {
			return bad
		}
	}
	e, old, bad := editable[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil || count == 0 {
		return reply.List()
	}
	elems := c.scored(c.zpopFrom(e, old, highest, count))
	if counted {
		return reply.Twos(elems...)
	}
	return reply.List(elems...)
}

// zpopFrom takes up to count members out of the sorted set that a key has.
func (c *call) zpopFrom(e edit, old *zset, highest bool, count int64) []zmember {
	z, event := changed(old, zsetKind), "zpopmin"
	if highest {
		event = "zpopmax"
	}
	out := make([]zmember, min(count, int64(old.len())))
	for i := range out {
		if out[i] = z.at(0); highest {
			out[i] = z.at(z.len() - 1)
		}
		z.remove(out[i].member)
	}
	c.keep(e, zsetKind, z, 'z', event)
	return out
}

// scored lists members and scores in turn.
func (c *call) scored(members []zmember) []reply.Value {
	elems := make([]reply.Value, 0, 2*len(members))
	for _, m := range members {
		c.grow(elementBytes)
		elems = append(elems, c.text(m.member), reply.Float64(m.score))
	}
	return elems
}

// couples lists each member with its score.
func (c *call) couples(members []zmember) reply.Value {
	elems := make([]reply.Value, len(members))
	for i, m := range members {
		elems[i] = reply.List(c.text(m.member), reply.Float64(m.score))
	}
	return reply.List(elems...)
}

func runZMPOP(c *call) reply.Value {
	keys, rest, bad := numberedKeys(c.args, 1)
	if bad.IsError() {
		return bad
	}
	if len(rest) == 0 || !is(rest[0], "min") && !is(rest[0], "max") {
		return errSyntax
	}
	count, bad := popCount(rest[1:])
	if bad.IsError() {
		return bad
	}
	for _, key := range keys {
		e, old, bad := editable[*zset](c, key)
		if bad.IsError() {
			return bad
		}
		if old != nil {
			return reply.List(reply.String(key), c.couples(c.zpopFrom(e, old, is(rest[0], "max"), count)))
		}
	}
	return reply.NullArray
}
