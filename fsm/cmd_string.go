package fsm

import "github.com/redfence/redfence/fsm/reply"

// The commands that read a string or replace it whole. cmd_string_set.go has SET
// and its relatives, cmd_string_edit.go those that change a part.

var stringRows = joinRows(stringReadRows, stringSetRows, stringEditRows)

func joinRows(groups ...[]Spec) []Spec {
	var all []Spec
	for _, rows := range groups {
		all = append(all, rows...)
	}
	return all
}

var stringReadRows = []Spec{
	{
		Name: "get", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key", Summary: "Get the value of a key", run: runGet,
	},
	{
		Name: "mget", Arity: -2, Flags: Read | Fast, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key [key ...]", Summary: "Get the values of all the given keys", run: runMGet,
	},
	{
		Name: "strlen", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "2.2.0", Args: "key", Summary: "Get the length of the value stored in a key", run: runStrLen,
	},
	{
		Name: "getrange", Arity: 4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "2.4.0", Args: "key start end", Summary: "Get a substring of the string stored at a key", run: runGetRange,
	},
	{
		Name: "substr", Arity: 4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "string", Since: "1.0.0", Args: "key start end", Summary: "Get a substring of the string stored at a key", run: runGetRange,
	},
}

func runGet(c *call) reply.Value {
	r, bad := c.foundString(c.args[1])
	switch {
	case bad.IsError():
		return bad
	case r == nil:
		return reply.Null
	}
	return reply.String(r.str)
}

func runMGet(c *call) reply.Value {
	values := make([]reply.Value, len(c.args)-1)
	for i, key := range c.args[1:] {
		if r := c.find(key); r != nil && isString(r) {
			values[i] = reply.String(r.str)
		}
	}
	return reply.List(values...)
}

func runStrLen(c *call) reply.Value {
	r, bad := c.foundString(c.args[1])
	switch {
	case bad.IsError():
		return bad
	case r == nil:
		return reply.Integer(0)
	}
	return reply.Integer(int64(len(r.str)))
}

func runGetRange(c *call) reply.Value {
	start, ok1 := ParseInt(c.args[2])
	end, ok2 := ParseInt(c.args[3])
	if !ok1 || !ok2 {
		return errNotInteger
	}
	r, bad := c.foundString(c.args[1])
	switch {
	case bad.IsError():
		return bad
	case r == nil:
		return reply.String("")
	}
	part := substring(r.str, start, end)
	return reply.String(part)
}

// substring is the bytes of s from start to end, both included; negative ones
// count from the end.
func substring(s string, start, end int64) string {
	n := int64(len(s))
	if start < 0 && end < 0 && start > end {
		return ""
	}
	if start < 0 {
		start = max(0, n+start)
	}
	if end < 0 {
		end = max(0, n+end)
	}
	end = min(end, n-1)
	if start > end || n == 0 {
		return ""
	}
	return s[start : end+1]
}
