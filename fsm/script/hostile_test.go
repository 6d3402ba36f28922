package script

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm/reply"
)

// run compiles and runs a script on an engine.
func run(t testing.TB, e *Engine, text string, keys ...string) Result {
	t.Helper()
	p, err := Compile(text, DefaultLimits())
	if err != nil {
		return Result{Value: reply.Err(err.Error()), Failed: true}
	}
	return e.Run(Call{Program: p, Keys: keys, Seed: 1}, newHost(), DefaultLimits())
}

// hostile scripts, and a part of the error that each must end with.
var hostile = []struct{ name, text, want string }{
	{"loop", `while true do end`, "instructions"},
	{"repeat", `repeat until false`, "instructions"},
	{"for", `for i=1,1e300 do end`, "instructions"},
	{"for without step", `for i=2,1,0 do end`, "instructions"},
	{"for that can't count on", `for i=2^53,2^53+10 do end`, "instructions"},
	{"pcall loop", `while true do pcall(function() while true do end end) end`, "instructions"},
	{"pcall error loop", `while true do pcall(error, {}) end`, "budget"},
	{"pcall of pcall", `local function f() while true do pcall(f) end end f()`, "budget"},
	{"xpcall handler loops", `xpcall(error, function() while true do end end)`, "instructions"},
	{"tail calls", `local function f() return f() end return f()`, "instructions"},
	{"redis.pcall loop", `while true do redis.pcall('get','k') end`, "budget"},
	{"doubling", `local s='x' while true do s=s..s end`, "memory"},
	{"appending", `local s='' while true do s=s..('x'):rep(1e6) end`, "memory"},
	{"list of big strings", `local t={} while true do t[#t+1]=('x'):rep(1e6) end`, "budget"},
	{"rep", `return ('x'):rep(1e9)`, "memory"},
	{"rep 1e10", `return string.rep('x',1e10)`, "memory"},
	{"rep huge", `return ('abc'):rep(1e300)`, ""},
	{"rep of nothing", `return ('x'):rep(2^62)`, "memory"},
	{"concat of list", `local t={} for i=1,1000 do t[i]=('x'):rep(1e4) end return table.concat(t)`, "memory"},
	{"format", `local s=('x'):rep(1e6) while true do s=string.format('%s%s',s,s) end`, "memory"},
	{"gsub growth", `local s='x' while true do s=s:gsub('.','%0%0') end`, "budget"},
	{"upper", `local s=('x'):rep(1e6) while true do s:upper() end`, "memory"},
	{"reverse", `local s=('x'):rep(1e6) while true do s:reverse() end`, "memory"},
	{"unpack", `return unpack({},1,1e8)`, "too many results"},
	{"unpack forever", `local t={} for i=1,7000 do t[i]=i end while true do select('#',unpack(t)) end`, "instructions"},
	{"spread args", `local function f(...) return f(1,...) end f()`, "budget"},
	{"deep args", `local function f(...) return 1,f(1,...) end f()`, ""},
	{"byte", `local s=('x'):rep(7000) while true do s:byte(1,-1) end`, "instructions"},
	{"char", `return string.char(unpack({},1,1e7))`, "too many results"},
	{"recursion", `local function f() return 1+f() end return f()`, "stack overflow"},
	{"recursion in pcall", `local function f() return pcall(f) end return f()`, ""},
	{"wide recursion", `local function f(a,b,c) local d,e,g={},{},{} return 1+f(d,e,g) end return f()`, "overflow"},
	{"index chain", `local t={} for i=1,1e4 do t=setmetatable({},{__index=t}) end return t.x`, "loop in gettable"},
	{"index cycle", `local a={} setmetatable(a,{__index=a}) return a.x`, "loop in gettable"},
	{"newindex cycle", `local a={} setmetatable(a,{__newindex=a}) a.x=1`, "loop in settable"},
	{"index function recursion", `local t t=setmetatable({},{__index=function(_,k) return t[k] end}) return t.x`, "stack overflow"},
	{"call chain", `local t={} for i=1,1e4 do t=setmetatable({},{__call=t}) end return t()`, "attempt to call"},
	{"call cycle", `local t=setmetatable({},{}) getmetatable(t).__call=t return t()`, "attempt to call"},
	{"eq recursion", `local mt={} mt.__eq=function(a,b) return a==b end return setmetatable({},mt)==setmetatable({},mt)`, "overflow"},
	{"concat recursion", `local mt={} mt.__concat=function(a,b) return a..b end return setmetatable({},mt)..'x'`, "overflow"},
	{"tostring recursion", `local mt={} mt.__tostring=function(a) return tostring(a) end return tostring(setmetatable({},mt))`, "overflow"},
	{"tostring error", `return tostring(setmetatable({},{__tostring=function() error('x') end}))`, "x"},
	{"pattern a?", `return ('a'):rep(26):find(('a?'):rep(26)..('a'):rep(26)..'b')`, "instructions"},
	{"pattern a*", `return ('a'):rep(3000):find('a*a*a*a*b')`, "instructions"},
	{"pattern .-", `return ('a'):rep(1e5):find('.-.-.-b')`, "instructions"},
	{"pattern balance", `return ('('):rep(1e6):find('%b()')`, "instructions"},
	{"pattern set", `return ('a'):rep(1e5):find('['..('b'):rep(1e5)..']')`, "instructions"},
	{"pattern deep", `return ('a'):rep(1e5):find(('(a)'):rep(300))`, "too"},
	{"pattern captures", `return ('a'):rep(1e5):find(('()'):rep(40))`, "too many captures"},
	{"back reference", `return (('a'):rep(1e6)):find('(a*)b%1')`, "instructions"},
	{"gmatch", `for w in ('a'):rep(1e6):gmatch('a*b') do end`, "instructions"},
	{"gsub callback", `return (('x'):rep(1e6)):gsub('.', function(c) return c..c end)`, "budget"},
	{"gsub callback recursion", `local function f(c) return (c:gsub('.', f)) end return f('x')`, "overflow"},
	{"sparse list", `local t={} t[67108863]=1 while true do t[#t+1]=1 end`, "budget"},
	{"many keys", `local t={} for i=1,1e7 do t[i*3.5]=i end`, "budget"},
	{"list", `local t={} for i=1,1e7 do t[i]=i end`, "budget"},
	{"insert in front", `local t={} while true do table.insert(t,1,1) end`, "budget"},
	{"insert far below", `table.insert({},-1e15,1)`, "budget"},
	{"remove in front", `local t={} for i=1,1e4 do t[i]=i end while true do table.remove(t,1) t[#t+1]=1 end`, "budget"},
	{"concat far", `return table.concat({},'',-1e15,1e15)`, "invalid value"},
	{"tables", `while true do local t={} end`, "memory"},
	{"closures", `while true do local f=function() end end`, "memory"},
	{"cells", `while true do local x local f=function() return x end end`, "memory"},
	{"next over holes", `local t={} for i=1,3e4 do t['k'..i]=i end while true do local k=next(t) if k then t[k]=nil end end`, "budget"},
	{"insert and delete", `local t={} for i=1,1e7 do t['k'..i%7]=i t['k'..i%7]=nil end`, "budget"},
	{"sort", `local t={} for i=1,1e4 do t[i]=i%10 end while true do table.sort(t) end`, "budget"},
	{"sort that lies", `local t={} for i=1,1000 do t[i]=i end table.sort(t,function() return true end)`, ""},
	{"sort that throws", `table.sort({3,2,1},function() error({err='MY cmp'}) end)`, "MY cmp"},
	{"sort in sort", `local function f() table.sort({3,2,1},f) end table.sort({3,2,1},f)`, "overflow"},
	{"sort long strings", `local t={} for i=1,100 do t[i]=('x'):rep(1e5)..i end while true do table.sort(t) end`, "budget"},
	{"long equality", `local a,b=('x'):rep(4e6),('x'):rep(4e6-1)..'x' while a==b do end`, "instructions"},
	{"long order", `local a,b=('x'):rep(4e6),('x'):rep(4e6-1)..'x' while a<=b do end`, "instructions"},
	{"long key", `local a,t=('x'):rep(4e6),{} for i=1,20 do t[i..'']=i end while not t[a] do end`, "instructions"},
	{"long number", `local a=('1'):rep(4e6) while a+0 do end`, "instructions"},
	{"long tonumber", `local a=('1'):rep(4e6) while tonumber(a) do end`, "instructions"},
	{"small numbers", `local s='2.2250738585072011e-308' while s+0 do end`, "instructions"},
	{"smallest number", `local s='5e-324' while s+0 do end`, "instructions"},
	{"smallest numbers spelled", `local x=5e-324 while #(x..'') do end`, "budget"},
	{"smallest numbers passed", `local x=5e-324 while redis.call('get',x)==false do end`, "budget"},
	{"pow", `local x=1.0000001 while x^1e15 do end`, "instructions"},
	{"pow of fractions", `local x=1.0000001 while x^0.1 do end`, "instructions"},
	{"sin", `while math.sin(1e308) do end`, "instructions"},
	{"long digits", `local s='0.'..('0'):rep(300)..('1234567890'):rep(70) while s+0 do end`, "instructions"},
	{"format digits", `while true do string.format('%.99f%.99e',5e-324,5e-324) end`, "budget"},
	{"fmod", `while true do math.fmod(1e308,1e-308) end`, "instructions"},
	{"tostring", `while true do tostring(0.1) end`, "budget"},
	{"find plain", `local a=('x'):rep(4e6) while true do a:find('y',1,true) end`, "instructions"},
	{"sha1hex", `local a=('x'):rep(4e6) while true do redis.sha1hex(a) end`, "instructions"},
	{"error texts", `local k=('x'):rep(1e4) while true do pcall(function() local t={} t[k].y=1 error(k) end) end`, "budget"},
	{"log", `local a=('x'):rep(1e6) while true do redis.log(0,a) end`, "memory"},
	{"status", `local a=('x'):rep(1e6) local t={} for i=1,1000 do t[i]={ok=a} end return t`, "memory"},
	{"wide reply", `local t={} for i=1,2000 do t[i]=i end local u={} for i=1,2000 do u[i]=t end return u`, "memory"},
	{"deep reply", `local t={} for i=1,500 do t={t} end return t`, ""},
	{"cyclic reply", `local t={} t[1]=t return t`, ""},
	{"cyclic map", `local t={} t.map=t return t`, ""},
	{"branching reply", `local t={} for i=1,100 do t={t,t} end return t`, "budget"},
	{"cjson cyclic", `local t={} t[1]=t return cjson.encode(t)`, "excessive nesting"},
	{"cjson branching", `local t={} for i=1,100 do t={t,t} end return cjson.encode(t)`, "budget"},
	{"cjson deep", `return cjson.decode(('['):rep(1e6))`, "too many nested"},
	{"cjson sparse", `return cjson.encode({[2^31]=1,[1]=1})`, "excessively sparse"},
	{"cjson sparse allowed", `cjson.encode_sparse_array(false,0) return cjson.encode({[2^40]=1})`, "budget"},
	{"cjson depth lifted", `cjson.encode_max_depth(2^31-1) local t={} t[1]=t return cjson.encode(t)`, "excessive nesting"},
	{"cjson decode", `local s='['..('1,'):rep(1e6)..'1]' return cjson.decode(s)`, "memory"},
	{"cjson strings", `local s=('\1'):rep(4e6) return cjson.encode(s)`, "memory"},
	{"error table", `error({})`, "ERR"},
	{"error function", `error(function() end)`, "ERR function"},
	{"error cyclic table", `local t={} t.err=t error(t)`, "ERR"},
	{"error in error", `xpcall(function() error('a') end, function() error('b') end) error('c')`, "c"},
	{"foreach", `local t={1} table.foreach(t,function(k) t[k]=nil t[k]=1 end) while true do end`, "instructions"},
	{"maxn", `local t={} for i=1,1e4 do t[i]=i end while true do table.maxn(t) end`, "instructions"},
	{"varargs kept", `local function f(...) local t={...} return f(t,...) end f()`, ""},
	{"random", `while true do math.random() end`, "instructions"},
	{"globals", `for k in pairs(_G) do pcall(rawset,_G,k,nil) end while true do end`, "instructions"},
}

