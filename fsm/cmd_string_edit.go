package fsm

import (
	"math"
	"strconv"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that change a part of a string or count with it. They read and write
// this side's record and keep the end of its lease.

var stringEditRows = []Spec{
	{
		Name: "append", Arity: 3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "2.0.0", Args: "key value", Summary: "Append a value to a key", run: runAppend,
	},
	{
		Name: "setrange", Arity: 4, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "2.2.0", Args: "key offset value", Summary: "Overwrite part of a string at key starting at the specified offset", run: runSetRange,
	},
	{
		Name: "incr", Arity: 2, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key", Summary: "Increment the integer value of a key by one", run: runIncr,
	},
	{
		Name: "decr", Arity: 2, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key", Summary: "Decrement the integer value of a key by one", run: runDecr,
	},
	{
		Name: "incrby", Arity: 3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key increment", Summary: "Increment the integer value of a key by the given amount", run: runIncrBy,
	},
	{
		Name: "decrby", Arity: 3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key decrement", Summary: "Decrement the integer value of a key by the given number", run: runDecrBy,
	},
	{
		Name: "incrbyfloat", Arity: 3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "2.6.0", Args: "key increment", Summary: "Increment the float value of a key by the given amount", run: runIncrByFloat,
	},
}

// strOf and endOf read a record that may not be there.
func strOf(r *record, missing string) string {
	if r == nil {
		return missing
	}
	return r.str
}

func (c *call) endOf(r *record) int64 {
	if r == nil {
		return never
	}
	return c.s.endOf(r)
}

func runAppend(c *call) reply.Value {
	key := c.args[1]
	old, bad := c.ownString(key)
	if bad.IsError() {
		return bad
	}
	head := strOf(old, "")
	if bad := tooLong(key, len(head)+len(c.args[2])); bad.IsError() {
		return bad
	}
	c.store(key, head+c.args[2], c.endOf(old), "append")
	return reply.Integer(int64(len(head) + len(c.args[2])))
}

func runSetRange(c *call) reply.Value {
	key, part := c.args[1], c.args[3]
	offset, ok := ParseInt(c.args[2])
	if !ok {
		return errNotInteger
	}
	if offset < 0 {
		return errOffset
	}
	old, bad := c.ownString(key)
	if bad.IsError() {
		return bad
	}
	text := strOf(old, "")
	if part == "" {
		return reply.Integer(int64(len(text)))
	}
	if offset > ValueMax {
		return errValueTooLong
	}
	if bad := tooLong(key, int(offset)+len(part)); bad.IsError() {
		return bad
	}
	b := make([]byte, max(len(text), int(offset)+len(part)))
	copy(b, text)
	copy(b[offset:], part)
	c.store(key, string(b), c.endOf(old), "setrange")
	return reply.Integer(int64(len(b)))
}

func runIncr(c *call) reply.Value { return c.add(1) }
func runDecr(c *call) reply.Value { return c.add(-1) }

func runIncrBy(c *call) reply.Value {
	n, ok := ParseInt(c.args[2])
	if !ok {
		return errNotInteger
	}
	return c.add(n)
}

func runDecrBy(c *call) reply.Value {
	n, ok := ParseInt(c.args[2])
	if !ok {
		return errNotInteger
	}
	if n == math.MinInt64 {
		return errDecrOverflow
	}
	return c.add(-n)
}

// add adds n to the integer that the key holds, 0 if it holds nothing.
func (c *call) add(n int64) reply.Value {
	key := c.args[1]
	old, bad := c.ownString(key)
	if bad.IsError() {
		return bad
	}
	value, ok := ParseInt(strOf(old, "0"))
	if !ok {
		return errNotInteger
	}
	if n < 0 && value < math.MinInt64-n || n > 0 && value > math.MaxInt64-n {
		return errOverflow
	}
	if bad := tooLong(key, 0); bad.IsError() {
		return bad
	}
	value += n
	c.store(key, strconv.FormatInt(value, 10), c.endOf(old), "incrby")
	return reply.Integer(value)
}

func runIncrByFloat(c *call) reply.Value {
	key := c.args[1]
	old, bad := c.ownString(key)
	if bad.IsError() {
		return bad
	}
	value, ok1 := parseLongDouble(strOf(old, "0"))
	n, ok2 := parseLongDouble(c.args[2])
	if !ok1 || !ok2 {
		return errNotFloat
	}
	sum, ok := addLongDouble(value, n)
	if !ok {
		return errNaN
	}
	if bad := tooLong(key, 0); bad.IsError() {
		return bad
	}
	text := formatLongDouble(sum)
	c.spend(len(text)) // numbers of thousands of digits take their time
	c.store(key, text, c.endOf(old), "incrbyfloat")
	return reply.String(text)
}
