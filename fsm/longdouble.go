package fsm

import (
	"math/big"
	"strconv"
	"strings"
)

// INCRBYFLOAT counts in the C long double of the machine that Redis runs on: on
// amd64 a mantissa of 64 bits and an exponent of 15. big.Float with a precision
// of 64 rounds alike; only the range is left to check.
const (
	longDoublePrec   = 64
	longDoubleMaxExp = 16384  // values are below 2^16384
	longDoubleMinExp = -16445 // values are at least 2^-16445, but for zero
	// longDoubleTextMax is the longest text that Redis reads as one.
	longDoubleTextMax = 5*1024 - 1
)

// parseLongDouble reads what C's strtold reads whole: decimal and hexadecimal
// numbers and infinities, but not what over- or underflows and no NaN.
func parseLongDouble(s string) (*big.Float, bool) {
	if len(s) == 0 || len(s) > longDoubleTextMax {
		return nil, false
	}
	body := strings.TrimLeft(s[:1], "+-") + s[1:]
	negative := s[0] == '-'
	f := new(big.Float).SetPrec(longDoublePrec)
	switch l := lower(body); {
	case l == "inf" || l == "infinity":
		f.SetInf(negative)
		return f, true
	case strings.HasPrefix(l, "0x"):
		if !hexFloat(l[2:]) {
			return nil, false
		}
		if _, _, err := f.Parse(l, 0); err != nil {
			return nil, false
		}
	case !setDecimal(f, l):
		return nil, false
	}
	if f.Sign() != 0 && (f.IsInf() || f.MantExp(nil) > longDoubleMaxExp || f.MantExp(nil) < longDoubleMinExp+1) {
		return nil, false
	}
	if negative {
		f.Neg(f)
	}
	return f, true
}

// hexFloat says whether s is hexadecimal digits with at most one point, and an
// optional binary exponent.
func hexFloat(s string) bool {
	mantissa, exp, hasExp := strings.Cut(s, "p")
	if hasExp && !exponent(exp) {
		return false
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	return len(whole)+len(frac) > 0 && strings.Trim(whole+frac, "0123456789abcdef") == ""
}

func exponent(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// setDecimal sets f to the decimal number s, correctly rounded.
func setDecimal(f *big.Float, s string) bool {
	mantissa, exp, hasExp := strings.Cut(s, "e")
	whole, frac, _ := strings.Cut(mantissa, ".")
	if len(whole)+len(frac) == 0 || strings.Trim(whole+frac, "0123456789") != "" || hasExp && !exponent(exp) {
		return false
	}
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		f.SetInt64(0)
		return true
	}
	shift := int64(-len(frac))
	if hasExp {
		e, err := strconv.ParseInt(exp, 10, 32)
		if err != nil {
			return false // over- or underflows, since the digits can't make up for it
		}
		shift += e
	}
	// The first digit's place bounds what has to be computed.
	if first := shift + int64(len(digits)); first > 4940 || first < -4960 {
		return false
	}
	n, _ := new(big.Int).SetString(digits, 10)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(shift, -shift)), nil)
	if shift >= 0 {
		f.SetInt(n.Mul(n, power))
	} else {
		f.SetRat(new(big.Rat).SetFrac(n, power))
	}
	return true
}

// addLongDouble is false if the sum is no finite long double.
func addLongDouble(a, b *big.Float) (*big.Float, bool) {
	if a.IsInf() || b.IsInf() {
		return nil, false
	}
	sum := new(big.Float).SetPrec(longDoublePrec).Add(a, b)
	return sum, sum.Sign() == 0 || sum.MantExp(nil) <= longDoubleMaxExp
}

// formatLongDouble is C's printf("%.17Lf") without the zeros at the end.
func formatLongDouble(f *big.Float) string {
	s := strings.TrimRight(f.Text('f', 17), "0")
	s = strings.TrimSuffix(s, ".")
	if s == "-0" {
		return "0"
	}
	return s
}
