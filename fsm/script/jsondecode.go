package script

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonToken is what the decoder found; its name is what errors call it.
type jsonToken string

const (
	jsonObjBegin jsonToken = "T_OBJ_BEGIN"
	jsonObjEnd   jsonToken = "T_OBJ_END"
	jsonArrBegin jsonToken = "T_ARR_BEGIN"
	jsonArrEnd   jsonToken = "T_ARR_END"
	jsonString   jsonToken = "T_STRING"
	jsonNumber   jsonToken = "T_NUMBER"
	jsonBoolean  jsonToken = "T_BOOLEAN"
	jsonNull     jsonToken = "T_NULL"
	jsonColon    jsonToken = "T_COLON"
	jsonComma    jsonToken = "T_COMMA"
	jsonEnd      jsonToken = "T_END"
)

var jsonPunctuation = [...]jsonToken{jsonObjBegin, jsonObjEnd, jsonArrBegin, jsonArrEnd, jsonColon, jsonComma}

type jsonDecoder struct {
	m     *machine
	c     *jsonConfig
	src   string
	pos   int
	depth int64

	tok   jsonToken // or what is wrong
	val   value
	index int // where tok begins
}

func jsonDecode(m *machine, c *jsonConfig, args []value) []value {
	if len(args) != 1 {
		m.argError(1, "expected 1 argument")
	}
	d := &jsonDecoder{m: m, c: c, src: m.checkString(args, 1)}
	if len(d.src) >= 2 && (d.src[0] == 0 || d.src[1] == 0) {
		m.errorf("JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	v := d.value()
	if d.next(); d.tok != jsonEnd {
		d.expected("the end")
	}
	return m.one(v)
}

func (d *jsonDecoder) expected(what string) {
	d.m.errorf("Expected ", what, " but found ", string(d.tok), " at character ", strconv.Itoa(d.index+1))
}

func (d *jsonDecoder) at(i int) byte {
	if i < len(d.src) {
		return d.src[i]
	}
	return 0
}

// bad makes the token an error at the present position.
func (d *jsonDecoder) bad(what string) {
	d.tok = jsonToken(what)
	d.index = d.pos
}

// next reads one token; what isn't one becomes an error when it is used.
func (d *jsonDecoder) next() {
	d.m.spend(1)
	start := d.pos
	for c := d.at(d.pos); d.pos < len(d.src) && (c == ' ' || c == '\t' || c == '\n' || c == '\r'); c = d.at(d.pos) {
		d.pos++
	}
	d.m.spend(int64(d.pos-start) / 16)
	d.index = d.pos
	if d.pos >= len(d.src) {
		d.tok = jsonEnd
		return
	}
	c := d.src[d.pos]
	rest := d.src[d.pos:]
	switch {
	case strings.IndexByte("{}[]:,", c) >= 0:
		d.tok = jsonPunctuation[strings.IndexByte("{}[]:,", c)]
		d.pos++
	case c == '"':
		d.text()
	case c == '-' || isDigit(c):
		if d.c.refusedInvalid && invalidNumber(rest) {
			d.bad("invalid number")
			return
		}
		d.number()
	case strings.HasPrefix(rest, "true"):
		d.word(jsonBoolean, trueValue, 4)
	case strings.HasPrefix(rest, "false"):
		d.word(jsonBoolean, falseValue, 5)
	case strings.HasPrefix(rest, "null"):
		d.word(jsonNull, d.m.nullJSON, 4)
	case !d.c.refusedInvalid && invalidNumber(rest):
		d.number()
	case c == 0:
		d.tok = jsonEnd // as for a C string
	default:
		d.bad("invalid token")
	}
}

func (d *jsonDecoder) word(tok jsonToken, v value, n int) {
	d.tok, d.val = tok, v
	d.pos += n
}

// invalidNumber reports what C reads as a number and JSON doesn't.
func invalidNumber(s string) bool {
	if s[0] == '+' {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if s == "" {
		return false
	}
	if s[0] == '0' {
		return len(s) > 1 && (s[1]|0x20 == 'x' || isDigit(s[1]))
	}
	if s[0] <= '9' || len(s) < 3 {
		return false
	}
	word := lower(s[:3])
	return word == "inf" || word == "nan"
}

// number reads as far as C's strtod would.
func (d *jsonDecoder) number() {
	n := numberPrefix(d.src[d.pos:])
	d.m.spend(int64(n) / 16)
	f, ok := d.m.parseNumber(d.src[d.pos : d.pos+n])
	if !ok {
		d.bad("invalid number")
		return
	}
	d.word(jsonNumber, number(f), n)
}

// numberPrefix is how much of s may be a number.
func numberPrefix(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for _, w := range [...]string{"infinity", "inf", "nan"} {
		if len(s) >= i+len(w) && lower(s[i:i+len(w)]) == w {
			return i + len(w)
		}
	}
	digit, mark := func(c byte) bool { return isDigit(c) }, byte('e')
	if i+2 < len(s) && s[i] == '0' && s[i+1]|0x20 == 'x' && hexDigit(s[i+2]) >= 0 {
		digit, mark = func(c byte) bool { return hexDigit(c) >= 0 }, 'p'
		i += 2
	}
	point := false
	for i < len(s) && (digit(s[i]) || s[i] == '.' && !point) {
		point = point || s[i] == '.'
		i++
	}
	if i < len(s) && s[i]|0x20 == mark {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			i = j
		}
	}
	return i
}

func (d *jsonDecoder) value() value {
	switch d.tok {
	case jsonString, jsonNumber, jsonBoolean, jsonNull:
		return d.val
	case jsonObjBegin:
		return d.object()
	case jsonArrBegin:
		return d.array()
	}
	d.expected("value")
	return nilValue
}

func (d *jsonDecoder) descend() {
	d.depth++
	if d.depth > min(d.c.decodeDepth, d.m.lim.MaxJSONNesting) {
		d.m.errorf("Found too many nested data structures (", strconv.FormatInt(d.depth, 10),
			") at character ", strconv.Itoa(d.pos))
	}
}

func (d *jsonDecoder) object() value {
	d.descend()
	t := d.m.newTable()
	d.next()
	if d.tok == jsonObjEnd {
		d.depth--
		return tab(t)
	}
	for {
		if d.tok != jsonString {
			d.expected("object key string")
		}
		key := d.val
		if d.next(); d.tok != jsonColon {
			d.expected("colon")
		}
		d.next()
		v := d.value()
		d.m.chargeKey(&key)
		d.m.grow(t.set(&key, v))
		d.next()
		if d.tok == jsonObjEnd {
			d.depth--
			return tab(t)
		}
		if d.tok != jsonComma {
			d.expected("comma or object end")
		}
		d.next()
	}
}

func (d *jsonDecoder) array() value {
	d.descend()
	t := d.m.newTable()
	d.next()
	if d.tok == jsonArrEnd {
		d.depth--
		return tab(t)
	}
	for {
		v := d.value()
		d.m.grow(sizeArraySeg)
		t.list = append(t.list, v)
		d.next()
		if d.tok == jsonArrEnd {
			d.depth--
			return tab(t)
		}
		if d.tok != jsonComma {
			d.expected("comma or array end")
		}
		d.next()
	}
}

// text reads a string; control characters are taken as they are.
func (d *jsonDecoder) text() {
	start := d.pos
	var b []byte
	for d.pos++; ; {
		c := d.at(d.pos)
		switch {
		case c == 0:
			d.bad("unexpected end of string")
			return
		case c == '"':
			d.pos++
			d.m.spend(int64(d.pos-start) / 16)
			d.tok, d.val = jsonString, d.m.newString(string(b))
			return
		case c != '\\':
			b = append(b, c)
			d.pos++
		case d.at(d.pos+1) == 'u':
			r, n := d.unicode()
			if n == 0 {
				d.bad("invalid unicode escape code")
				return
			}
			b = utf8.AppendRune(b, r)
			d.pos += n
		default:
			i := strings.IndexByte(`"\/btnfr`, d.at(d.pos+1))
			if i < 0 || d.at(d.pos+1) == 0 {
				d.bad("invalid escape code")
				return
			}
			b = append(b, "\"\\/\b\t\n\f\r"[i])
			d.pos += 2
		}
	}
}

func (d *jsonDecoder) hex4(i int) int {
	n := 0
	for j := i; j < i+4; j++ {
		h := hexDigit(d.at(j))
		if h < 0 {
			return -1
		}
		n = n<<4 | h
	}
	return n
}

// unicode reads \uXXXX, or two of them for what lies beyond 16 bits.
func (d *jsonDecoder) unicode() (r rune, n int) {
	c := d.hex4(d.pos + 2)
	if c < 0 {
		return 0, 0
	}
	if c&0xF800 != 0xD800 {
		return rune(c), 6
	}
	if c&0x400 != 0 || d.at(d.pos+6) != '\\' || d.at(d.pos+7) != 'u' {
		return 0, 0
	}
	low := d.hex4(d.pos + 8)
	if low < 0 || low&0xFC00 != 0xDC00 {
		return 0, 0
	}
	return rune(c&0x3FF<<10|low&0x3FF) + 0x10000, 12
}
