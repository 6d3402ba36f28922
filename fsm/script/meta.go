package script

import (
	"math"
	"strings"
)

// metaLoop is how long a chain of __index or __newindex tables may be.
const metaLoop = 100

func (m *machine) metatable(v *value) *table {
	switch v.kind {
	case kTable:
		return v.ref.(*table).meta
	case kString:
		return m.strMeta
	}
	return nil
}

// metamethod is v's handler for an event, or nil.
func (m *machine) metamethod(v *value, event string) value {
	if mt := m.metatable(v); mt != nil {
		return mt.getString(event)
	}
	return nilValue
}

// callMeta runs a metamethod on behalf of the instruction or function at work.
func (m *machine) callMeta(h, a, b value) value {
	return m.metaCall(h, a, b, nilValue, 2)
}

func (m *machine) metaCall(h, a, b, c value, n int) value {
	top := m.top
	if f := m.frames[m.depth-1]; f.cl != nil {
		m.top = f.base + f.cl.p.maxRegs
	}
	args := [3]value{a, b, c}
	v := m.callOne(h, args[:n]...)
	m.top = top
	return v
}

// chargeKey pays for hashing a long key.
func (m *machine) chargeKey(k *value) {
	if k.kind == kString {
		if n := len(k.ref.(string)); n >= 64 {
			m.spend(int64(n) / 64)
		}
	}
}

// index is obj[k] with metamethods.
func (m *machine) index(obj value, k *value) value {
	m.chargeKey(k)
	for loop := 0; loop < metaLoop; loop++ {
		var h value
		if obj.kind == kTable {
			t := obj.ref.(*table)
			if v := t.get(k); v.kind != kNil || t.meta == nil {
				return v
			}
			h = t.meta.getString("__index")
			if h.kind == kNil {
				return nilValue
			}
		} else if h = m.metamethod(&obj, "__index"); h.kind == kNil {
			m.runtimeError("attempt to index a " + obj.kind.String() + " value")
		}
		if h.isFunction() {
			return m.callMeta(h, obj, *k)
		}
		m.spend(1)
		obj = h
	}
	m.runtimeError("loop in gettable")
	return nilValue
}

// setIndex is obj[k] = v with metamethods.
func (m *machine) setIndex(obj value, k *value, v value) {
	m.chargeKey(k)
	for loop := 0; loop < metaLoop; loop++ {
		var h value
		if obj.kind == kTable {
			t := obj.ref.(*table)
			if t.meta != nil {
				if old := t.get(k); old.kind == kNil {
					h = t.meta.getString("__newindex")
				}
			}
			if h.kind == kNil || t.readOnly {
				m.rawSet(t, k, v)
				return
			}
		} else if h = m.metamethod(&obj, "__newindex"); h.kind == kNil {
			m.runtimeError("attempt to index a " + obj.kind.String() + " value")
		}
		if h.isFunction() {
			m.metaCall(h, obj, *k, v, 3)
			return
		}
		m.spend(1)
		obj = h
	}
	m.runtimeError("loop in settable")
}

// rawSet is t[k] = v without metamethods, refused for what every script shares.
func (m *machine) rawSet(t *table, k *value, v value) {
	if t.readOnly {
		m.runtimeError("Attempt to modify a readonly table")
	}
	switch {
	case k.kind == kNil:
		m.runtimeError("table index is nil")
	case k.kind == kNumber && k.num != k.num:
		m.runtimeError("table index is NaN")
	}
	if grown := t.set(k, v); grown > 0 {
		m.grow(grown)
		m.spend(grown >> 8) // what was drawn over from the hash
	}
}

// toNumber converts what arithmetic accepts.
func (m *machine) toNumber(v *value) (float64, bool) {
	switch v.kind {
	case kNumber:
		return v.num, true
	case kString:
		s := v.ref.(string)
		return m.parseNumber(s)
	}
	return 0, false
}

// parseNumber reads a number and charges for it: more digits than a double has take
// exact arithmetic, and so do the smallest numbers.
func (m *machine) parseNumber(s string) (float64, bool) {
	if len(s) > 17 {
		m.spend(4 * int64(len(s)))
	}
	f, ok := parseNumber(s)
	if ok && isTiny(f) && strings.ContainsAny(s, "eE") {
		m.spend(costTiny)
	}
	return f, ok
}

// costTiny is what reading a number that has fewer bits than others is charged.
const costTiny = 2000

func isTiny(f float64) bool { return math.Abs(f) < 2.3e-308 }

// toStr converts what concatenation accepts; the caller charges for the result.
func toStr(v *value) (string, bool) {
	switch v.kind {
	case kString:
		return v.ref.(string), true
	case kNumber:
		return formatNumber(v.num), true
	}
	return "", false
}

var arithEvents = map[opcode]string{
	opArithAdd: "__add", opArithSub: "__sub", opArithMul: "__mul", opArithDiv: "__div",
	opArithMod: "__mod", opArithPow: "__pow", opUnm: "__unm",
}