// TestHostile: each script ends within a second, with an error, in bounded memory,
// and the engine still works.
func TestHostile(t *testing.T) {
	e := New()
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			r := run(t, e, h.text)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if !strings.Contains(r.Value.Str, h.want) || h.want != "" && !r.Value.IsError() {
				t.Errorf("answered %.200q, want an error with %q", r.Value.Str, h.want)
			}
			if took > time.Second && !raceEnabled {
				t.Errorf("took %v for %d instructions", took, r.Instructions)
			}
			// What it allocated in all is an upper bound of what it ever held.
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 200<<20 {
				t.Errorf("allocated %d MB, charged %d MB", grown>>20, r.Memory>>20)
			}
			if took > 200*time.Millisecond {
				t.Logf("%v, %d instructions, %d KB charged, %d KB allocated", took, r.Instructions, r.Memory>>10, (after.TotalAlloc-before.TotalAlloc)>>10)
			}
			if r := run(t, e, `return 1`); r.Value.Int != 1 {
				t.Fatalf("afterwards the engine answers %+v", r)
			}
		})
	}
}

// texts that must be refused while compiling, fast, without overflowing anything.
func hostileTexts() map[string]string {
	rep := strings.Repeat
	return map[string]string{
		"braces":       "return " + rep("{", 1<<20),
		"braces 60k":   "return " + rep("{", 60000),
		"hashes":       "return " + rep("#", 1<<20),
		"hashes 60k":   "return " + rep("#", 60000),
		"nots":         "return " + rep("not ", 15000) + "1",
		"minus":        "return " + rep("- ", 30000) + "1",
		"parens":       "return " + rep("(", 60000),
		"brackets":     "return a" + rep("[a", 30000),
		"concat chain": "return " + rep("a..", 20000) + "a",
		"40,000 parts": "return " + rep("a..", 40000) + "a",
		"plus chain":   "return " + rep("1+", 30000) + "1",
		"power chain":  "return " + rep("2^", 30000) + "1",
		"and chain":    "return " + rep("a and ", 10000) + "a",
		"dots":         "return a" + rep(".a", 30000),
		"calls":        "return a" + rep("()", 30000),
		"strings":      "return a" + rep("''", 30000),
		"methods":      "return a" + rep(":a()", 15000),
		"functions":    rep("local function f() ", 3000),
		"closures":     "return " + rep("function() return ", 3000),
		"ifs":          rep("if a then ", 6000),
		"whiles":       rep("while a do ", 5000),
		"dos":          rep("do ", 20000),
		"repeats":      rep("repeat ", 9000),
		"fors":         rep("for i=1,2 do ", 4500),
		"locals":       "local a" + rep(",a", 20000),
		"locals apart": rep("local a ", 8000),
		"params":       "return function(a" + rep(",a", 20000) + ") end",
		"args":         "return f(1" + rep(",1", 30000) + ")",
		"returns":      "return 1" + rep(",1", 30000),
		"targets":      "a" + rep(",a", 20000) + "=1",
		"for names":    "for a" + rep(",a", 20000) + " in b do end",
		"long name":    "function a" + rep(".a", 20000) + "() end",
		"upvalues": func() string {
			var b strings.Builder
			for i := 0; i < 150; i++ {
				b.WriteString("local a" + formatNumber(float64(i)) + " = 1 ")
			}
			b.WriteString("return function() return a0")
			for i := 1; i < 150; i++ {
				b.WriteString(" + a" + formatNumber(float64(i)))
			}
			return b.String() + " end"
		}(),
		"unfinished comment": "--[[" + rep("x", 60000),
		"unfinished string":  "return '" + rep("x", 60000),
		"closing brackets":   "return [==[" + rep("]=", 30000),
		"ambiguous newlines": rep("f\n(a)", 10000),
		"shebang only":       "#!" + rep("x", 60000),
		"tiny numbers":       "return {" + rep("5e-324,", 8000) + "}",
		"zero bytes":         rep("\x00", 60000),
	}
}

