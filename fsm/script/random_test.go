package script

import (
	"flag"
	"fmt"
	"math/rand"
	"regexp"
	"strings"
	"testing"
	"time"
)

var seedFlag = flag.Int64("seed", 0, "seed of the random tests; 0 draws one")

// seeded is a source of random numbers whose seed a failure shows.
func seeded(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	t.Logf("repeat with: go test ./fsm/script -run '^%s$' -seed %d", t.Name(), seed)
	return rand.New(rand.NewSource(seed))
}

func pick(r *rand.Rand, list ...string) string { return list[r.Intn(len(list))] }

// gen writes random Lua programs that end by themselves.
type gen struct {
	r      *rand.Rand
	depth  int
	names  []string // variables in scope
	fresh  int
	loops  int
	vararg bool
}

func (g *gen) number() string {
	return pick(g.r, "0", "1", "2", "3", "7", "-1", "0.5", "10", "1e3", "'5'", "'0x10'", "-2.25", "100")
}

func (g *gen) variable() string {
	if len(g.names) == 0 {
		return "1"
	}
	return g.names[g.r.Intn(len(g.names))]
}

func (g *gen) expr() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 || g.r.Intn(4) == 0 {
		switch g.r.Intn(8) {
		case 0:
			return g.number()
		case 1:
			return pick(g.r, "'x'", "''", "'abc'", "nil", "true", "false", "{}")
		default:
			return g.variable()
		}
	}
	switch g.r.Intn(18) {
	case 0, 1, 2:
		return g.expr() + pick(g.r, " + ", " - ", " * ", " / ", " % ") + g.expr()
	case 3:
		return g.expr() + " .. " + g.expr()
	case 4, 5:
		return g.expr() + pick(g.r, " == ", " ~= ", " < ", " > ", " <= ", " >= ") + g.expr()
	case 6, 7:
		return g.expr() + pick(g.r, " and ", " or ") + g.expr()
	case 8:
		return pick(g.r, "not ", "-", "#") + g.expr()
	case 9:
		return "(" + g.expr() + ")"
	case 10:
		return "{" + g.list(3) + pick(g.r, "", ", x = "+g.expr(), ", ["+g.expr()+"] = "+g.expr()) + "}"
	case 11:
		return g.variable() + pick(g.r, ".x", "[1]", "[2]", ".y.x", "["+g.expr()+"]")
	case 12:
		return pick(g.r, "id", "two", "vsum", "tostring", "tonumber", "type", "g") + "(" + g.list(3) + ")"
	case 13:
		return "(" + g.function() + ")(" + g.list(2) + ")"
	case 14:
		return "select('#', " + g.list(3) + ")"
	case 15:
		return g.variable() + pick(g.r, ":m(", ".m(", "(") + g.list(2) + ")"
	case 16:
		if g.vararg {
			return "..."
		}
	}
	return g.variable()
}

func (g *gen) list(most int) string {
	n := 1 + g.r.Intn(most)
	var parts []string
	for i := 0; i < n; i++ {
		parts = append(parts, g.expr())
	}
	return strings.Join(parts, ", ")
}

func (g *gen) name() string {
	g.fresh++
	if g.r.Intn(4) == 0 && len(g.names) > 0 {
		return g.variable() // shadows
	}
	return fmt.Sprintf("v%d", g.fresh)
}

func (g *gen) function() string {
	names, loops, vararg := g.names, g.loops, g.vararg
	g.names, g.loops = append([]string(nil), names...), 0
	params := []string{}
	for i := g.r.Intn(3); i > 0; i-- {
		params = append(params, g.name())
	}
	g.names = append(g.names, params...)
	g.vararg = g.r.Intn(3) == 0
	if g.vararg {
		params = append(params, "...")
	}
	s := "function(" + strings.Join(params, ", ") + ") " + g.block(2) + " return " + g.list(2) + " end"
	g.names, g.loops, g.vararg = names, loops, vararg
	return s
}

func (g *gen) target() string {
	v := g.variable()
	if v == "1" {
		return "T.x"
	}
	return v + pick(g.r, "", "", "", ".x", "[1]", "[#T]")
}

func (g *gen) block(most int) string {
	g.depth++
	defer func() { g.depth-- }()
	names := g.names
	g.names = append([]string(nil), names...)
	var b strings.Builder
	for i := 1 + g.r.Intn(most); i > 0; i-- {
		b.WriteString(g.statement())
		b.WriteString("\n")
	}
	g.names = names
	return b.String()
}

