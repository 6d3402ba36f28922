package script

import (
	"strconv"
	"strings"
)

// spec is one conversion of a format: %-05.2f.
type spec struct {
	minus, plus, blank, alt, zero bool
	width, prec                   int
	hasPrec                       bool
	verb                          byte
}

// parseSpec reads what follows a %; rest is the format after it.
func (m *machine) parseSpec(s string) (sp spec, rest string) {
	i := 0
	for ; i < len(s) && strings.IndexByte("-+ #0", s[i]) >= 0; i++ {
		switch s[i] {
		case '-':
			sp.minus = true
		case '+':
			sp.plus = true
		case ' ':
			sp.blank = true
		case '#':
			sp.alt = true
		case '0':
			sp.zero = true
		}
	}
	if i > 5 {
		m.errorf("invalid format (repeated flags)")
	}
	for n := 0; n < 2 && i < len(s) && isDigit(s[i]); n++ {
		sp.width = sp.width*10 + int(s[i]-'0')
		i++
	}
	if i < len(s) && s[i] == '.' {
		sp.hasPrec = true
		i++
		for n := 0; n < 2 && i < len(s) && isDigit(s[i]); n++ {
			sp.prec = sp.prec*10 + int(s[i]-'0')
			i++
		}
	}
	if i < len(s) && isDigit(s[i]) {
		m.errorf("invalid format (width or precision too long)")
	}
	if i < len(s) {
		sp.verb = s[i]
		i++
	}
	return sp, s[i:]
}

func stringFormat(m *machine, args []value) []value {
	format := m.checkString(args, 1)
	var out []byte
	arg := 1
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			m.chargeString(len(format))
			out = append(out, format...)
			break
		}
		m.chargeString(i)
		out = append(out, format[:i]...)
		format = format[i+1:]
		if strings.HasPrefix(format, "%") {
			out = append(out, '%')
			format = format[1:]
			continue
		}
		if arg++; arg > len(args) {
			m.argError(arg, "no value")
		}
		sp, rest := m.parseSpec(format)
		text := m.formatOne(sp, args, arg)
		m.chargeString(len(text))
		out = append(out, text...)
		format = rest
	}
	return m.one(m.newString(string(out)))
}

// costFloat is what spelling a number with any precision is charged: exact decimal
// digits of the smallest numbers take long division.
const costFloat = 200

func (m *machine) formatOne(sp spec, args []value, arg int) string {
	switch sp.verb {
	case 'c':
		return sp.pad(string([]byte{byte(m.checkInt(args, arg))}))
	case 'd', 'i':
		return sp.signed(m.checkInt(args, arg))
	case 'o', 'u', 'x', 'X':
		return sp.unsigned(m.checkNumber(args, arg))
	case 'e', 'E', 'f', 'g', 'G':
		m.spend(costFloat)
		return sp.float(m.checkNumber(args, arg))
	case 'q':
		return m.quote(m.checkString(args, arg))
	case 's':
		return sp.text(m.checkString(args, arg))
	}
	m.errorf("invalid option '%", string([]byte{sp.verb}), "' to 'format'")
	return ""
}

// pad fills a text to the width with blanks.
func (sp spec) pad(s string) string {
	n := sp.width - len(s)
	switch {
	case n <= 0:
		return s
	case sp.minus:
		return s + strings.Repeat(" ", n)
	}
	return strings.Repeat(" ", n) + s
}

// padNumber puts sign and digits together, with zeros between if asked for.
func (sp spec) padNumber(sign, digits string, zeros bool) string {
	if zeros && sp.zero && !sp.minus {
		if n := sp.width - len(sign) - len(digits); n > 0 {
			digits = strings.Repeat("0", n) + digits
		}
	}
	return sp.pad(sign + digits)
}

func (sp spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case sp.plus:
		return "+"
	case sp.blank:
		return " "
	}
	return ""
}

// atLeast is the precision of integers: how many digits there must be.
func (sp spec) atLeast(digits string) string {
	if sp.hasPrec {
		if sp.prec == 0 && digits == "0" {
			return ""
		}
		if n := sp.prec - len(digits); n > 0 {
			return strings.Repeat("0", n) + digits
		}
	}
	return digits
}

func (sp spec) signed(n int64) string {
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	return sp.padNumber(sp.sign(n < 0), sp.atLeast(strconv.FormatUint(u, 10)), !sp.hasPrec)
}

func (sp spec) unsigned(f float64) string {
	u := uint64(truncate(f))
	if f >= 9.223372036854775808e18 && f < 1.8446744073709551616e19 {
		u = uint64(f)
	}
	base, prefix := 10, ""
	switch sp.verb {
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
		if sp.alt && u != 0 {
			prefix = "0x"
		}
	}
	digits := sp.atLeast(strconv.FormatUint(u, base))
	if sp.verb == 'o' && sp.alt && !strings.HasPrefix(digits, "0") {
		digits = "0" + digits
	}
	s := sp.padNumber(prefix, digits, !sp.hasPrec)
	if sp.verb == 'X' {
		return strings.ToUpper(s)
	}
	return s
}

func (sp spec) float(f float64) string {
	upper := sp.verb < 'a'
	if s, ok := formatSpecial(f); ok {
		negative := s[0] == '-'
		if upper {
			s = strings.ToUpper(s)
		}
		return sp.padNumber(sp.sign(negative), strings.TrimPrefix(s, "-"), false)
	}
	prec := 6
	if sp.hasPrec {
		prec = sp.prec
	}
	var s string
	switch sp.verb | 0x20 {
	case 'g':
		s = formatG(f, prec, sp.alt)
	default:
		s = strconv.FormatFloat(f, sp.verb|0x20, prec, 64)
		if sp.alt && prec == 0 {
			s = alternatePoint(s)
		}
	}
	negative := s[0] == '-'
	if upper {
		s = strings.ToUpper(s)
	}
	return sp.padNumber(sp.sign(negative), strings.TrimPrefix(s, "-"), true)
}

// alternatePoint adds the point that # asks for where no digits follow.
func alternatePoint(s string) string {
	if i := strings.IndexByte(s, 'e'); i >= 0 {
		return s[:i] + "." + s[i:]
	}
	return s + "."
}

// text is %s. As in C, a zero byte ends what is formatted; long strings without a
// precision are taken as they are.
func (sp spec) text(s string) string {
	if !sp.hasPrec && len(s) >= 100 {
		return s
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if sp.hasPrec && len(s) > sp.prec {
		s = s[:sp.prec]
	}
	return sp.pad(s)
}

// quote is %q: a string that Lua reads back.
func (m *machine) quote(s string) string {
	m.chargeString(2 * len(s))
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			b = append(b, '\\', c)
		case '\r':
			b = append(b, `\r`...)
		case 0:
			b = append(b, `\000`...)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
