package fsm

import (
	"math"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands for hashes that only read. They see both kinds of port.

// field is a field's value as a reply, null without one.
func (c *call) field(h *hash, name string) reply.Value {
	value, ok := h.get(name)
	if !ok {
		c.visit(1)
		return reply.Null
	}
	return c.text(value)
}

func runHGET(c *call) reply.Value {
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	return c.field(h, c.args[2])
}

func runHMGET(c *call) reply.Value {
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	values := make([]reply.Value, len(c.args)-2)
	for i, name := range c.args[2:] {
		values[i] = c.field(h, name)
	}
	return reply.List(values...)
}

func runHEXISTS(c *call) reply.Value {
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	_, ok := h.get(c.args[2])
	return reply.Truth(ok)
}

func runHLEN(c *call) reply.Value {
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	return reply.Integer(int64(lenOf(h)))
}

func runHSTRLEN(c *call) reply.Value {
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	value, _ := h.get(c.args[2])
	return reply.Integer(int64(len(value)))
}

func runHGETALL(c *call) reply.Value {
	elems, bad := c.hashElems(true, true, nil)
	if bad.IsError() {
		return bad
	}
	return reply.Pairs(elems...)
}

func runHKEYS(c *call) reply.Value {
	elems, bad := c.hashElems(true, false, nil)
	if bad.IsError() {
		return bad
	}
	return reply.List(elems...)
}

func runHVALS(c *call) reply.Value {
	elems, bad := c.hashElems(false, true, nil)
	if bad.IsError() {
		return bad
	}
	return reply.List(elems...)
}

// hashElems lists names, values, or both in turn of the key's hash, of the
// fields whose names match.
func (c *call) hashElems(names, values bool, m *matcher) (elems []reply.Value, bad reply.Value) {
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() {
		return nil, bad
	}
	elems = []reply.Value{}
	h.each(func(name, value string) bool {
		if m != nil && !m.match(name) {
			return !m.spent()
		}
		if names {
			elems = append(elems, c.text(name))
		}
		if values {
			elems = append(elems, c.text(value))
		}
		return !c.exhausted()
	})
	return elems, bad
}

func runHSCAN(c *call) reply.Value {
	if _, ok := ParseCursor(c.args[2]); !ok {
		return errCursor
	}
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() || h == nil {
		return emptyScan(bad)
	}
	m, bad := c.elementMatcher(c.args[3:])
	if bad.IsError() {
		return bad
	}
	elems, bad := c.hashElems(true, true, &m)
	if bad.IsError() {
		return bad
	}
	return scanned(&m, elems)
}

// randomCount reads the count and the option of HRANDFIELD, SRANDMEMBER and ZRANDMEMBER.
func (c *call) randomCount(option string) (count int64, with bool, bad reply.Value) {
	count, ok := ParseInt(c.args[2])
	if !ok {
		return 0, false, errNotInteger
	}
	if count == math.MinInt64 {
		return 0, false, errNotLong
	}
	if len(c.args) > 4 || len(c.args) == 4 && (option == "" || !is(c.args[3], option)) {
		return 0, false, errSyntax
	}
	with = len(c.args) == 4
	if with && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) {
		return 0, false, errRange
	}
	return count, with, bad
}

func runHRANDFIELD(c *call) reply.Value {
	if len(c.args) == 2 {
		h, bad := found[*hash](c, c.args[1])
		if bad.IsError() || h == nil {
			return bad
		}
		name, _ := h.at(int(c.s.draw() % uint64(h.len())))
		return c.text(name)
	}
	count, with, bad := c.randomCount("withvalues")
	if bad.IsError() {
		return bad
	}
	h, bad := found[*hash](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if h == nil || count == 0 {
		return reply.List([]reply.Value{}...)
	}
	if count < -ElementsMax {
		return errRange
	}
	var elems []reply.Value
	for _, i := range c.pick(h.len(), count) {
		name, value := h.at(i)
		elems = append(elems, c.text(name))
		if with {
			elems = append(elems, c.text(value))
		}
	}
	if with {
		return reply.Twos(elems...)
	}
	return reply.List(elems...)
}
