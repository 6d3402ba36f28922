package script

import (
	"math"
	"strconv"
)

type jsonEncoder struct {
	m   *machine
	c   *jsonConfig
	out []byte
}

func jsonEncode(m *machine, c *jsonConfig, args []value) []value {
	if len(args) != 1 {
		m.argError(1, "expected 1 argument")
	}
	e := &jsonEncoder{m: m, c: c}
	e.value(&args[0], 0)
	return m.one(m.newString(string(e.out)))
}

func (e *jsonEncoder) fail(v *value, reason string) {
	e.m.errorf("Cannot serialise ", v.kind.String(), ": ", reason)
}

func (e *jsonEncoder) write(s string) {
	e.m.grow(int64(len(s)))
	e.out = append(e.out, s...)
}

func (e *jsonEncoder) value(v *value, depth int64) {
	e.m.spend(1)
	switch v.kind {
	case kString:
		e.text(v.str())
	case kNumber:
		e.number(v)
	case kBool, kNil:
		if v.kind == kNil {
			e.write("null")
		} else {
			e.write(e.m.plainString(v))
		}
	case kTable:
		depth++
		if depth > min(e.c.encodeDepth, e.m.lim.MaxJSONNesting) {
			e.m.errorf("Cannot serialise, excessive nesting (", strconv.FormatInt(depth, 10), ")")
		}
		e.table(v, depth)
	case kUserdata:
		e.write("null")
	default:
		e.fail(v, "type not supported")
	}
}

func (e *jsonEncoder) number(v *value) {
	f := v.num
	if math.IsInf(f, 0) || f != f {
		switch e.c.encodeInvalid {
		case 0:
			e.fail(v, "must not be NaN or Inf")
		case 2:
			e.write("null")
			return
		}
		s, _ := formatSpecial(f)
		if f != f {
			s = "nan"
		}
		e.write(s)
		return
	}
	e.m.spend(4)
	e.write(formatG(f, int(e.c.precision), false))
}

// text writes a string; / and DEL are escaped too.
func (e *jsonEncoder) text(s string) {
	e.m.spend(int64(len(s)) / 32)
	e.m.grow(int64(len(s)) + 2)
	e.out = append(e.out, '"')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"' || c == '\\' || c == '/':
			e.out = append(e.out, '\\', c)
		case c == '\b':
			e.out = append(e.out, `\b`...)
		case c == '\t':
			e.out = append(e.out, `\t`...)
		case c == '\n':
			e.out = append(e.out, `\n`...)
		case c == '\f':
			e.out = append(e.out, `\f`...)
		case c == '\r':
			e.out = append(e.out, `\r`...)
		case c < ' ' || c == 127:
			const hex = "0123456789abcdef"
			e.m.grow(5)
			e.out = append(e.out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			e.out = append(e.out, c)
		}
	}
	e.out = append(e.out, '"')
}

// arrayLength is how long an array t makes, or -1 if it must be an object.
func (e *jsonEncoder) arrayLength(v *value) int64 {
	t := v.table()
	e.m.spend(int64(len(t.list)+len(t.nodes)) / 4)
	most, items := 0.0, 0.0
	for i := range t.list {
		if t.list[i].kind != kNil {
			most = float64(i + 1)
			items++
		}
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.val.kind == kNil {
			continue
		}
		k := n.key.num
		if n.key.kind != kNumber || k < 1 || k != math.Floor(k) {
			return -1
		}
		most = max(most, k)
		items++
	}
	if e.c.sparseRatio > 0 && most > items*float64(e.c.sparseRatio) && most > float64(e.c.sparseSafe) {
		if !e.c.sparseConvert {
			e.fail(v, "excessively sparse array")
		}
		return -1
	}
	return truncate(most)
}

func (e *jsonEncoder) table(v *value, depth int64) {
	t := v.table()
	if n := e.arrayLength(v); n > 0 {
		e.write("[")
		for i := int64(1); i <= n; i++ {
			if i > 1 {
				e.write(",")
			}
			item := t.getInt(int(i))
			e.value(&item, depth)
		}
		e.write("]")
		return
	}
	e.write("{")
	k, first := nilValue, true
	for {
		key, val, steps, _ := t.next(&k)
		e.m.spend(steps / 8)
		if key.kind == kNil {
			break
		}
		if !first {
			e.write(",")
		}
		first = false
		switch key.kind {
		case kString:
			e.text(key.str())
		case kNumber:
			e.write(`"`)
			e.number(&key)
			e.write(`"`)
		default:
			e.fail(&key, "table key must be a number or string")
		}
		e.write(":")
		e.value(&val, depth)
		k = key
	}
	e.write("}")
}