// arith is the slow way of arithmetic: strings that are numbers, metamethods.
func (m *machine) arith(op opcode, f *frame, rb, rc int32) value {
	b, c := f.rk(rb), f.rk(rc)
	x, okX := m.toNumber(b)
	y, okY := m.toNumber(c)
	if okX && okY {
		if op == opArithPow {
			m.spend(4)
		}
		return number(calculate(op, x, y))
	}
	h := m.metamethod(b, arithEvents[op])
	if h.kind == kNil {
		h = m.metamethod(c, arithEvents[op])
	}
	if h.kind == kNil {
		if okX {
			rb, b = rc, c
		}
		m.operandError("perform arithmetic on", f, rb, b)
	}
	return m.callMeta(h, *b, *c)
}

func calculate(op opcode, x, y float64) float64 {
	switch op {
	case opArithAdd:
		return x + y
	case opArithSub:
		return x - y
	case opArithMul:
		return x * y
	case opArithDiv:
		return x / y
	case opArithMod:
		// The product is rounded before it is subtracted, on processors that
		// could do both at once too.
		return x - float64(math.Floor(x/y)*y)
	case opArithPow:
		return pow(x, y)
	}
	return -x
}

// equal is a == b with metamethods.
func (m *machine) equal(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case kString:
		s, t := a.ref.(string), b.ref.(string)
		if len(s) != len(t) {
			return false
		}
		if len(s) >= 64 {
			m.spend(int64(len(s)) / 64)
		}
		return s == t
	case kTable:
		if a.ref == b.ref {
			return true
		}
		h := m.commonHandler(a, b, "__eq")
		if h.kind == kNil {
			return false
		}
		v := m.callMeta(h, *a, *b)
		return v.truthy()
	}
	return rawEqual(a, b)
}

// commonHandler is the handler that both operands of a comparison share.
func (m *machine) commonHandler(a, b *value, event string) value {
	h := m.metamethod(a, event)
	if h.kind == kNil {
		return nilValue
	}
	if g := m.metamethod(b, event); rawEqual(&h, &g) {
		return h
	}
	return nilValue
}

func (m *machine) less(a, b *value) bool {
	if a.kind == kNumber && b.kind == kNumber {
		return a.num < b.num
	}
	if a.kind == kString && b.kind == kString {
		s, t := a.ref.(string), b.ref.(string)
		m.spend(int64(min(len(s), len(t))) / 64)
		return s < t
	}
	return m.order(a, b, "__lt")
}

func (m *machine) lessEqual(a, b *value) bool {
	if a.kind == kNumber && b.kind == kNumber {
		return a.num <= b.num
	}
	if a.kind == kString && b.kind == kString {
		s, t := a.ref.(string), b.ref.(string)
		m.spend(int64(min(len(s), len(t))) / 64)
		return s <= t
	}
	if a.kind == b.kind {
		if h := m.commonHandler(a, b, "__le"); h.kind == kNil {
			if h = m.commonHandler(b, a, "__lt"); h.kind != kNil {
				v := m.callMeta(h, *b, *a)
				return !v.truthy()
			}
		}
	}
	return m.order(a, b, "__le")
}

func (m *machine) order(a, b *value, event string) bool {
	if a.kind == b.kind {
		if h := m.commonHandler(a, b, event); h.kind != kNil {
			v := m.callMeta(h, *a, *b)
			return v.truthy()
		}
	}
	ka, kb := a.kind.String(), b.kind.String()
	if ka == kb {
		m.runtimeError("attempt to compare two " + ka + " values")
	}
	m.runtimeError("attempt to compare " + ka + " with " + kb)
	return false
}

// concat joins registers first to last, from the right as Lua does.
func (m *machine) concat(f *frame, first, last int) value {
	rhs := f.regs[last]
	for at := last - 1; at >= first; {
		lhs := f.regs[at]
		_, okL := toStr(&lhs)
		_, okR := toStr(&rhs)
		if okL && okR {
			n := at
			for n > first {
				if k := f.regs[n-1].kind; k != kString && k != kNumber {
					break
				}
				n--
			}
			rhs = m.joinStrings(f.regs[n:at+1], rhs)
			at = n - 1
			continue
		}
		h := m.metamethod(&lhs, "__concat")
		if h.kind == kNil {
			h = m.metamethod(&rhs, "__concat")
		}
		if h.kind == kNil {
			reg, v := at, &lhs
			if okL {
				reg, v = at+1, &rhs
				if at+1 != last {
					reg = -1
				}
			}
			m.operandError("concatenate", f, int32(reg), v)
		}
		rhs = m.callMeta(h, lhs, rhs)
		at--
	}
	return rhs
}

// joinStrings makes one string of strings and numbers, charged before it is made.
func (m *machine) joinStrings(parts []value, last value) value {
	var texts [8]string
	list := texts[:0]
	total := 0
	for i := range parts {
		s, _ := toStr(&parts[i])
		list = append(list, s)
		total += len(s)
	}
	s, _ := toStr(&last)
	list = append(list, s)
	total += len(s)
	m.spend(int64(len(list)))
	m.chargeString(total)
	buf := make([]byte, 0, total)
	for _, s := range list {
		buf = append(buf, s...)
	}
	return str(string(buf))
}
