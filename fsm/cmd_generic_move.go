package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that give a record another name or place. What a key gets by them is
// a new grant with a token of its own.

var moveRows = []Spec{
	{
		Name: "rename", Arity: 3, Flags: Write, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key newkey", Summary: "Rename a key", run: runRename,
	},
	{
		Name: "renamenx", Arity: 3, Flags: Write | Fast, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key newkey", Summary: "Rename a key, only if the new key does not exist", run: runRenameNX,
	},
	{
		Name: "copy", Arity: -3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "generic", Since: "6.2.0", Args: "source destination [DB destination-db] [REPLACE]", Summary: "Copy a key", run: runCopy,
	},
	{
		Name: "move", Arity: 3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key db", Summary: "Move a key to another database", run: runMove,
	},
}

// grantAs stores what src holds as another key's, in c.db.
func (c *call) grantAs(src *record, key string) {
	c.grow(len(src.str))
	if src.obj != nil {
		c.grow(int(src.obj.bytes())) // shared until one side changes, but written twice to a snapshot
	}
	fresh := *src
	fresh.key = strings.Clone(key)
	// What a lock had agreed with its owner is not the new name's.
	fresh.deadline, fresh.terms = c.s.endOf(src), nil
	c.put(&fresh)
	c.event('n', "new", key) // also where one was replaced, as Redis has it
}

func runRename(c *call) reply.Value {
	from, to := c.args[1], c.args[2]
	src := c.own(from)
	if c.refusedByLock(src) {
		return c.held
	}
	if src == nil {
		return errNoKey
	}
	if from == to {
		return reply.OK
	}
	if bad := tooLong(to, 0); bad.IsError() {
		return bad
	}
	c.rename(src, to)
	return reply.OK
}

func runRenameNX(c *call) reply.Value {
	from, to := c.args[1], c.args[2]
	src := c.own(from)
	if c.refusedByLock(src) {
		return c.held
	}
	if src == nil {
		return errNoKey
	}
	if bad := tooLong(to, 0); bad.IsError() {
		return bad
	}
	if from == to || c.find(to) != nil {
		return reply.Integer(0)
	}
	c.rename(src, to)
	return reply.Integer(1)
}

func (c *call) rename(src *record, to string) {
	c.grantAs(src, to)
	c.drop(src)
	c.event('g', "rename_from", src.key)
	c.event('g', "rename_to", to)
}

// ParseDatabase reads a database number as a client writes it. The Value is the
// error for one that isn't there.
func ParseDatabase(text string) (uint8, reply.Value) {
	n, ok := ParseInt(text)
	switch {
	case !ok:
		return 0, errNotInteger
	case n != int64(int32(n)):
		return 0, errNotInt32
	case n < 0 || n >= Databases:
		return 0, errDatabase
	}
	return uint8(n), reply.Value{}
}

// database finds a database of the command's own keyspace.
func (c *call) database(text string) (*database, reply.Value) {
	n, bad := ParseDatabase(text)
	if bad.IsError() {
		return nil, bad
	}
	return c.s.db(c.db.space, n), reply.Value{}
}

func runCopy(c *call) reply.Value {
	from, to, target, replace := c.args[1], c.args[2], c.db, false
	for i := 3; i < len(c.args); i++ {
		switch {
		case is(c.args[i], "replace"):
			replace = true
		case is(c.args[i], "db") && i+1 < len(c.args):
			i++
			var bad reply.Value
			if target, bad = c.database(c.args[i]); bad.IsError() {
				return bad
			}
		default:
			return errSyntax
		}
	}
	if target == c.db && from == to {
		return errSameObject
	}
	src := c.own(from)
	if c.refusedByLock(src) {
		return c.held
	}
	if src == nil {
		return reply.Integer(0)
	}
	if bad := tooLong(to, 0); bad.IsError() {
		return bad
	}
	copied := int64(0)
	c.in(target, func() {
		if !replace && c.find(to) != nil {
			return
		}
		c.grantAs(src, to)
		c.event('g', "copy_to", to)
		copied = 1
	})
	return reply.Integer(copied)
}

func runMove(c *call) reply.Value {
	target, bad := c.database(c.args[2])
	if bad.IsError() {
		return bad
	}
	if target == c.db {
		return errSameObject
	}
	src := c.own(c.args[1])
	if c.refusedByLock(src) {
		return c.held
	}
	if src == nil {
		return reply.Integer(0)
	}
	free := true
	c.in(target, func() {
		if free = c.find(src.key) == nil; free {
			c.grantAs(src, src.key)
		}
	})
	if !free {
		return reply.Integer(0)
	}
	c.drop(src)
	c.event('g', "move_from", src.key)
	c.in(target, func() { c.event('g', "move_to", src.key) })
	return reply.Integer(1)
}
