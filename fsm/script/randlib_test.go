package script

import (
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"strings"
	"testing"
)

// luaNumber writes a random number as Lua reads it.
func luaNumber(r *rand.Rand) string {
	switch r.Intn(6) {
	case 0:
		return strconv.Itoa(r.Intn(2001) - 1000)
	case 1:
		return strconv.FormatFloat(r.NormFloat64()*100, 'g', -1, 64)
	case 2:
		f := math.Float64frombits(r.Uint64())
		if f != f || math.IsInf(f, 0) {
			f = 1
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case 3:
		return fmt.Sprintf("%d.%d", r.Intn(100), r.Intn(1000))
	case 4:
		return strconv.FormatInt(int64(1)<<r.Intn(60), 10)
	}
	return pick(r, "0.5", "1.5", "2.5", "1e15", "1e16", "123456789", "0.1", "1e-5", "99999999999999", "5e-324", "0.00012345")
}

func luaString(r *rand.Rand, alphabet string, most int) string {
	var b strings.Builder
	for n := r.Intn(most + 1); n > 0; n-- {
		b.WriteByte(alphabet[r.Intn(len(alphabet))])
	}
	return b.String()
}

func randomFormat(r *rand.Rand) string {
	spec := "%" + luaString(r, "-+ #0", 2)
	if r.Intn(2) == 0 {
		spec += strconv.Itoa(1 + r.Intn(25))
	}
	if r.Intn(2) == 0 {
		spec += "." + strconv.Itoa(r.Intn(20))
	}
	verb := pick(r, "d", "i", "u", "x", "X", "o", "e", "E", "f", "g", "G", "s", "q", "c")
	arg := luaNumber(r)
	switch verb {
	case "u", "x", "X", "o":
		arg = strconv.Itoa(r.Intn(1 << 30)) // what C makes of others is its own business
	case "c":
		arg = "65"
	case "s", "q":
		arg = "'" + luaString(r, "ab c", 8) + "'"
	}
	return fmt.Sprintf("string.format('%s%s', %s)", spec, verb, arg)
}

func randomPattern(r *rand.Rand) string {
	piece := func() string {
		return pick(r, "a", "b", ".", "%a", "%d", "%w", "%s", "%S", "[ab]", "[^a]", "[a-c]", "[%d_]", "(a)", "(.)", "()", "(a*)", "([ab]+)", "%b()", "%f[%w]", "%1", "^", "$", "x", "%.", "(", ")", "[", "%")
	}
	var b strings.Builder
	for n := 1 + r.Intn(5); n > 0; n-- {
		b.WriteString(piece() + pick(r, "", "", "*", "+", "-", "?"))
	}
	return b.String()
}

func randomMatch(r *rand.Rand) string {
	s, p := luaString(r, "aabbc1 ()._x", 12), randomPattern(r)
	switch r.Intn(4) {
	case 0:
		return fmt.Sprintf("string.find('%s', '%s', %d)", s, p, r.Intn(9)-4)
	case 1:
		return fmt.Sprintf("string.match('%s', '%s')", s, p)
	case 2:
		return fmt.Sprintf("string.gsub('%s', '%s', '%s')", s, p, pick(r, "<%0>", "%1", "x", "", "%%", "%1%2"))
	}
	return fmt.Sprintf("(function() local t = {} for a, b in string.gmatch('%s', '%s') do t[#t+1] = tostring(a) .. tostring(b) if #t > 20 then break end end return table.concat(t, ',') end)()", s, p)
}

func randomSort(r *rand.Rand) string {
	var items []string
	for n := r.Intn(40); n > 0; n-- {
		items = append(items, strconv.Itoa(r.Intn(20)))
	}
	order := pick(r, "", ", function(a, b) return a < b end", ", function(a, b) return a > b end", ", function(a, b) return a <= b end",
		", function(a, b) return a % 3 < b % 3 end", ", function(a, b) return (a * 7 + b * 3) % 5 < 2 end", ", function(a, b) return true end", ", function(a, b) return nil end")
	return fmt.Sprintf("(function() local t = {%s} local ok, e = pcall(table.sort, t%s) return tostring(e) .. table.concat(t, ' ') end)()", strings.Join(items, ","), order)
}

func randomJSON(r *rand.Rand) string {
	return fmt.Sprintf("(function() local v = cjson.decode('%s') return type(v) == 'table' and cjson.encode(v) or tostring(v) end)()",
		luaString(r, `[]{}",:1-.e0tfnrusl\\ `, 6)+pick(r, "[1]", `{"a":1}`, "[]", "1", `"x"`, "null", "true")+luaString(r, `[]{},1 `, 2))
}

func randomArith(r *rand.Rand) string {
	a, b := luaNumber(r), luaNumber(r)
	switch r.Intn(9) {
	case 0:
		return "tonumber('" + luaString(r, "0123456789.eExXaf+- ", 7) + "')"
	case 1:
		return "tonumber('" + luaString(r, "01289azAZ+- ", 5) + "', " + strconv.Itoa(2+r.Intn(35)) + ")"
	case 2:
		return fmt.Sprintf("math.%s(%s)", pick(r, "floor", "ceil", "abs", "sqrt", "frexp", "modf"), a)
	case 3:
		return fmt.Sprintf("math.%s(%s, %s)", pick(r, "fmod", "max", "min"), a, b)
	case 4:
		return fmt.Sprintf("bit.%s(%d, %d)", pick(r, "band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "tohex"), r.Int63n(1<<33)-1<<32, r.Intn(70)-35)
	case 5:
		return "redis.sha1hex(" + a + ")"
	case 6:
		return fmt.Sprintf("redis.call('set', 'n', %s) and redis.call('get', 'n')", a)
	}
	return fmt.Sprintf("(%s) %s (%s)", a, pick(r, "+", "-", "*", "/", "%", "..", "<", "==", "<="), b)
}

// TestRandomLibraries calls library functions with random arguments here and in a
// real Redis.
func TestRandomLibraries(t *testing.T) {
	redis := startRedis(t)
	r := seeded(t)
	e := New()
	n := 20000
	if testing.Short() {
		n = 500
	}
	makers := []func(*rand.Rand) string{randomFormat, randomMatch, randomSort, randomJSON, randomArith}
	bad := 0
	for i := 0; i < n && bad < 10; i++ {
		call := makers[i%len(makers)](r)
		script := "local t = {pcall(function() return " + call + " end)} for i = 1, table.maxn(t) do t[i] = tostring(t[i]) end return t"
		want := redis.do(t, "EVAL", script, "0")
		got := answer(e, newHost(), script, nil, nil, false)
		if strings.Contains(want, "nan") {
			continue // the sign of a NaN is the processor's
		}
		if got != want {
			bad++
			t.Errorf("%s\n got %q\nwant %q", script, got, want)
		}
	}
	redis.do(t, "SCRIPT", "FLUSH")
}

// TestMath compares our transcendental functions with package math's, which are
// accurate but not the same everywhere.
func TestMath(t *testing.T) {
	r := seeded(t)
	one := map[string][2]func(float64) float64{
		"exp": {exp, math.Exp}, "log": {log, math.Log}, "log10": {log10, math.Log10}, "sin": {sin, math.Sin}, "cos": {cos, math.Cos}, "tan": {tan, math.Tan},
		"asin": {asin, math.Asin}, "acos": {acos, math.Acos}, "atan": {atan, math.Atan}, "sinh": {sinh, math.Sinh}, "cosh": {cosh, math.Cosh}, "tanh": {tanh, math.Tanh},
	}
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 10, 1000, 1e-10, 1e10, 700, 720, -745, -760, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, math.MaxFloat64}
	near := func(a, b float64) bool {
		return a == b || a != a && b != b || math.Abs(a-b) <= 4e-15*math.Abs(b)+1e-15*math.Min(1, math.Abs(b))+1e-300
	}
	for name, f := range one {
		for i := 0; i < 5000; i++ {
			x := r.NormFloat64() * math.Pow(10, float64(r.Intn(4)-2))
			if i < len(special) {
				x = special[i]
			}
			if strings.HasPrefix(name, "log") && x == 5e-324 {
				continue // package math is wrong there on amd64
			}
			if (name == "sin" || name == "cos" || name == "tan") && math.Abs(x) > 1e5 {
				continue
			}
			got, want := f[0](x), f[1](x)
			if (name == "sin" || name == "cos" || name == "tan") && math.Abs(got-want) < 1e-15*(1+want*want) {
				continue
			}
			if (name == "acos" || name == "asin") && math.Abs(got-want) < 4e-15 {
				continue
			}
			if !near(got, want) {
				t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
				break
			}
		}
	}
	for i := 0; i < 20000; i++ {
		x, y := math.Abs(r.NormFloat64())*10, r.NormFloat64()*20
		if i%2 == 0 {
			y = math.Trunc(y)
		}
		if i < len(special)*len(special) {
			x, y = special[i%len(special)], special[i/len(special)]
			if x == 5e-324 {
				continue
			}
		}
		if got, want := pow(x, y), math.Pow(x, y); !near(got, want) && math.Abs(got-want) > 1e-13*math.Abs(want) {
			t.Errorf("pow(%v, %v) = %v, want %v", x, y, got, want)
		}
		if got, want := atan2(x, y), math.Atan2(x, y); !near(got, want) {
			t.Errorf("atan2(%v, %v) = %v, want %v", x, y, got, want)
		}
	}
	for _, c := range [][3]float64{{2, 53, 1 << 53}, {10, 15, 1e15}, {10, 22, 1e22}, {-2, 3, -8}, {2, -2, 0.25}, {3, 20, 3486784401}} {
		if got := pow(c[0], c[1]); got != c[2] {
			t.Errorf("pow(%v, %v) = %v, want exactly %v", c[0], c[1], got, c[2])
		}
	}
}
