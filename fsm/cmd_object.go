package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// What the commands of hashes, lists, sets and sorted sets have in common.

// value is what found and editable answer of a record: its value as a T, nil if
// there is none.
type value interface {
	object
	*hash | *list | *set | *zset
}

// found is the key's value on either side for a command that only reads: nil if
// there is none.
func found[T value](c *call, key string) (v T, bad reply.Value) {
	return valueOf[T](c.find(key))
}

func valueOf[T value](r *record) (v T, bad reply.Value) {
	if r == nil {
		return v, bad
	}
	v, ok := r.obj.(T)
	if !ok {
		return v, errWrongType
	}
	return v, bad
}

// edit is a key of this side whose elements a command is about to change.
type edit struct {
	key string
	old *record // nil if there is none
}

// editable opens a key for a change of its elements: obj is what it holds, nil
// if nothing. It is the one place for the rule of one name: elements of what the
// other kind of port holds are neither changed nor taken, nor shadowed by a new key.
func editable[T value](c *call, key string) (e edit, v T, bad reply.Value) {
	r := c.own(key)
	if r == nil && c.refusedByOther(key) {
		return e, v, c.held
	}
	v, bad = valueOf[T](r)
	return edit{key, r}, v, bad
}

// changed is a clone of what a command may change, or an empty value of that kind.
func changed[T value](v T, kind valueKind) T {
	if v == nil {
		return newObject(kind).(T)
	}
	return v.clone().(T)
}

// keep stores a value whose elements changed and tells subscribers with class
// and event, "" for none. The grant stays that of the key's creation: its token
// and holder. A value without elements goes.
func (c *call) keep(e edit, kind valueKind, v object, class byte, event string) reply.Value {
	if v.len() > ElementsMax || v.bytes() > ObjectBytesMax {
		return c.refuse(errObjectTooBig)
	}
	if e.old == nil {
		if v.len() == 0 {
			return reply.Value{}
		}
		if bad := tooLong(e.key, 0); bad.IsError() {
			return c.refuse(bad)
		}
		c.put(&record{key: strings.Clone(e.key), kind: kind, obj: v, deadline: never})
		c.event('n', "new", e.key)
	} else if v.len() > 0 {
		fresh := *e.old
		c.s.version++
		fresh.version, fresh.obj = c.s.version, v
		c.s.put(c.db, &fresh)
	}
	if event != "" {
		c.event(class, event, e.key)
	}
	if v.len() == 0 {
		c.remove(e.old)
	}
	return reply.Value{}
}

// refuse makes the whole command fail and be undone.
func (c *call) refuse(why reply.Value) reply.Value {
	if !c.held.IsError() {
		c.held = why
	}
	return why
}

// replace makes v the key's value, as *STORE commands do: another grant. An
// empty one removes what the key has on this side.
func (c *call) replace(key string, kind valueKind, v object, class byte, event string) reply.Value {
	own := c.own(key)
	if v.len() == 0 {
		if own != nil {
			c.remove(own)
		}
		return reply.Value{}
	}
	if v.len() > ElementsMax || v.bytes() > ObjectBytesMax {
		return c.refuse(errObjectTooBig)
	}
	if bad := tooLong(key, 0); bad.IsError() {
		return c.refuse(bad)
	}
	c.put(&record{key: strings.Clone(key), kind: kind, obj: v, deadline: never})
	if own == nil {
		c.event('n', "new", key)
	}
	c.event(class, event, key)
	return reply.Value{}
}

// elementSteps is what visiting an element costs in steps of the matcher, more
// than a key: it is looked up, copied or sorted in. All of the largest value can
// be visited, and a command over the bound ends after a second or two.
const elementSteps = 32

// visit charges for n elements that the command visits: the calling script, and
// the bound that every command, script or MULTI has for its walks, since a few
// bytes may name a large value many times.
func (c *call) visit(n int) {
	c.spend(n)
	c.walked += n * elementSteps
}

// exhausted says that the command has visited more than it may: it can end, since
// it will fail and be undone.
func (c *call) exhausted() bool { return c.overBudget() || c.walked >= c.most }

// text is an element of a reply.
func (c *call) text(s string) reply.Value {
	c.visit(1)
	c.grow(elementBytes)
	return reply.String(s)
}

// indexRange turns a first and last index, negative ones from the end, into
// ranks from up to but not at to; from >= to if nothing is between.
func indexRange(first, last int64, n int) (from, to int) {
	length := int64(n)
	if first < 0 {
		first = max(0, first+length)
	}
	if last < 0 {
		last += length
	}
	if first > last || first >= length {
		return 0, 0
	}
	return int(first), int(min(last, length-1)) + 1
}

// indexes reads two indexes.
func indexes(a, b string) (first, last int64, bad reply.Value) {
	first, ok1 := ParseInt(a)
	last, ok2 := ParseInt(b)
	if !ok1 || !ok2 {
		return 0, 0, errNotInteger
	}
	return first, last, bad
}

// pick draws count of n ranks: with repetition when count is negative, else
// different ones in ascending order.
func (c *call) pick(n int, count int64) []int {
	if count < 0 {
		out := make([]int, 0, min(-count, ElementsMax))
		for range -count {
			c.visit(1)
			c.grow(elementBytes)
			if c.exhausted() || len(out) > ElementsMax {
				break
			}
			out = append(out, int(c.s.draw()%uint64(n)))
		}
		return out
	}
	if count >= int64(n) {
		out := make([]int, n)
		for i := range out {
			out[i] = i
		}
		return out
	}
	// Selection sampling: each rank is taken with the chance that what is still
	// wanted has among what is left.
	out := make([]int, 0, count)
	if int64(n) > 8*count {
		return c.pickFew(n, int(count))
	}
	for i := 0; i < n && int64(len(out)) < count; i++ {
		c.visit(1)
		if c.s.draw()%uint64(n-i) < uint64(int(count)-len(out)) {
			out = append(out, i)
		}
	}
	return out
}

// pickFew draws few different ones of many.
func (c *call) pickFew(n, count int) []int {
	taken := make(map[int]bool, count)
	out := make([]int, 0, count)
	for len(out) < count {
		c.visit(1)
		if i := int(c.s.draw() % uint64(n)); !taken[i] {
			taken[i] = true
			out = append(out, i)
		}
	}
	return out
}

// emptyScan is what a scan of no key answers, if not an error.
func emptyScan(bad reply.Value) reply.Value {
	if bad.IsError() {
		return bad
	}
	return reply.List(reply.String("0"), reply.List())
}

// elementMatcher reads the options of HSCAN, SSCAN and ZSCAN. All elements come
// in one answer with cursor 0.
func (c *call) elementMatcher(args []string) (m matcher, bad reply.Value) {
	m = c.matcher("*")
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			return m, errSyntax
		}
		switch lower(args[i]) {
		case "match":
			m = c.matcher(args[i+1])
		case "count":
			n, ok := ParseInt(args[i+1])
			if !ok {
				return m, errNotInteger
			}
			if n < 1 {
				return m, errSyntax
			}
		default:
			return m, errSyntax
		}
	}
	return m, bad
}

// scanned is the answer of a scan of elements.
func scanned(m *matcher, elems []reply.Value) reply.Value {
	if m.tooFar() {
		return errPatternCost
	}
	return reply.List(reply.String("0"), reply.List(elems...))
}
