package fsm

import (
	"github.com/redfence/redfence/fsm/reply"
)

var stringSetRows = []Spec{
	{
		Name: "set", Arity: -3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Summary: "Set the string value of a key", run: runSet,
		Args: "key value [NX | XX | IFEQ value] [GET] [EX seconds | PX milliseconds | EXAT unix-seconds | PXAT unix-milliseconds | KEEPTTL]",
	},
	{
		Name: "setnx", Arity: 3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key value", Summary: "Set the value of a key, only if the key does not exist", run: runSetNX,
	},
	{
		Name: "setex", Arity: 4, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "2.0.0", Args: "key seconds value", Summary: "Set the value and expiration of a key", run: runSetEx,
	},
	{
		Name: "psetex", Arity: 4, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "2.6.0", Args: "key milliseconds value", Summary: "Set the value and expiration in milliseconds of a key", run: runPSetEx,
	},
	{
		Name: "getset", Arity: 3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key value", Summary: "Set the string value of a key and return its old value", run: runGetSet,
	},
	{
		Name: "getdel", Arity: 2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "6.2.0", Args: "key", Summary: "Get the value of a key and delete the key", run: runGetDel,
	},
	{
		Name: "getex", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "6.2.0", Summary: "Get the value of a key and optionally set its expiration", run: runGetEx,
		Args: "key [EX seconds | PX milliseconds | EXAT unix-seconds | PXAT unix-milliseconds | PERSIST]",
	},
	{
		Name: "mset", Arity: -3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: -1, Step: 2,
		Group: "string", Since: "1.0.1", Args: "key value [key value ...]", Summary: "Set multiple keys to multiple values", run: runMSet,
	},
	{
		Name: "msetnx", Arity: -3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: -1, Step: 2,
		Group: "string", Since: "1.0.1", Args: "key value [key value ...]", Summary: "Set multiple keys to multiple values, only if none of the keys exist", run: runMSetNX,
	},
	{
		Name: "delex", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "8.4.0", Args: "key [IFEQ value]", Summary: "Delete a key, if asked only while it has a value", run: runDelEx,
	},
}

// setOptions are the options of SET and GETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	ifEq                          *string
	unit                          expiryUnit
	expiry                        string
}

// parseSet reads the options of SET: false for a syntax error.
func (o *setOptions) parseSet(args []string) bool {
	for i := 0; i < len(args); i++ {
		opt := args[i]
		switch conditional := o.nx || o.xx || o.ifEq != nil; {
		case is(opt, "nx") && !o.xx && o.ifEq == nil:
			o.nx = true
		case is(opt, "xx") && !o.nx && o.ifEq == nil:
			o.xx = true
		case is(opt, "ifeq") && !conditional && i+1 < len(args):
			i++
			o.ifEq = &args[i]
		case is(opt, "get"):
			o.get = true
		case is(opt, "keepttl") && o.unit == noExpiry:
			o.keepTTL = true
		default:
			if o.keepTTL || !o.parseExpiry(args, &i) {
				return false
			}
		}
	}
	return true
}

// parseGetEx reads the options of GETEX: false for a syntax error.
func (o *setOptions) parseGetEx(args []string) bool {
	for i := 0; i < len(args); i++ {
		if is(args[i], "persist") && o.unit == noExpiry {
			o.persist = true
		} else if o.persist || !o.parseExpiry(args, &i) {
			return false
		}
	}
	return true
}

// parseExpiry reads EX, PX, EXAT or PXAT at args[*i]. The same one twice is no
// clash, as in Redis: the last counts.
func (o *setOptions) parseExpiry(args []string, i *int) bool {
	unit := expiryUnits[lower(args[*i])]
	if unit == noExpiry || *i+1 >= len(args) || o.unit != noExpiry && o.unit != unit {
		return false
	}
	*i++
	o.unit, o.expiry = unit, args[*i]
	return true
}

func runSet(c *call) reply.Value {
	key, value := c.args[1], c.args[2]
	var o setOptions
	if !o.parseSet(c.args[3:]) {
		return errSyntax
	}
	end := lease{deadline: never}
	if o.unit != noExpiry {
		var bad reply.Value
		if end, bad = c.lease(o.unit, o.expiry); bad.IsError() {
			return bad
		}
	}
	if bad := tooLong(key, len(value)); bad.IsError() {
		return bad
	}
	done, refused := reply.OK, reply.Null
	if o.get {
		old := runGet(c)
		if old.IsError() {
			return old
		}
		done, refused = old, old
	}
	own := c.own(key)
	if ok, bad := c.permits(&o, own); bad.IsError() {
		return bad
	} else if !ok {
		return refused
	}
	if o.keepTTL && own != nil {
		end.deadline = c.s.endOf(own)
	}
	if end.deadline <= c.s.clock.now {
		c.storePast(key, own)
		return done
	}
	c.store(key, value, end.deadline, "set")
	if o.unit != noExpiry {
		c.event('g', "expire", key)
		if o.nx {
			c.granted(max(1, end.millis))
		}
	}
	return done
}