func TestHostileTexts(t *testing.T) {
	for name, text := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := Check(text, DefaultLimits())
			runtime.ReadMemStats(&after)
			if took := time.Since(start); took > 200*time.Millisecond && !raceEnabled {
				t.Errorf("took %v", took)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 100<<20 {
				t.Errorf("allocated %d MB", grown>>20)
			}
			if err == nil {
				t.Fatalf("accepted")
			}
			if _, ok := err.(*Error); !ok || !strings.HasPrefix(err.Error(), "ERR ") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("not an error reply: %.200q", err.Error())
			}
			if strings.Contains(err.Error(), "fault") {
				t.Errorf("the compiler failed: %s", err)
			}
			if len(err.Error()) > 300 {
				t.Errorf("an error of %d bytes: %.100q", len(err.Error()), err.Error())
			}
		})
	}
}

// TestLargeTexts: what is long but not deep compiles, and soon.
func TestLargeTexts(t *testing.T) {
	rep := strings.Repeat
	for name, text := range map[string]string{
		"elseifs":     "local a if a then " + rep("elseif a then ", 4000) + " end return 1",
		"statements":  "local a " + rep("a=1 ", 15000) + "return a",
		"table":       "return #{1" + rep(",1", 30000) + "}",
		"records":     "local t={" + rep("a=1,", 15000) + "} return t.a",
		"calls":       "local function f() end " + rep("f() ", 15000) + "return 1",
		"comment":     "--[[" + rep("\n", 60000) + "]] return 1",
		"string":      "return #'" + rep("x", 60000) + "'",
		"scopes":      rep("do local a end ", 4000) + "return 1",
		"functions":   rep("do local function f() end end ", 2000) + "return 1",
		"concats":     "return #(" + rep("'a'..", 100) + "'a')",
		"nested some": "return #" + rep("{", 90) + rep("}", 90),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if r := run(t, New(), text); r.Value.Kind != reply.Int {
				t.Errorf("answered %+v", r.Value)
			}
			if took := time.Since(start); took > 300*time.Millisecond && !raceEnabled {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestManyKeys: 200,000 keys are no reason to fail.
func TestManyKeys(t *testing.T) {
	keys := make([]string, 200_000)
	for i := range keys {
		keys[i] = "key"
	}
	r := run(t, New(), `return #KEYS`, keys...)
	if r.Value.Int != 200_000 {
		t.Errorf("answered %+v", r)
	}
	r = run(t, New(), `return redis.call('mget', unpack(KEYS))`, keys...)
	if !strings.Contains(r.Value.Str, "too many results to unpack") {
		t.Errorf("answered %+v", r)
	}
	r = run(t, New(), `for _, k in ipairs(KEYS) do redis.call('get', k) end`, keys...)
	if !r.OverBudget {
		t.Errorf("answered %+v", r)
	}
}

// TestSparseLists: far positions cost one entry.
func TestSparseLists(t *testing.T) {
	for _, text := range []string{
		`local t = {} t[67108863] = 1 return t[67108863]`,
		`local t = {} table.insert(t, 3e7, 1) return t[3e7]`,
		`local t = {} t[2^52] = 1 return t[2^52]`,
		`local t = {} t[-5] = 1 t[0] = 1 return t[-0]`,
	} {
		if r := run(t, New(), text); r.Value.Int != 1 || r.Memory > 2000 {
			t.Errorf("%s: %+v", text, r)
		}
	}
}
