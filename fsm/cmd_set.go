package fsm

import "github.com/redfence/redfence/fsm/reply"

// Commands for the members of one set. cmd_set_algebra.go has those that combine sets.

// size0 is the number of members of a set that may not be there.
func (s *set) size0() int64 {
	if s == nil {
		return 0
	}
	return int64(s.len())
}

// setOf answers a set.
func setOf(elems []reply.Value) reply.Value { return reply.Value{Kind: reply.Set, Elems: elems} }

func runSADD(c *call) reply.Value {
	e, old, bad := editable[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	s, n := changed(old, setKind), int64(0)
	for _, member := range c.args[2:] {
		if len(member) > ValueMax {
			return errValueTooLong
		}
		c.visit(1)
		if s.add(member) {
			c.grow(elementCost + len(member))
			n++
		}
	}
	if n > 0 {
		if bad := c.keep(e, setKind, s, 's', "sadd"); bad.IsError() {
			return bad
		}
	}
	return reply.Integer(n)
}

func runSREM(c *call) reply.Value {
	e, old, bad := editable[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.Integer(0)
	}
	s, n := changed(old, setKind), int64(0)
	for _, member := range c.args[2:] {
		c.visit(1)
		if s.remove(member) {
			n++
		}
	}
	if n > 0 {
		c.keep(e, setKind, s, 's', "srem")
	}
	return reply.Integer(n)
}

func runSISMEMBER(c *call) reply.Value {
	s, bad := found[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	return reply.Truth(s.has(c.args[2]))
}

func runSMISMEMBER(c *call) reply.Value {
	s, bad := found[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	elems := make([]reply.Value, len(c.args)-2)
	for i, member := range c.args[2:] {
		c.visit(1)
		elems[i] = reply.Truth(s.has(member))
	}
	return reply.List(elems...)
}

func runSCARD(c *call) reply.Value {
	s, bad := found[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	return reply.Integer(s.size0())
}

func runSMEMBERS(c *call) reply.Value {
	s, bad := found[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	return setOf(c.members(s, nil))
}

// members lists the members that match.
func (c *call) members(s *set, m *matcher) []reply.Value {
	elems := []reply.Value{}
	s.each(func(member string) bool {
		if m != nil && !m.match(member) {
			return !m.spent()
		}
		elems = append(elems, c.text(member))
		return !c.exhausted()
	})
	return elems
}

func runSSCAN(c *call) reply.Value {
	if _, ok := ParseCursor(c.args[2]); !ok {
		return errCursor
	}
	s, bad := found[*set](c, c.args[1])
	if bad.IsError() || s == nil {
		return emptyScan(bad)
	}
	m, bad := c.elementMatcher(c.args[3:])
	if bad.IsError() {
		return bad
	}
	return scanned(&m, c.members(s, &m))
}

func runSPOP(c *call) reply.Value {
	if len(c.args) > 3 {
		return errSyntax
	}
	count, counted := int64(1), len(c.args) == 3
	if counted {
		var bad reply.Value
		if count, bad = notNegative(c.args[2]); bad.IsError() {
			return bad
		}
	}
	e, old, bad := editable[*set](c, c.args[1])
	switch {
	case bad.IsError():
		return bad
	case counted && (old == nil || count == 0):
		return setOf(nil)
	case old == nil:
		return reply.Null
	}
	s := changed(old, setKind)
	var elems []reply.Value
	for _, i := range c.pick(old.len(), count) {
		member := old.at(i)
		elems = append(elems, c.text(member))
		s.remove(member)
	}
	c.keep(e, setKind, s, 's', "spop")
	if counted {
		return setOf(elems)
	}
	return elems[0]
}

func runSRANDMEMBER(c *call) reply.Value {
	if len(c.args) == 2 {
		s, bad := found[*set](c, c.args[1])
		if bad.IsError() || s == nil {
			return bad
		}
		return c.text(s.at(int(c.s.draw() % uint64(s.len()))))
	}
	if len(c.args) > 3 {
		return errSyntax
	}
	count, _, bad := c.randomCount("")
	if bad.IsError() {
		return bad
	}
	s, bad := found[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if s == nil || count == 0 {
		return reply.List()
	}
	if count < -ElementsMax {
		return errRange
	}
	var elems []reply.Value
	for _, i := range c.pick(s.len(), count) {
		elems = append(elems, c.text(s.at(i)))
	}
	return reply.List(elems...)
}

func runSMOVE(c *call) reply.Value {
	e, old, bad := editable[*set](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.Integer(0)
	}
	if c.args[1] == c.args[2] {
		return reply.Truth(old.has(c.args[3]))
	}
	target, oldTarget, bad := editable[*set](c, c.args[2])
	if bad.IsError() {
		return bad
	}
	s := changed(old, setKind)
	if !s.remove(c.args[3]) {
		return reply.Integer(0)
	}
	c.keep(e, setKind, s, 's', "srem")
	t := changed(oldTarget, setKind)
	if t.add(c.args[3]) {
		c.grow(elementCost + len(c.args[3]))
		if bad := c.keep(target, setKind, t, 's', "sadd"); bad.IsError() {
			return bad
		}
	}
	return reply.Integer(1)
}