// storePast is a SET whose lease has ended before it began: the key is gone
// after it, and nobody was granted anything.
func (c *call) storePast(key string, own *record) {
	if c.refusedByOther(key) {
		return
	}
	if own != nil {
		c.drop(own)
	} else {
		c.s.removedAt(c.db, key) // it came and went: WATCH must notice
		c.event('n', "new", key)
	}
	c.event('$', "set", key)
	c.event('g', "expire", key)
	c.event('x', "expired", key)
}

// permits says whether SET's condition holds. What forbids looks at both kinds
// of port, what permits only at this side's record.
func (c *call) permits(o *setOptions, own *record) (bool, reply.Value) {
	switch {
	case o.nx:
		r := c.find(c.args[1])
		c.noteQuorumAsked(r, c.args[2])
		return r == nil && !c.awaited(c.args[1]), reply.Value{}
	case o.xx:
		return own != nil, reply.Value{}
	case o.ifEq == nil:
		return true, reply.Value{}
	case own == nil:
		return false, reply.Value{}
	case !isString(own):
		return false, errWrongType
	}
	return own.str == *o.ifEq, reply.Value{}
}

func runSetNX(c *call) reply.Value {
	key, value := c.args[1], c.args[2]
	if bad := tooLong(key, len(value)); bad.IsError() {
		return bad
	}
	if r := c.find(key); r != nil || c.awaited(key) {
		c.noteQuorumAsked(r, value)
		return reply.Integer(0)
	}
	c.store(key, value, never, "set")
	return reply.Integer(1)
}

func runSetEx(c *call) reply.Value  { return c.setFor(inSeconds) }
func runPSetEx(c *call) reply.Value { return c.setFor(inMillis) }

func (c *call) setFor(unit expiryUnit) reply.Value {
	key, value := c.args[1], c.args[3]
	end, bad := c.lease(unit, c.args[2])
	if bad.IsError() {
		return bad
	}
	if bad := tooLong(key, len(value)); bad.IsError() {
		return bad
	}
	c.store(key, value, end.deadline, "set")
	c.event('g', "expire", key)
	return reply.OK
}

func runGetSet(c *call) reply.Value {
	key, value := c.args[1], c.args[2]
	if bad := tooLong(key, len(value)); bad.IsError() {
		return bad
	}
	old, bad := c.ownString(key)
	if bad.IsError() {
		return bad
	}
	c.store(key, value, never, "set")
	return stringOrNull(old)
}

func runGetDel(c *call) reply.Value {
	old, bad := c.ownString(c.args[1])
	if bad.IsError() {
		return bad
	}
	if old != nil {
		c.remove(old)
	}
	return stringOrNull(old)
}

func stringOrNull(r *record) reply.Value {
	if r == nil {
		return reply.Null
	}
	return reply.String(r.str)
}

func runGetEx(c *call) reply.Value {
	var o setOptions
	if !o.parseGetEx(c.args[2:]) {
		return errSyntax
	}
	found, bad := c.foundString(c.args[1])
	if bad.IsError() || found == nil {
		return bad // the zero Value is null
	}
	end := lease{deadline: never}
	if o.unit != noExpiry {
		if end, bad = c.lease(o.unit, o.expiry); bad.IsError() {
			return bad
		}
	}
	// The lease of the other side's record is not this command's to change.
	if own := c.own(found.key); own != nil && (o.persist || o.unit != noExpiry) {
		c.changeLease(own, end)
	}
	return stringOrNull(found)
}

func runMSet(c *call) reply.Value {
	if bad := c.checkPairs(); bad.IsError() {
		return bad
	}
	for i := 1; i < len(c.args); i += 2 {
		c.store(c.args[i], c.args[i+1], never, "set")
	}
	return reply.OK
}

func runMSetNX(c *call) reply.Value {
	if bad := c.checkPairs(); bad.IsError() {
		return bad
	}
	for i := 1; i < len(c.args); i += 2 {
		if c.find(c.args[i]) != nil || c.awaited(c.args[i]) {
			return reply.Integer(0)
		}
	}
	for i := 1; i < len(c.args); i += 2 {
		c.store(c.args[i], c.args[i+1], never, "set")
	}
	return reply.Integer(1)
}

// checkPairs checks all of MSET's arguments before any is used.
func (c *call) checkPairs() reply.Value {
	if len(c.args)%2 == 0 {
		return WrongArity(c.spec.Name)
	}
	for i := 1; i < len(c.args); i += 2 {
		if bad := tooLong(c.args[i], len(c.args[i+1])); bad.IsError() {
			return bad
		}
	}
	return reply.Value{}
}

func runDelEx(c *call) reply.Value {
	conditional := len(c.args) > 2
	if conditional && len(c.args) != 4 {
		return WrongArity(c.spec.Name)
	}
	if conditional && !is(c.args[2], "ifeq") {
		return errSyntax
	}
	own := c.own(c.args[1])
	if own == nil {
		return reply.Integer(0)
	}
	if conditional && !isString(own) {
		return errWrongType
	}
	if conditional && own.str != c.args[3] {
		return reply.Integer(0)
	}
	c.remove(own)
	return reply.Integer(1)
}
