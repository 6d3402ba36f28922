package fsm

import (
	"math"
	"strconv"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands for hashes that write. cmd_hash_read.go has those that read.

var (
	errHashNotInteger = reply.Err("ERR hash value is not an integer")
	errHashNotFloat   = reply.Err("ERR hash value is not a float")
)

func runHSET(c *call) reply.Value  { return c.hashSet(true) }
func runHMSET(c *call) reply.Value { return c.hashSet(false) }

// hashSet is HSET, which answers how many fields are new, and HMSET, which answers OK.
func (c *call) hashSet(counted bool) reply.Value {
	if len(c.args)%2 != 0 {
		return WrongArity(c.spec.Name)
	}
	e, old, bad := editable[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	h, created := changed(old, hashKind), int64(0)
	for i := 2; i < len(c.args); i += 2 {
		if bad := c.setField(h, c.args[i], c.args[i+1]); bad.IsError() {
			return bad
		}
	}
	created = int64(h.len() - lenOf(old))
	if bad := c.keep(e, hashKind, h, 'h', "hset"); bad.IsError() {
		return bad
	}
	if !counted {
		return reply.OK
	}
	return reply.Integer(created)
}

// lenOf is the number of fields of a hash that may not be there.
func lenOf(h *hash) int {
	if h == nil {
		return 0
	}
	return h.len()
}

// setField sets a field of a clone and charges for it.
func (c *call) setField(h *hash, name, value string) reply.Value {
	if len(name) > ValueMax || len(value) > ValueMax {
		return errValueTooLong
	}
	c.visit(2)
	c.grow(2*elementCost + len(name) + len(value))
	h.set(name, value)
	return reply.Value{}
}

func runHSETNX(c *call) reply.Value {
	e, old, bad := editable[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if _, ok := old.get(c.args[2]); ok {
		return reply.Integer(0)
	}
	return c.hashPut(e, old, c.args[2], c.args[3], "hset", reply.Integer(1))
}

// hashPut sets one field and answers answer.
func (c *call) hashPut(e edit, old *hash, name, value, event string, answer reply.Value) reply.Value {
	h := changed(old, hashKind)
	if bad := c.setField(h, name, value); bad.IsError() {
		return bad
	}
	if bad := c.keep(e, hashKind, h, 'h', event); bad.IsError() {
		return bad
	}
	return answer
}

func runHDEL(c *call) reply.Value {
	e, old, bad := editable[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.Integer(0)
	}
	h, n := changed(old, hashKind), int64(0)
	for _, name := range c.args[2:] {
		c.visit(1)
		if h.remove(name) {
			n++
		}
	}
	if n > 0 {
		c.keep(e, hashKind, h, 'h', "hdel")
	}
	return reply.Integer(n)
}

func runHINCRBY(c *call) reply.Value {
	n, ok := ParseInt(c.args[3])
	if !ok {
		return errNotInteger
	}
	e, old, bad := editable[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	value := int64(0)
	if text, ok := old.get(c.args[2]); ok {
		if value, ok = ParseInt(text); !ok {
			return errHashNotInteger
		}
	}
	if n < 0 && value < math.MinInt64-n || n > 0 && value > math.MaxInt64-n {
		return errOverflow
	}
	value += n
	return c.hashPut(e, old, c.args[2], strconv.FormatInt(value, 10), "hincrby", reply.Integer(value))
}

func runHINCRBYFLOAT(c *call) reply.Value {
	n, ok := parseLongDouble(c.args[3])
	if !ok {
		return errNotFloat
	}
	if n.IsInf() {
		return reply.Err("ERR value is NaN or Infinity")
	}
	e, old, bad := editable[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	text, ok := old.get(c.args[2])
	if !ok {
		text = "0"
	}
	value, ok := parseLongDouble(text)
	if !ok {
		return errHashNotFloat
	}
	sum, ok := addLongDouble(value, n)
	if !ok {
		return errNaN
	}
	text = formatLongDouble(sum)
	c.visit(len(text))
	return c.hashPut(e, old, c.args[2], text, "hincrbyfloat", reply.String(text))
}
