package fsm

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseInt(t *testing.T) {
	for _, s := range []string{"", "-", "+1", "01", "-0", " 1", "1 ", "1.0", "0x10", "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1\x00"} {
		if n, ok := ParseInt(s); ok {
			t.Errorf("%q is %d", s, n)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		if got, ok := ParseInt(strconv.FormatInt(n, 10)); !ok || got != n {
			t.Fatalf("%d is %d, %v", n, got, ok)
		}
	})
	for _, n := range []int64{math.MinInt64, math.MaxInt64, 0, -1} {
		if got, ok := ParseInt(strconv.FormatInt(n, 10)); !ok || got != n {
			t.Errorf("%d is %d, %v", n, got, ok)
		}
	}
}

// The sums are those of a C long double with a mantissa of 64 bits.
func TestLongDouble(t *testing.T) {
	for _, c := range []struct{ a, b, sum string }{
		{"0.1", "0.2", "0.3"}, {"3.0e3", "200", "3200"}, {"1", "1e-17", "1.00000000000000001"}, {"1", "1e-19", "1"},
		{"10.5", "-10.5", "0"}, {"-0", "-0", "0"}, {"0x10", "0x.8", "16.5"}, {"5.", ".5", "5.5"}, {"+5", "0", "5"},
		{"123456789.987654321", "0", "123456789.98765432099753525"}, {"1e17", "0.1", "100000000000000000.1015625"}, {"1e-400", "0", "0"},
	} {
		a, ok1 := parseLongDouble(c.a)
		b, ok2 := parseLongDouble(c.b)
		if !ok1 || !ok2 {
			t.Errorf("%s + %s: not read", c.a, c.b)
			continue
		}
		if sum, ok := addLongDouble(a, b); !ok || formatLongDouble(sum) != c.sum {
			t.Errorf("%s + %s = %s, want %s", c.a, c.b, formatLongDouble(sum), c.sum)
		}
	}
	for _, s := range []string{"", " 1", "1 ", "abc", "nan", "1e", "0x", "0xp1", "1_0", "0b1", "1e5000", "-1e5000", "1e-5000", "1e99999999999", "--1", ".", "1.2.3", strings.Repeat("1", 6000)} {
		if f, ok := parseLongDouble(s); ok {
			t.Errorf("%.20q is %v", s, f)
		}
	}
	for _, c := range [][2]string{{"inf", "1"}, {"-inf", "inf"}, {"1e4932", "1e4932"}} {
		a, ok1 := parseLongDouble(c[0])
		b, ok2 := parseLongDouble(c[1])
		if !ok1 || !ok2 {
			t.Errorf("%v: not read", c)
		} else if sum, ok := addLongDouble(a, b); ok {
			t.Errorf("%v = %v", c, sum)
		}
	}
}
