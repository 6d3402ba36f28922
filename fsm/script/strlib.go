package script

import "strings"

var stringLibrary = []entry{
	{"byte", stringByte},
	{"char", stringChar},
	{"dump", func(m *machine, args []value) []value {
		m.checkFunction(args, 1)
		m.errorf("unable to dump given function")
		return nil
	}},
	{"find", func(m *machine, args []value) []value { return m.find(args, true) }},
	{"format", stringFormat},
	{"gfind", stringGmatch},
	{"gmatch", stringGmatch},
	{"gsub", stringGsub},
	{"len", func(m *machine, args []value) []value {
		return m.one(number(float64(len(m.checkString(args, 1)))))
	}},
	{"lower", func(m *machine, args []value) []value { return m.mapBytes(args, 'A', 'Z', 'a'-'A') }},
	{"match", func(m *machine, args []value) []value { return m.find(args, false) }},
	{"rep", stringRep},
	{"reverse", stringReverse},
	{"sub", stringSub},
	{"upper", func(m *machine, args []value) []value { return m.mapBytes(args, 'a', 'z', 'A'-'a') }},
}

// position turns a Lua position, which may count from the end, into one from 1 on.
func position(pos int64, n int) int64 {
	if pos < 0 {
		return max(pos+int64(n)+1, 0)
	}
	return pos
}

func stringSub(m *machine, args []value) []value {
	s := m.checkString(args, 1)
	start := max(position(m.checkInt(args, 2), len(s)), 1)
	end := min(position(m.optInt(args, 3, -1), len(s)), int64(len(s)))
	if start > end {
		return m.one(str(""))
	}
	m.grow(sizeString)
	return m.one(str(s[start-1 : end]))
}

func stringByte(m *machine, args []value) []value {
	s := m.checkString(args, 1)
	start := position(m.optInt(args, 2, 1), len(s))
	end := min(position(m.optInt(args, 3, start), len(s)), int64(len(s)))
	start = max(start, 1)
	if start > end {
		return nil
	}
	if end-start+1 >= m.lim.MaxUnpack {
		m.errorf("string slice too long")
	}
	m.spend((end - start) / 4)
	m.ret = m.ret[:0]
	for _, c := range []byte(s[start-1 : end]) {
		m.ret = append(m.ret, number(float64(c)))
	}
	return m.ret
}

func stringChar(m *machine, args []value) []value {
	b := make([]byte, 0, len(args))
	for i := range args {
		c := m.checkInt(args, i+1)
		if c < 0 || c > 255 {
			m.argError(i+1, "invalid value")
		}
		b = append(b, byte(c))
	}
	return m.one(m.newString(string(b)))
}

func stringRep(m *machine, args []value) []value {
	s := m.checkString(args, 1)
	n := m.checkInt(args, 2)
	if n <= 0 || s == "" {
		return m.one(str(""))
	}
	if n > (1<<40)/int64(len(s)) {
		n = (1 << 40) / int64(len(s)) // over any budget
	}
	m.grow(n*int64(len(s)) + sizeString)
	m.spend(n*int64(len(s))/64 + n/16)
	return m.one(str(strings.Repeat(s, int(n))))
}

func stringReverse(m *machine, args []value) []value {
	s := m.checkString(args, 1)
	m.chargeString(2 * len(s))
	b := make([]byte, len(s))
	for i := range len(s) {
		b[len(s)-1-i] = s[i]
	}
	return m.one(str(string(b)))
}

// mapBytes moves the bytes from lo to hi by a distance: upper and lower of the C
// locale.
func (m *machine) mapBytes(args []value, lo, hi byte, move int) []value {
	s := m.checkString(args, 1)
	m.chargeString(2 * len(s))
	b := []byte(s)
	for i, c := range b {
		if c >= lo && c <= hi {
			b[i] = byte(int(c) + move)
		}
	}
	return m.one(str(string(b)))
}

