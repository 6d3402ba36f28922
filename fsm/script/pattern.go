package script

import "strings"

// maxCaptures is how many ( ) a pattern may have.
const maxCaptures = 32

// Lengths of a capture that has none yet.
const (
	captureOpen     = -1
	capturePosition = -2
)

// matcher runs one Lua 5.1 pattern over one subject. Every step is charged, so a
// pattern that backtracks without end stops at the budget.
type matcher struct {
	m     *machine
	src   string
	pat   string
	depth int64
	level int // captures so far, finished or not
	caps  [maxCaptures]struct{ start, len int }
}

func (ms *matcher) fail(msg string) { ms.m.errorf(msg) }

func (ms *matcher) reset() {
	ms.level = 0
	ms.depth = 0
}

// match tries pattern p at position s: the end of the match, or -1. What ends in a
// single way loops; the rest recurses, boundedly.
func (ms *matcher) match(s, p int) int {
	if ms.depth++; ms.depth > ms.m.lim.MaxPatternDeep {
		ms.fail("pattern too complex")
	}
	defer func() { ms.depth-- }()
	for {
		ms.m.spend(1)
		if p == len(ms.pat) {
			return s
		}
		switch ms.pat[p] {
		case '(':
			if p+1 < len(ms.pat) && ms.pat[p+1] == ')' {
				return ms.startCapture(s, p+2, capturePosition)
			}
			return ms.startCapture(s, p+1, captureOpen)
		case ')':
			return ms.endCapture(s, p+1)
		case '$':
			if p+1 == len(ms.pat) {
				if s == len(ms.src) {
					return s
				}
				return -1
			}
		case '%':
			if p+1 < len(ms.pat) {
				next, end, handled := ms.special(s, p)
				if handled {
					if next < 0 {
						return -1
					}
					s, p = next, end
					continue
				}
			}
		}
		end := ms.classEnd(p)
		suffix := byte(0)
		if end < len(ms.pat) {
			suffix = ms.pat[end]
		}
		switch suffix {
		case '?':
			if s < len(ms.src) && ms.single(ms.src[s], p, end) {
				if r := ms.match(s+1, end+1); r >= 0 {
					return r
				}
			}
			p = end + 1
		case '*':
			return ms.maxExpand(s, p, end)
		case '+':
			if s < len(ms.src) && ms.single(ms.src[s], p, end) {
				return ms.maxExpand(s+1, p, end)
			}
			return -1
		case '-':
			return ms.minExpand(s, p, end)
		default:
			if s >= len(ms.src) || !ms.single(ms.src[s], p, end) {
				return -1
			}
			s, p = s+1, end
		}
	}
}

// special handles %b, %f and back references; next is the position after it, or -1.
func (ms *matcher) special(s, p int) (next, end int, handled bool) {
	switch c := ms.pat[p+1]; {
	case c == 'b':
		return ms.balance(s, p+2), p + 4, true
	case c == 'f':
		p += 2
		if p >= len(ms.pat) || ms.pat[p] != '[' {
			ms.fail("missing '[' after '%f' in pattern")
		}
		end = ms.classEnd(p)
		prev, cur := byte(0), byte(0)
		if s > 0 {
			prev = ms.src[s-1]
		}
		if s < len(ms.src) {
			cur = ms.src[s]
		}
		if ms.set(prev, p, end-1) || !ms.set(cur, p, end-1) {
			return -1, end, true
		}
		return s, end, true
	case isDigit(c):
		l := int(c - '1')
		if l < 0 || l >= ms.level || ms.caps[l].len == captureOpen {
			ms.fail("invalid capture index")
		}
		n := ms.caps[l].len
		if n == capturePosition {
			return -1, p + 2, true // a position matches nothing
		}
		text := ms.src[ms.caps[l].start : ms.caps[l].start+n]
		ms.m.spend(int64(n) / 64)
		if strings.HasPrefix(ms.src[s:], text) {
			return s + n, p + 2, true
		}
		return -1, p + 2, true
	}
	return 0, 0, false
}

func (ms *matcher) startCapture(s, p, length int) int {
	if ms.level >= maxCaptures {
		ms.fail("too many captures")
	}
	ms.caps[ms.level].start, ms.caps[ms.level].len = s, length
	ms.level++
	r := ms.match(s, p)
	if r < 0 {
		ms.level--
	}
	return r
}

func (ms *matcher) endCapture(s, p int) int {
	l := ms.level - 1
	for l >= 0 && ms.caps[l].len != captureOpen {
		l--
	}
	if l < 0 {
		ms.fail("invalid pattern capture")
	}
	ms.caps[l].len = s - ms.caps[l].start
	r := ms.match(s, p)
	if r < 0 {
		ms.caps[l].len = captureOpen
	}
	return r
}

