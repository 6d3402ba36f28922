package fsm

import "github.com/redfence/redfence/fsm/reply"

// Commands that change what stands at some place of a list.

func runLSET(c *call) reply.Value {
	e, old, bad := editable[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return errNoKey
	}
	i, ok := ParseInt(c.args[2])
	if !ok {
		return errNotInteger
	}
	if _, ok := old.at(i); !ok {
		return errIndexRange
	}
	if len(c.args[3]) > ValueMax {
		return errValueTooLong
	}
	if i < 0 {
		i += int64(old.len())
	}
	c.grow(elementCost + len(c.args[3]))
	l := changed(old, listKind)
	l.setAt(int(i), c.args[3])
	if bad := c.keep(e, listKind, l, 'l', "lset"); bad.IsError() {
		return bad
	}
	return reply.OK
}

func runLTRIM(c *call) reply.Value {
	first, last, bad := indexes(c.args[2], c.args[3])
	if bad.IsError() {
		return bad
	}
	e, old, bad := editable[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.OK
	}
	from, to := indexRange(first, last, old.len())
	if from >= to {
		c.keep(e, listKind, newList(), 'l', "ltrim")
		return reply.OK
	}
	l := changed(old, listKind)
	c.visit(old.len() - (to - from))
	l.removeAt(to, l.len()-to)
	l.removeAt(0, from)
	c.keep(e, listKind, l, 'l', "ltrim")
	return reply.OK
}

func runLREM(c *call) reply.Value {
	count, ok := ParseInt(c.args[2])
	if !ok {
		return errNotInteger
	}
	e, old, bad := editable[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.Integer(0)
	}
	var places []int
	old.each(count < 0, func(i int, text string) bool {
		c.visit(1)
		if text == c.args[3] {
			places = append(places, i)
		}
		return !c.exhausted() && (count == 0 || int64(len(places)) != max(count, -count))
	})
	if len(places) == 0 {
		return reply.Integer(0)
	}
	l := changed(old, listKind)
	for k := range places {
		at := places[k] // from the tail on: what is taken out moves nothing
		if count >= 0 {
			at = places[len(places)-1-k]
		}
		l.removeAt(at, 1)
	}
	c.keep(e, listKind, l, 'l', "lrem")
	return reply.Integer(int64(len(places)))
}

func runLINSERT(c *call) reply.Value {
	after := is(c.args[2], "after")
	if !after && !is(c.args[2], "before") {
		return errSyntax
	}
	e, old, bad := editable[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.Integer(0)
	}
	if len(c.args[4]) > ValueMax {
		return errValueTooLong
	}
	at := -1
	old.each(false, func(i int, text string) bool {
		c.visit(1)
		if text == c.args[3] {
			at = i
		}
		return at < 0 && !c.exhausted()
	})
	if at < 0 {
		return reply.Integer(-1)
	}
	if after {
		at++
	}
	c.visit(2 * min(at, old.len()-at))
	c.grow(elementCost*(1+min(at, old.len()-at)) + len(c.args[4]))
	l := changed(old, listKind)
	l.insertAt(at, c.args[4])
	if bad := c.keep(e, listKind, l, 'l', "linsert"); bad.IsError() {
		return bad
	}
	return reply.Integer(int64(l.len()))
}
