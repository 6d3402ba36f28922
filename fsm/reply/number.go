package reply

import "strconv"

// FormatDouble spells a double as Redis 7 does in replies: 17 significant
// digits at most, integers without a fraction.
func FormatDouble(f float64) string {
	switch {
	case f != f:
		return "nan"
	case f > 1.7976931348623157e308:
		return "inf"
	case f < -1.7976931348623157e308:
		return "-inf"
	case f == 0 && 1/f < 0:
		return "-0"
	}
	if f == float64(int64(f)) && f > -1e17 && f < 1e17 {
		return strconv.FormatInt(int64(f), 10)
	}
	return FormatG(f, 17, false)
}

// FormatG is C's %.<prec>g for finite f, with alternate also keeping trailing zeros
// (%#g).
func FormatG(f float64, prec int, alternate bool) string {
	if prec == 0 {
		prec = 1
	}
	s := strconv.FormatFloat(f, 'e', prec-1, 64)
	mark := len(s) - 1
	for s[mark] != 'e' {
		mark--
	}
	exp, _ := strconv.Atoi(s[mark+1:])
	if exp < -4 || exp >= prec {
		return trimFraction(s[:mark], alternate) + s[mark:]
	}
	return trimFraction(placePoint(s[:mark], exp), alternate)
}

// placePoint turns d.ddd times ten to the exp into plain digits. (Asking strconv
// for them costs microseconds.)
func placePoint(s string, exp int) string {
	buf := make([]byte, 0, 32)
	if s[0] == '-' {
		buf = append(buf, '-')
		s = s[1:]
	}
	if exp < 0 {
		buf = append(buf, "0.0000"[:1-exp]...)
		buf = append(buf, s[0])
		if len(s) > 1 {
			buf = append(buf, s[2:]...)
		}
		return string(buf)
	}
	buf = append(buf, s[0])
	if len(s) > 1 {
		buf = append(buf, s[2:2+exp]...)
		if len(s) > 2+exp {
			buf = append(append(buf, '.'), s[2+exp:]...)
		}
	}
	return string(buf)
}

// trimFraction drops zeros at the end of a fraction.
func trimFraction(s string, keep bool) string {
	dot := false
	for i := 0; i < len(s); i++ {
		dot = dot || s[i] == '.'
	}
	if keep {
		if !dot {
			s += "."
		}
		return s
	}
	if !dot {
		return s
	}
	end := len(s)
	for s[end-1] == '0' {
		end--
	}
	if s[end-1] == '.' {
		end--
	}
	return s[:end]
}