func (ms *matcher) balance(s, p int) int {
	if p+1 >= len(ms.pat) {
		ms.fail("unbalanced pattern")
	}
	if s >= len(ms.src) || ms.src[s] != ms.pat[p] {
		return -1
	}
	open, closing, depth := ms.pat[p], ms.pat[p+1], 1
	for i := s + 1; i < len(ms.src); i++ {
		ms.m.spend(1)
		switch ms.src[i] {
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		case open:
			depth++
		}
	}
	return -1
}

func (ms *matcher) maxExpand(s, p, end int) int {
	i := 0
	for s+i < len(ms.src) && ms.single(ms.src[s+i], p, end) {
		ms.m.spend(1)
		i++
	}
	for ; i >= 0; i-- {
		if r := ms.match(s+i, end+1); r >= 0 {
			return r
		}
	}
	return -1
}

func (ms *matcher) minExpand(s, p, end int) int {
	for {
		if r := ms.match(s, end+1); r >= 0 {
			return r
		}
		if s >= len(ms.src) || !ms.single(ms.src[s], p, end) {
			return -1
		}
		ms.m.spend(1)
		s++
	}
}

// classEnd is where the single character class at p ends.
func (ms *matcher) classEnd(p int) int {
	c := ms.pat[p]
	p++
	switch c {
	case '%':
		if p >= len(ms.pat) {
			ms.fail("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		start := p
		if p < len(ms.pat) && ms.pat[p] == '^' {
			p++
		}
		for first := true; first || p >= len(ms.pat) || ms.pat[p] != ']'; first = false {
			if p >= len(ms.pat) {
				ms.fail("malformed pattern (missing ']')")
			}
			if ms.pat[p] == '%' {
				p++
			}
			p++
		}
		ms.m.spend(int64(p-start) / 8)
		return p + 1
	}
	return p
}

func (ms *matcher) single(c byte, p, end int) bool {
	switch ms.pat[p] {
	case '.':
		return true
	case '%':
		return classMatch(c, ms.pat[p+1])
	case '[':
		return ms.set(c, p, end-1)
	}
	return ms.pat[p] == c
}

// set matches [...]; p is at the [ and end at the ].
func (ms *matcher) set(c byte, p, end int) bool {
	ms.m.spend(int64(end-p) / 8)
	yes := true
	if ms.pat[p+1] == '^' {
		yes = false
		p++
	}
	for p++; p < end; p++ {
		switch {
		case ms.pat[p] == '%':
			p++
			if classMatch(c, ms.pat[p]) {
				return yes
			}
		case p+2 < end && ms.pat[p+1] == '-':
			if ms.pat[p] <= c && c <= ms.pat[p+2] {
				return yes
			}
			p += 2
		case ms.pat[p] == c:
			return yes
		}
	}
	return !yes
}

// classMatch is %a and the like, in the C locale.
func classMatch(c, class byte) bool {
	var yes bool
	switch class | 0x20 {
	case 'a':
		yes = isAlpha(c)
	case 'c':
		yes = c < ' ' || c == 127
	case 'd':
		yes = isDigit(c)
	case 'l':
		yes = c >= 'a' && c <= 'z'
	case 'p':
		yes = c > ' ' && c < 127 && !isAlpha(c) && !isDigit(c)
	case 's':
		yes = isSpace(c)
	case 'u':
		yes = c >= 'A' && c <= 'Z'
	case 'w':
		yes = isAlpha(c) || isDigit(c)
	case 'x':
		yes = hexDigit(c) >= 0
	case 'z':
		yes = c == 0
	default:
		return class == c
	}
	if !isAlpha(class) {
		return class == c
	}
	return yes == (class >= 'a')
}

// capture is the value of capture l of a match from s to e; capture 0 of a pattern
// without any is the match itself.
func (ms *matcher) capture(l, s, e int) value {
	if l >= ms.level {
		if l != 0 {
			ms.fail("invalid capture index")
		}
		return ms.sub(s, e)
	}
	c := ms.caps[l]
	switch c.len {
	case captureOpen:
		ms.fail("unfinished capture")
	case capturePosition:
		return number(float64(c.start + 1))
	}
	return ms.sub(c.start, c.start+c.len)
}

// sub is a piece of the subject, which it shares.
func (ms *matcher) sub(s, e int) value {
	ms.m.grow(sizeString)
	return str(ms.src[s:e])
}

// captures appends all captures, or the whole match if there are none and whole
// says so.
func (ms *matcher) captures(dst []value, s, e int, whole bool) []value {
	n := ms.level
	if n == 0 && whole {
		n = 1
	}
	for l := 0; l < n; l++ {
		dst = append(dst, ms.capture(l, s, e))
	}
	return dst
}