func (g *gen) statement() string {
	kind := g.r.Intn(14)
	if g.depth > 4 {
		kind = g.r.Intn(5)
	}
	switch kind {
	case 0, 1:
		e := g.list(2)
		n := g.name()
		if g.r.Intn(3) == 0 {
			m := g.name()
			g.names = append(g.names, n, m)
			return "local " + n + ", " + m + " = " + e
		}
		g.names = append(g.names, n)
		return "local " + n + " = " + e
	case 2, 3:
		return g.target() + " = " + g.expr()
	case 4:
		return g.target() + ", " + g.target() + " = " + g.list(3)
	case 5:
		return "if " + g.expr() + " then " + g.block(3) + pick(g.r, "", "elseif "+g.expr()+" then "+g.block(2), " else "+g.block(2)) + " end"
	case 6:
		g.loops++
		n := g.name()
		g.names = append(g.names, n)
		s := "for " + n + " = " + pick(g.r, "1, 3", "3, 1, -1", "1, 2, 0.5", "5, 1") + " do tick() " + g.block(3) + pick(g.r, "", "if "+g.expr()+" then break end ") + " end"
		g.loops--
		return s
	case 7:
		g.loops++
		k, v := g.name(), g.name()
		e := g.expr()
		g.names = append(g.names, k, v)
		s := "for " + k + ", " + v + " in " + pick(g.r, "ipairs", "pairs") + "({" + g.list(3) + "," + e + "}) do tick() " + g.block(2) + " end"
		g.loops--
		return s
	case 8:
		return "do " + g.block(3) + " end"
	case 9:
		n := g.name()
		g.names = append(g.names, n)
		return "local function " + n + " " + strings.TrimPrefix(g.function(), "function")
	case 10:
		return "repeat tick() " + g.block(2) + " until " + pick(g.r, "true", "T.n > 20", g.expr())
	case 11:
		return "while T.n < 30 do tick() " + g.block(2) + pick(g.r, " if "+g.expr()+" then break end", "") + " end"
	case 12:
		return "out(" + g.list(3) + ")"
	}
	return "out(pcall(" + g.function() + ", " + g.list(2) + "))"
}

// program is a script that answers all it printed. Loops end because tick does.
func program(r *rand.Rand) string {
	g := &gen{r: r, names: []string{"T", "T", "K"}}
	return `local ts = tostring local function tostring(v) if type(v) == 'table' or type(v) == 'function' then return type(v) end return ts(v) end
local T, K, O, n = {n = 0, 5, 6, x = {x = 1}}, 3, {}, 0
local function tick() T.n = (tonumber(T.n) or 0) + 1 n = n + 1 if n > 200 then error('ticks', 0) end end
local function show(v) if type(v) == 'table' then return 't' .. #v elseif type(v) == 'function' then return 'f' end return tostring(v) end
local function out(...) n = n + 1 if n > 200 then error('ticks', 0) end for i = 1, select('#', ...) do O[#O + 1] = show((select(i, ...))) end O[#O + 1] = ';' end
local function id(...) return ... end
local function two(a, b) return b, a end
local function vsum(...) local s = 0 for i = 1, select('#', ...) do s = s + (tonumber((select(i, ...))) or 0) end return s end
local g = function(a) return function() a = (tonumber(a) or 0) + 1 return a end end
T.m = function(self, a) return a, self end
local ok, e = pcall(function(...)
` + g.block(1+r.Intn(8)) + `
return 1 end, 1, 'two', nil, 4)
out(ok, e) return table.concat(O, ' ')`
}

var addresses = regexp.MustCompile(`\$\d+\r\n|: 0x[0-9a-f]+|(local|upvalue|field|global|method) '[^']*' [(]|value[)]?`)

func blurAddresses(s string) string { return addresses.ReplaceAllString(s, "") }

// TestRandomPrograms runs random programs here and in a real Redis.
func TestRandomPrograms(t *testing.T) {
	redis := startRedis(t)
	r := seeded(t)
	e := New()
	n := 3000
	if testing.Short() {
		n = 300
	}
	for i := 0; i < n; i++ {
		script := program(r)
		want := blurAddresses(redis.do(t, "EVAL", script, "0"))
		got := blurAddresses(answer(e, newHost(), script, nil, nil, false))
		if got != want {
			t.Fatalf("program %d\n%s\n got %q\nwant %q", i, script, got, want)
		}
	}
	redis.do(t, "SCRIPT", "FLUSH")
}