// find is string.find and string.match.
func (m *machine) find(args []value, find bool) []value {
	s, p := m.checkString(args, 1), m.checkString(args, 2)
	init := min(max(position(m.optInt(args, 3, 1), len(s))-1, 0), int64(len(s)))
	if find && (len(args) > 3 && args[3].truthy() || !strings.ContainsAny(p, "^$*+?.([%-")) {
		m.spend(int64(len(s)-int(init)+len(p)) / 16)
		i := strings.Index(s[init:], p)
		if i < 0 {
			return m.one(nilValue)
		}
		i += int(init)
		return m.two(number(float64(i+1)), number(float64(i+len(p))))
	}
	ms := &matcher{m: m, src: s, pat: p}
	anchor := strings.HasPrefix(p, "^")
	if anchor {
		ms.pat = p[1:]
	}
	for at := int(init); at <= len(s); at++ {
		ms.reset()
		if e := ms.match(at, 0); e >= 0 {
			m.ret = m.ret[:0]
			if find {
				m.ret = append(m.ret, number(float64(at+1)), number(float64(e)))
			}
			m.ret = ms.captures(m.ret, at, e, !find)
			return m.ret
		}
		if anchor {
			break
		}
	}
	return m.one(nilValue)
}

// stringGmatch's iterator keeps its place in a function of its own, which lives no
// longer than the call.
func stringGmatch(m *machine, args []value) []value {
	s, p := m.checkString(args, 1), m.checkString(args, 2)
	pos := 0
	m.grow(sizeClosure + 64)
	step := func(m *machine, _ []value) []value {
		ms := &matcher{m: m, src: s, pat: p}
		for at := pos; at <= len(s); at++ {
			ms.reset()
			if e := ms.match(at, 0); e >= 0 {
				pos = e
				if e == at {
					pos++ // an empty match: go on at least one
				}
				m.ret = ms.captures(m.ret[:0], at, e, true)
				return m.ret
			}
		}
		pos = len(s) + 1
		return m.one(nilValue)
	}
	return m.one(value{kind: kBuiltin, ref: &builtin{name: "gmatch", fn: step}})
}

func stringGsub(m *machine, args []value) []value {
	s, p := m.checkString(args, 1), m.checkString(args, 2)
	repl := nilValue
	if len(args) > 2 {
		repl = args[2]
	}
	switch {
	case repl.kind == kNumber:
		repl = str(m.checkString(args, 3))
	case repl.kind == kString, repl.kind == kTable, repl.isFunction():
	default:
		m.argError(3, "string/function/table expected")
	}
	limit := m.optInt(args, 4, int64(len(s))+1)
	ms := &matcher{m: m, src: s, pat: p}
	anchor := strings.HasPrefix(p, "^")
	if anchor {
		ms.pat = p[1:]
	}
	var out []byte
	at, n := 0, int64(0)
	for n < limit {
		ms.reset()
		e := ms.match(at, 0)
		if e >= 0 {
			n++
			out = ms.replace(out, at, e, &repl)
		}
		switch {
		case e > at:
			at = e
		case at < len(s):
			m.grow(1)
			out = append(out, s[at])
			at++
		default:
			at++
		}
		if at > len(s) || anchor {
			break
		}
	}
	if at < len(s) {
		m.chargeString(len(s) - at)
		out = append(out, s[at:]...)
	}
	return m.two(m.newString(string(out)), number(float64(n)))
}

// replace appends what a match from s to e is replaced by.
func (ms *matcher) replace(out []byte, s, e int, repl *value) []byte {
	m := ms.m
	var v value
	switch repl.kind {
	case kString:
		return ms.expand(out, repl.str(), s, e)
	case kTable:
		k := ms.capture(0, s, e)
		v = m.index(*repl, &k)
	default:
		var list [maxCaptures]value
		v = m.callOne(*repl, ms.captures(list[:0], s, e, true)...)
	}
	if !v.truthy() {
		m.chargeString(e - s)
		return append(out, ms.src[s:e]...)
	}
	text, ok := toStr(&v)
	if !ok {
		m.errorf("invalid replacement value (a ", v.kind.String(), ")")
	}
	m.chargeString(len(text))
	return append(out, text...)
}

// expand appends a replacement string with its %0 to %9.
func (ms *matcher) expand(out []byte, repl string, s, e int) []byte {
	ms.m.chargeString(len(repl))
	for i := 0; i < len(repl); i++ {
		c := repl[i]
		if c != '%' {
			out = append(out, c)
			continue
		}
		i++
		switch {
		case i >= len(repl):
			out = append(out, 0)
		case !isDigit(repl[i]):
			out = append(out, repl[i])
		case repl[i] == '0':
			ms.m.chargeString(e - s)
			out = append(out, ms.src[s:e]...)
		default:
			v := ms.capture(int(repl[i]-'1'), s, e)
			text, _ := toStr(&v)
			ms.m.chargeString(len(text))
			out = append(out, text...)
		}
	}
	return out
}
