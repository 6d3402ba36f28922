package fsm

import (
	"math"

	"github.com/redfence/redfence/fsm/reply"
)

var expireRows = []Spec{
	{
		Name: "expire", Arity: -3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key seconds [NX | XX | GT | LT]", Summary: "Set a key's time to live in seconds",
		run: func(c *call) reply.Value { return c.expire(inSeconds) },
	},
	{
		Name: "pexpire", Arity: -3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "2.6.0", Args: "key milliseconds [NX | XX | GT | LT]", Summary: "Set a key's time to live in milliseconds",
		run: func(c *call) reply.Value { return c.expire(inMillis) },
	},
	{
		Name: "expireat", Arity: -3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "1.2.0", Args: "key unix-seconds [NX | XX | GT | LT]", Summary: "Set the expiration for a key as a UNIX timestamp",
		run: func(c *call) reply.Value { return c.expire(atSeconds) },
	},
	{
		Name: "pexpireat", Arity: -3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "2.6.0", Args: "key unix-milliseconds [NX | XX | GT | LT]", Summary: "Set the expiration for a key as a UNIX timestamp specified in milliseconds",
		run: func(c *call) reply.Value { return c.expire(atMillis) },
	},
	{
		Name: "ttl", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key", Summary: "Get the time to live for a key in seconds",
		run: func(c *call) reply.Value { return c.timeLeft(inSeconds) },
	},
	{
		Name: "pttl", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "2.6.0", Args: "key", Summary: "Get the time to live for a key in milliseconds",
		run: func(c *call) reply.Value { return c.timeLeft(inMillis) },
	},
	{
		Name: "expiretime", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "7.0.0", Args: "key", Summary: "Get the expiration Unix timestamp for a key",
		run: func(c *call) reply.Value { return c.timeLeft(atSeconds) },
	},
	{
		Name: "pexpiretime", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "7.0.0", Args: "key", Summary: "Get the expiration Unix timestamp for a key in milliseconds",
		run: func(c *call) reply.Value { return c.timeLeft(atMillis) },
	},
	{
		Name: "persist", Arity: 2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "2.2.0", Args: "key", Summary: "Remove the expiration from a key", run: runPersist,
	},
}

// expireOptions are the conditions of EXPIRE and its relatives.
type expireOptions struct{ nx, xx, gt, lt bool }

func (o *expireOptions) parse(args []string) reply.Value {
	for _, a := range args {
		switch lower(a) {
		case "nx":
			o.nx = true
		case "xx":
			o.xx = true
		case "gt":
			o.gt = true
		case "lt":
			o.lt = true
		default:
			return errorLine("ERR Unsupported option " + cut(a, len(a)))
		}
	}
	if o.nx && (o.xx || o.gt || o.lt) {
		return reply.Err("ERR NX and XX, GT or LT options at the same time are not compatible")
	}
	if o.gt && o.lt {
		return reply.Err("ERR GT and LT options at the same time are not compatible")
	}
	return reply.Value{}
}

// sameEnd is within how many microseconds two ends of a lease count as one:
// Redis counts milliseconds, and the same wall time asked for twice comes to the
// lease clock with the jitter of two clocks.
const sameEnd = 500

// allow says whether a lease that ends at end may get a new end. No end is later than any.
func (o *expireOptions) allow(end, deadline int64) bool {
	switch {
	case o.nx && end != never,
		o.xx && end == never,
		o.gt && deadline-end < sameEnd,
		o.lt && end != never && end-deadline < sameEnd:
		return false
	}
	return true
}

// expire is EXPIRE in one of its units.
func (c *call) expire(unit expiryUnit) reply.Value {
	var o expireOptions
	if bad := o.parse(c.args[3:]); bad.IsError() {
		return bad
	}
	n, ok := ParseInt(c.args[2])
	if !ok {
		return errNotInteger
	}
	if unit.seconds() {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return c.invalidExpire()
		}
		n *= 1000
	}
	var end lease
	if unit.relative() {
		if n > math.MaxInt64-c.wall/1000 {
			return c.invalidExpire()
		}
		end = c.leaseFor(n)
	} else {
		end = c.leaseUntil(n)
	}
	own := c.own(c.args[1])
	if c.refusedByLock(own) {
		return c.held
	}
	if own == nil || !o.allow(c.s.endOf(own), end.deadline) {
		return reply.Integer(0)
	}
	c.changeLease(own, end)
	return reply.Integer(1)
}

// changeLease gives a record another end of its lease, or none; one that has
// passed removes it.
func (c *call) changeLease(own *record, end lease) {
	switch {
	case end.deadline == never:
		if own.deadline != never {
			c.renew(own, never)
			c.event('g', "persist", own.key)
		}
	case end.deadline <= c.s.clock.now:
		c.remove(own)
	default:
		c.renew(own, end.deadline)
		c.event('g', "expire", own.key)
	}
}

// timeLeft answers what a lease has left, or its end as wall time: -2 for no
// key, -1 for no lease.
func (c *call) timeLeft(unit expiryUnit) reply.Value {
	r := c.find(c.args[1])
	if r == nil {
		return reply.Integer(-2)
	}
	end := c.s.endOf(r)
	if end == never {
		return reply.Integer(-1)
	}
	millis := leftMillis(end, c.now)
	if !unit.relative() {
		millis = c.endsAt(end)
	}
	if unit.seconds() {
		millis = (millis + 500) / 1000
	}
	return reply.Integer(millis)
}

// endsAt is the end of a lease as wall time in milliseconds since 1970, to the
// nearest, so that PEXPIRETIME gives back what PEXPIREAT was given.
func (c *call) endsAt(deadline int64) int64 {
	left := deadline - c.now
	if left > math.MaxInt64-c.wall-500 {
		return math.MaxInt64 / 1000
	}
	return (c.wall + left + 500) / 1000
}

func runPersist(c *call) reply.Value {
	own := c.own(c.args[1])
	if c.refusedByLock(own) {
		return c.held
	}
	if own == nil || own.deadline == never {
		return reply.Integer(0)
	}
	c.changeLease(own, lease{deadline: never})
	return reply.Integer(1)
}
