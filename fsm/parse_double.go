package fsm

import (
	"math"
	"strconv"
	"strings"
)

// parseDouble reads what C's strtod reads whole: decimal and hexadecimal numbers
// and infinities, but not what over- or underflows and no NaN.
func parseDouble(s string) (float64, bool) {
	if len(s) == 0 || len(s) > longDoubleTextMax {
		return 0, false
	}
	l, sign := lower(s), 1.0
	if l[0] == '-' {
		sign = -1
	}
	if l[0] == '-' || l[0] == '+' {
		l = l[1:]
	}
	switch {
	case l == "inf" || l == "infinity":
		return math.Inf(int(sign)), true
	case strings.HasPrefix(l, "0x"):
		if !hexFloat(l[2:]) {
			return 0, false
		}
		if !strings.Contains(l, "p") {
			l += "p0"
		}
	case !decimalFloat(l):
		return 0, false
	}
	f, err := strconv.ParseFloat(l, 64)
	if err != nil || f == 0 && hasDigit(l) {
		return 0, false
	}
	return math.Copysign(f, sign), true
}

// decimalFloat says whether s is digits with at most one point, and an optional exponent.
func decimalFloat(s string) bool {
	mantissa, exp, hasExp := strings.Cut(s, "e")
	whole, frac, _ := strings.Cut(mantissa, ".")
	return len(whole)+len(frac) > 0 && strings.Trim(whole+frac, "0123456789") == "" && (!hasExp || exponent(exp))
}

// hasDigit says whether a number has a digit other than 0 before its exponent.
func hasDigit(l string) bool {
	if digits, ok := strings.CutPrefix(l, "0x"); ok {
		digits, _, _ = strings.Cut(digits, "p")
		return strings.Trim(digits, "0.") != ""
	}
	mantissa, _, _ := strings.Cut(l, "e")
	return strings.Trim(mantissa, "0.") != ""
}
