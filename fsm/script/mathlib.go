package script

import "math"

// one-argument functions of a number. What they call in package math is exact
// (rounding, roots, taking a number apart), so no processor or release of Go can
// answer differently; the rest is in mathfn.go.
func unary(fn func(float64) float64) func(m *machine, args []value) []value {
	return func(m *machine, args []value) []value {
		x := m.checkNumber(args, 1)
		if math.Abs(x) > 1<<30 {
			m.spend(500) // bringing so large an angle within a turn takes a division bit by bit
		}
		return m.one(number(fn(x)))
	}
}

const degree = math.Pi / 180

var mathLibrary = []entry{
	{"abs", unary(math.Abs)},
	{"acos", unary(acos)},
	{"asin", unary(asin)},
	{"atan", unary(atan)},
	{"atan2", mathAtan2},
	{"ceil", unary(math.Ceil)},
	{"cos", unary(cos)},
	{"cosh", unary(cosh)},
	{"deg", unary(func(x float64) float64 { return x / degree })},
	{"exp", unary(exp)},
	{"floor", unary(math.Floor)},
	{"fmod", mathFmod},
	{"frexp", mathFrexp},
	{"ldexp", mathLdexp},
	{"log", unary(log)},
	{"log10", unary(log10)},
	{"max", func(m *machine, args []value) []value { return m.extreme(args, 1) }},
	{"min", func(m *machine, args []value) []value { return m.extreme(args, -1) }},
	{"mod", mathFmod},
	{"modf", mathModf},
	{"pow", mathPow},
	{"rad", unary(func(x float64) float64 { return x * degree })},
	{"random", mathRandom},
	{"randomseed", mathRandomSeed},
	{"sin", unary(sin)},
	{"sinh", unary(sinh)},
	{"sqrt", unary(math.Sqrt)},
	{"tan", unary(tan)},
	{"tanh", unary(tanh)},
}

func (m *machine) mathConstants() {
	t := m.lib("math")
	t.setString("pi", number(math.Pi))
	t.setString("huge", number(math.Inf(1)))
}

func mathAtan2(m *machine, args []value) []value {
	return m.one(number(atan2(m.checkNumber(args, 1), m.checkNumber(args, 2))))
}

func mathPow(m *machine, args []value) []value {
	return m.one(number(pow(m.checkNumber(args, 1), m.checkNumber(args, 2))))
}

// mathFmod is charged for the bits between its operands: the remainder is exact
// and made one bit at a time.
func mathFmod(m *machine, args []value) []value {
	x, y := m.checkNumber(args, 1), m.checkNumber(args, 2)
	_, ex := math.Frexp(x)
	_, ey := math.Frexp(y)
	m.spend(int64(max(ex-ey, 0)))
	return m.one(number(math.Mod(x, y)))
}

func mathFrexp(m *machine, args []value) []value {
	frac, exp := math.Frexp(m.checkNumber(args, 1))
	return m.two(number(frac), number(float64(exp)))
}

func mathLdexp(m *machine, args []value) []value {
	exp := m.checkInt(args, 2)
	return m.one(number(math.Ldexp(m.checkNumber(args, 1), int(max(min(exp, 5000), -5000)))))
}

func mathModf(m *machine, args []value) []value {
	f := m.checkNumber(args, 1)
	if math.IsInf(f, 0) {
		return m.two(number(f), number(math.Copysign(0, f)))
	}
	whole := math.Trunc(f)
	return m.two(number(whole), number(math.Copysign(f-whole, f)))
}

// extreme is math.max and math.min; want is what comparing with the best so far
// must give to replace it.
func (m *machine) extreme(args []value, want int) []value {
	best := m.checkNumber(args, 1)
	m.spend(int64(len(args)) / 8)
	for i := 2; i <= len(args); i++ {
		f := m.checkNumber(args, i)
		if want > 0 && f > best || want < 0 && f < best {
			best = f
		}
	}
	return m.one(number(best))
}

func mathRandom(m *machine, args []value) []value {
	r := m.random.float()
	switch len(args) {
	case 0:
		return m.one(number(r))
	case 1:
		u := m.checkInt(args, 1)
		if u < 1 {
			m.argError(1, "interval is empty")
		}
		return m.one(number(math.Floor(float64(r*float64(u))) + 1))
	case 2:
		l, u := m.checkInt(args, 1), m.checkInt(args, 2)
		if l > u {
			m.argError(2, "interval is empty")
		}
		width := float64(u) - float64(l) + 1
		return m.one(number(math.Floor(float64(r*width)) + float64(l)))
	}
	m.errorf("wrong number of arguments")
	return nil
}

func mathRandomSeed(m *machine, args []value) []value {
	m.random.seed(uint64(m.checkInt(args, 1)))
	return nil
}
