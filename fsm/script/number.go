package script

import (
	"math"
	"strconv"

	"github.com/redfence/redfence/fsm/reply"
)

// formatNumber is tostring's %.14g. A NaN is spelled as Redis spells the one that
// x86 makes of 0/0: the sign of a NaN is the processor's business.
func formatNumber(f float64) string {
	if f == float64(int32(f)) && f != 0 {
		return strconv.FormatInt(int64(f), 10)
	}
	return formatG(f, 14, false)
}

// formatArg is how a number is passed to a command: %.17g.
func formatArg(f float64) string {
	if f > -1e15 && f < 1e15 && f == math.Trunc(f) && f != 0 {
		return strconv.FormatInt(int64(f), 10)
	}
	return formatG(f, 17, false)
}

func formatSpecial(f float64) (string, bool) {
	switch {
	case f != f:
		return "-nan", true
	case math.IsInf(f, 1):
		return "inf", true
	case math.IsInf(f, -1):
		return "-inf", true
	}
	return "", false
}

// formatG is C's %.<prec>g, with alternate also keeping trailing zeros (%#g).
func formatG(f float64, prec int, alternate bool) string {
	if s, ok := formatSpecial(f); ok {
		return s
	}
	return reply.FormatG(f, prec, alternate)
}

// truncate is C's (long long)f on the processors that Redis runs on, with one
// answer for what doesn't fit.
func truncate(f float64) int64 {
	if f >= -9.223372036854775808e18 && f < 9.223372036854775808e18 {
		return int64(f)
	}
	return math.MinInt64
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// parseNumber reads a number as Lua 5.1 does with C's strtod: blanks around it,
// a sign, decimal or hexadecimal, inf and nan.
func parseNumber(s string) (float64, bool) {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	body, negative := s, false
	if len(body) > 0 && (body[0] == '-' || body[0] == '+') {
		negative = body[0] == '-'
		body = body[1:]
	}
	f, ok := parseUnsigned(body)
	if negative {
		f = -f
	}
	return f, ok
}

func parseUnsigned(s string) (float64, bool) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		return parseHex(s[2:])
	}
	if len(s) > 0 && !isDigit(s[0]) && s[0] != '.' {
		return parseWord(s)
	}
	digits, i := 0, 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && isDigit(s[i]); i++ {
			digits++
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		start := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		if i == start {
			return 0, false
		}
	}
	if i != len(s) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range is an infinity, as in C
	return f, true
}

func parseWord(s string) (float64, bool) {
	switch lower(s) {
	case "inf", "infinity":
		return math.Inf(1), true
	case "nan":
		return math.NaN(), true
	}
	return 0, false
}

// parseHex reads hexadecimal digits, with a fraction and a binary exponent as C99
// allows.
func parseHex(s string) (float64, bool) {
	mantissa, exp, digits, i := 0.0, 0, 0, 0
	for point := false; i < len(s); i++ {
		if s[i] == '.' && !point {
			point = true
			continue
		}
		d := hexDigit(s[i])
		if d < 0 {
			break
		}
		digits++
		mantissa = float64(mantissa*16) + float64(d)
		if point {
			exp -= 4
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(s) && s[i]|0x20 == 'p' {
		n, err := strconv.ParseInt(s[i+1:], 10, 32)
		if err != nil {
			return 0, false
		}
		exp += int(n)
		i = len(s)
	}
	if i != len(s) {
		return 0, false
	}
	return math.Ldexp(mantissa, exp), true
}

// lower maps A to Z as the C locale does.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
