package fsm

import (
	"slices"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that combine sets. They read the keys of both kinds of port.

// setsOf finds the sets of keys, nil for a key that is not there.
func (c *call) setsOf(keys []string) (sets []*set, bad reply.Value) {
	sets = make([]*set, len(keys))
	for i, key := range keys {
		if sets[i], bad = found[*set](c, key); bad.IsError() {
			return nil, bad
		}
	}
	return sets, bad
}

// combination visits the members of what sets come to, each once and in order,
// until visit answers false.
type combination func(c *call, sets []*set, visit func(member string) bool)

func intersection(c *call, sets []*set, visit func(member string) bool) {
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets, func(a, b *set) int { return int(a.size0() - b.size0()) })
	sets[0].each(func(member string) bool {
		for _, s := range sets[1:] {
			c.visit(1)
			if !s.has(member) {
				return !c.exhausted()
			}
		}
		c.visit(1)
		return visit(member) && !c.exhausted()
	})
}

func union(c *call, sets []*set, visit func(member string) bool) {
	all := newSet()
	for _, s := range sets {
		s.each(func(member string) bool {
			c.visit(1)
			if all.add(member) {
				c.grow(elementCost)
			}
			return !c.exhausted()
		})
	}
	all.each(visit)
}

func difference(c *call, sets []*set, visit func(member string) bool) {
	sets[0].each(func(member string) bool {
		c.visit(1)
		for _, s := range sets[1:] {
			c.visit(1)
			if s.has(member) {
				return !c.exhausted()
			}
		}
		return visit(member) && !c.exhausted()
	})
}

func runSINTER(c *call) reply.Value { return c.combined(intersection) }
func runSUNION(c *call) reply.Value { return c.combined(union) }
func runSDIFF(c *call) reply.Value  { return c.combined(difference) }

func (c *call) combined(how combination) reply.Value {
	sets, bad := c.setsOf(c.args[1:])
	if bad.IsError() {
		return bad
	}
	elems := []reply.Value{}
	how(c, sets, func(member string) bool {
		elems = append(elems, c.text(member))
		return true
	})
	return setOf(elems)
}

func runSINTERSTORE(c *call) reply.Value { return c.combinedStore(intersection, "sinterstore") }
func runSUNIONSTORE(c *call) reply.Value { return c.combinedStore(union, "sunionstore") }
func runSDIFFSTORE(c *call) reply.Value  { return c.combinedStore(difference, "sdiffstore") }

func (c *call) combinedStore(how combination, event string) reply.Value {
	sets, bad := c.setsOf(c.args[2:])
	if bad.IsError() {
		return bad
	}
	result := newSet()
	how(c, sets, func(member string) bool {
		c.grow(elementCost + len(member))
		result.add(member)
		return true
	})
	if bad := c.replace(c.args[1], setKind, result, 's', event); bad.IsError() {
		return bad
	}
	return reply.Integer(int64(result.len()))
}

func runSINTERCARD(c *call) reply.Value {
	n, bad := atLeastOne(c.args[1], "ERR numkeys should be greater than 0")
	if bad.IsError() {
		return bad
	}
	if n > int64(len(c.args)-2) {
		return reply.Err("ERR Number of keys can't be greater than number of args")
	}
	limit, rest := int64(0), c.args[2+int(n):]
	for len(rest) > 0 {
		if len(rest) == 1 || !is(rest[0], "limit") {
			return errSyntax
		}
		if limit, bad = limitOf(rest[1]); bad.IsError() {
			return bad
		}
		rest = rest[2:]
	}
	sets, bad := c.setsOf(c.args[2 : 2+int(n)])
	if bad.IsError() {
		return bad
	}
	count := int64(0)
	intersection(c, sets, func(string) bool {
		count++
		return count != limit
	})
	return reply.Integer(count)
}

// limitOf reads the LIMIT of SINTERCARD and ZINTERCARD, 0 for none.
func limitOf(text string) (int64, reply.Value) {
	n, ok := ParseInt(text)
	if !ok || n < 0 {
		return 0, reply.Err("ERR LIMIT can't be negative")
	}
	return n, reply.Value{}
}
