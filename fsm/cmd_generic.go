package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands for keys of any type. cmd_generic_move.go has those that move a
// record, cmd_generic_walk.go those that look at many keys.

var genericRows = joinRows(keyRows, objectRows, moveRows, walkRows)

var keyRows = []Spec{
	{
		Name: "del", Arity: -2, Flags: Write, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key [key ...]", Summary: "Delete a key", run: runDel,
	},
	{
		Name: "unlink", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "generic", Since: "4.0.0", Args: "key [key ...]", Summary: "Delete a key, as DEL does", run: runDel,
	},
	{
		Name: "exists", Arity: -2, Flags: Read | Fast, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key [key ...]", Summary: "Determine if a key exists", run: runExists,
	},
	{
		Name: "touch", Arity: -2, Flags: Read | Fast, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "generic", Since: "3.2.1", Args: "key [key ...]", Summary: "Count the keys that exist: access times are not kept", run: runExists,
	},
	{
		Name: "type", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "generic", Since: "1.0.0", Args: "key", Summary: "Determine the type stored at key", run: runType,
	},
}

func runDel(c *call) reply.Value {
	n := int64(0)
	for _, key := range c.args[1:] {
		if r := c.own(key); r != nil {
			if c.passOnWhole(r) {
				n++
				continue
			}
			c.remove(r)
			n++
		}
	}
	return reply.Integer(n)
}

func runExists(c *call) reply.Value {
	n := int64(0)
	for _, key := range c.args[1:] {
		if c.find(key) != nil {
			n++
		}
	}
	return reply.Integer(n)
}

func runType(c *call) reply.Value {
	r := c.find(c.args[1])
	if r == nil {
		return reply.Simple("none")
	}
	return reply.Simple(kindNames[r.kind])
}

var objectRows = []Spec{
	{
		Name: "object", Arity: -2, Where: Machine, Group: "generic", Since: "2.2.3", Args: "subcommand key",
		Summary: "A container for object introspection commands", run: runContainer,
	},
	{
		Name: "object|encoding", Arity: 3, Flags: Read, Where: Machine, First: 2, Last: 2, Step: 1,
		Group: "generic", Since: "2.2.3", Args: "key", Summary: "How Redis would store the value", run: runObjectEncoding,
	},
	{
		Name: "object|refcount", Arity: 3, Flags: Read, Where: Machine, First: 2, Last: 2, Step: 1,
		Group: "generic", Since: "2.2.3", Args: "key", Summary: "1: values are not shared", run: runObjectRefCount,
	},
	{
		Name: "object|freq", Arity: 3, Flags: Read, Where: Machine, First: 2, Last: 2, Step: 1,
		Group: "generic", Since: "4.0.0", Args: "key", Summary: "Refused: access frequencies are not kept", run: runObjectFreq,
	},
	{
		Name: "object|idletime", Arity: 3, Flags: Read, Where: Machine, First: 2, Last: 2, Step: 1,
		Group: "generic", Since: "2.2.3", Args: "key", Summary: "Refused: access times are not kept", run: runObjectIdleTime,
	},
	{
		Name: "object|help", Arity: 2, Flags: Read, Where: Machine,
		Group: "generic", Since: "6.2.0", Summary: "Show helpful text about the different subcommands", run: runObjectHelp,
	},
}

// runContainer answers a container command of the log that names no subcommand.
// Resolve refuses those before they get there.
func runContainer(c *call) reply.Value { return WrongArity(c.spec.Name) }

// embedMax is the longest string that Redis stores together with its object.
const embedMax = 44

func runObjectEncoding(c *call) reply.Value {
	r := c.find(c.args[2])
	if r == nil {
		return reply.Null
	}
	if r.kind == lockKind {
		return errWrongType
	}
	if r.obj != nil {
		return reply.String(encodingOf(r.obj))
	}
	_, integer := ParseInt(r.str)
	switch {
	case integer:
		return reply.String("int")
	case len(r.str) <= embedMax:
		return reply.String("embstr")
	}
	return reply.String("raw")
}

func runObjectRefCount(c *call) reply.Value {
	if c.find(c.args[2]) == nil {
		return reply.Null
	}
	return reply.Integer(1)
}

func runObjectFreq(c *call) reply.Value {
	if c.find(c.args[2]) == nil {
		return reply.Null
	}
	return reply.Err("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
}

func runObjectIdleTime(c *call) reply.Value {
	if c.find(c.args[2]) == nil {
		return reply.Null
	}
	return reply.Err("ERR access times are not kept, idle time not tracked.")
}

const objectHelp = `OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:
ENCODING <key>
    Return the kind of internal representation used in order to store the value
    associated with a <key>.
FREQ <key>
    Return the access frequency index of the <key>. The returned integer is
    proportional to the logarithm of the recent access frequency of the key.
IDLETIME <key>
    Return the idle time of the <key>, that is the approximated number of
    seconds elapsed since the last access to the key.
REFCOUNT <key>
    Return the number of references of the value associated with the specified
    <key>.
HELP
    Prints this help.`

func runObjectHelp(*call) reply.Value { return helpLines(objectHelp) }

func helpLines(text string) reply.Value {
	lines := strings.Split(text, "\n")
	values := make([]reply.Value, len(lines))
	for i, line := range lines {
		values[i] = reply.Simple(line)
	}
	return reply.List(values...)
}
