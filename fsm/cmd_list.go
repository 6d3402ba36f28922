package fsm

import (
	"github.com/redfence/redfence/fsm/reply"
)

// Commands that push to lists, pop from them and move between them.
// cmd_list_edit.go has those that work on places, cmd_list_read.go those that read.

var (
	errIndexRange  = reply.Err("ERR index out of range")
	errNotPositive = reply.Err("ERR value is out of range, must be positive")
)

// end is one end of a list.
type end bool

const (
	tail end = false
	head end = true
)

// parseEnd reads LEFT or RIGHT.
func parseEnd(text string) (e end, bad reply.Value) {
	switch {
	case is(text, "left"):
		return head, bad
	case is(text, "right"):
		return tail, bad
	}
	return tail, errSyntax
}

func (e end) pushed() string {
	if e == head {
		return "lpush"
	}
	return "rpush"
}

func (e end) popped() string {
	if e == head {
		return "lpop"
	}
	return "rpop"
}

func runLPUSH(c *call) reply.Value  { return c.push(head, false) }
func runRPUSH(c *call) reply.Value  { return c.push(tail, false) }
func runLPUSHX(c *call) reply.Value { return c.push(head, true) }
func runRPUSHX(c *call) reply.Value { return c.push(tail, true) }

func (c *call) push(at end, onlyThere bool) reply.Value {
	e, old, bad := editable[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil && onlyThere {
		return reply.Integer(0)
	}
	l := changed(old, listKind)
	for _, text := range c.args[2:] {
		if bad := c.pushText(l, text, at); bad.IsError() {
			return bad
		}
	}
	if bad := c.keep(e, listKind, l, 'l', at.pushed()); bad.IsError() {
		return bad
	}
	return reply.Integer(int64(l.len()))
}

// pushText pushes to a clone and charges for it.
func (c *call) pushText(l *list, text string, at end) reply.Value {
	if len(text) > ValueMax {
		return errValueTooLong
	}
	c.visit(1)
	c.grow(elementCost + len(text))
	l.push(text, bool(at))
	return reply.Value{}
}

func runLPOP(c *call) reply.Value { return c.pop(head) }
func runRPOP(c *call) reply.Value { return c.pop(tail) }

func (c *call) pop(at end) reply.Value {
	if len(c.args) > 3 {
		return WrongArity(c.spec.Name)
	}
	count, counted := int64(1), len(c.args) == 3
	if counted {
		var bad reply.Value
		if count, bad = notNegative(c.args[2]); bad.IsError() {
			return bad
		}
	}
	e, old, bad := editable[*list](c, c.args[1])
	switch {
	case bad.IsError():
		return bad
	case old == nil && counted:
		return reply.NullArray
	case old == nil:
		return reply.Null
	case count == 0:
		return reply.List()
	}
	elems := c.popFrom(e, old, at, count)
	if counted {
		return reply.List(elems...)
	}
	return elems[0]
}

// notNegative reads a count of 0 or more.
func notNegative(text string) (int64, reply.Value) {
	n, ok := ParseInt(text)
	if !ok || n < 0 {
		return 0, errNotPositive
	}
	return n, reply.Value{}
}

// atLeastOne reads a count of 1 or more, and answers bad for anything else.
func atLeastOne(text string, bad string) (int64, reply.Value) {
	n, ok := ParseInt(text)
	if !ok || n < 1 {
		return 0, reply.Err(bad)
	}
	return n, reply.Value{}
}

// popFrom takes up to count texts out of the list that a key has.
func (c *call) popFrom(e edit, old *list, at end, count int64) []reply.Value {
	l := changed(old, listKind)
	elems := make([]reply.Value, min(count, int64(l.len())))
	for i := range elems {
		elems[i] = c.text(l.pop(bool(at)))
	}
	c.keep(e, listKind, l, 'l', at.popped())
	return elems
}

func runLMPOP(c *call) reply.Value {
	keys, rest, bad := numberedKeys(c.args, 1)
	if bad.IsError() {
		return bad
	}
	if len(rest) == 0 {
		return errSyntax
	}
	at, bad := parseEnd(rest[0])
	if bad.IsError() {
		return bad
	}
	count, bad := popCount(rest[1:])
	if bad.IsError() {
		return bad
	}
	for _, key := range keys {
		e, old, bad := editable[*list](c, key)
		if bad.IsError() {
			return bad
		}
		if old != nil {
			return reply.List(reply.String(key), reply.List(c.popFrom(e, old, at, count)...))
		}
	}
	return reply.NullArray
}

// numberedKeys splits what follows a number of keys, which is the argument at,
// into the keys and the rest.
func numberedKeys(args []string, at int) (keys, rest []string, bad reply.Value) {
	n, bad := atLeastOne(args[at], "ERR numkeys should be greater than 0")
	if bad.IsError() {
		return nil, nil, bad
	}
	if n > int64(len(args)-at-1) {
		return nil, nil, errSyntax
	}
	return args[at+1 : at+1+int(n)], args[at+1+int(n):], bad
}

// popCount reads the COUNT of LMPOP and ZMPOP.
func popCount(args []string) (int64, reply.Value) {
	switch {
	case len(args) == 0:
		return 1, reply.Value{}
	case !is(args[0], "count") || len(args) == 1:
		return 0, errSyntax
	}
	n, bad := atLeastOne(args[1], "ERR count should be greater than 0")
	if !bad.IsError() && len(args) > 2 {
		return 0, errSyntax
	}
	return n, bad
}

func runRPOPLPUSH(c *call) reply.Value { return c.moveBetween(tail, head) }

func runLMOVE(c *call) reply.Value {
	from, bad := parseEnd(c.args[3])
	if bad.IsError() {
		return bad
	}
	to, bad := parseEnd(c.args[4])
	if bad.IsError() {
		return bad
	}
	return c.moveBetween(from, to)
}

// moveBetween pops from the first key's list and pushes to the second's, which
// may be the same.
func (c *call) moveBetween(from, to end) reply.Value {
	e, old, bad := editable[*list](c, c.args[1])
	if bad.IsError() || old == nil {
		return bad
	}
	if c.args[1] == c.args[2] {
		l := changed(old, listKind)
		text := l.pop(bool(from))
		l.pushOwn(text, bool(to))
		c.keep(e, listKind, l, 'l', to.pushed())
		c.event('l', from.popped(), e.key)
		return c.text(text)
	}
	target, oldTarget, bad := editable[*list](c, c.args[2])
	if bad.IsError() {
		return bad
	}
	l, t := changed(old, listKind), changed(oldTarget, listKind)
	text := l.pop(bool(from))
	c.visit(1)
	c.grow(elementCost)
	t.pushOwn(text, bool(to))
	if bad := c.keep(target, listKind, t, 'l', to.pushed()); bad.IsError() {
		return bad
	}
	c.keep(e, listKind, l, 'l', from.popped())
	return c.text(text)
}
