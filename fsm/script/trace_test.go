package script

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// traces are ways to leave something behind for the next script; %s is a name.
var traces = []string{
	`%[1]s = 1`, `_G.%[1]s = 1`, `_G['%[1]s'] = 1`, `rawset(_G, '%[1]s', 1)`, `string.%[1]s = 1`, `table.%[1]s = 1`,
	`redis.%[1]s = 1`, `cjson.%[1]s = 1`, `rawset(math, '%[1]s', 1)`, `rawset(bit, '%[1]s', 1)`, `_G.string = nil`, `string.rep = nil`,
	`setmetatable(_G, {__index = function() return 1 end})`, `setmetatable(_G, nil)`, `setmetatable(string, {__index = function() return 1 end})`,
	`getmetatable('').__index = function() return 1 end`, `getmetatable('').%[1]s = 1`, `rawset(getmetatable(''), '__index', nil)`,
	`rawset(getmetatable(''), '__add', function() return 1 end)`, `setmetatable(getmetatable(''), {})`, `getmetatable(_G).__index = nil`,
	`rawset(getmetatable(_G) or {}, '__index', nil)`, `KEYS.%[1]s = 1 KEYS[5] = 2`, `ARGV[1] = nil ARGV.%[1]s = KEYS`, `KEYS = nil`,
	`setmetatable(KEYS, {__index = function() return 1 end})`, `table.insert(string, 1)`, `table.sort(redis)`, `table.remove(_G)`,
	`redis.setresp(3)`, `redis.setresp(3) error('x')`, `math.randomseed(%[2]d)`, `for i = 1, %[2]d do math.random() end`,
	`cjson.encode_max_depth(%[2]d + 1)`, `cjson.encode_sparse_array(true, 1, 1)`, `cjson.encode_number_precision(3)`, `cjson.encode_invalid_numbers(true)`,
	`cjson.decode_max_depth(1)`, `cjson.decode_invalid_numbers(false)`, `cjson.encode_keep_buffer(false)`, `cjson.new().encode_max_depth(1)`,
	`for i = 1, %[2]d do tostring({}) end`, `tostring(print) tostring(string) tostring(pcall)`, `tostring(cjson.null)`, `tostring(function() end)`,
	`local t = {} for k in pairs(_G) do t[k] = tostring(_G[k]) end`, `while true do end`, `local s = 'x' while true do s = s .. s end`,
	`local function f() return 1 + f() end f()`, `local function f(...) return f(1, ...) end f()`, `error({err = 'x'})`, `error(setmetatable({}, {__tostring = error}))`,
	`pcall(error) pcall(pcall, pcall) pcall(rawset, string, 1, 1)`, `local g = ('x'):gmatch('x') g() g()`, `string.gsub('abc', '.', function() error('%[1]s') end)`,
	`table.sort({3, 2, 1}, function(a, b) error('%[1]s') end)`, `for k, v in pairs(string) do rawset(string, k, nil) end`, `for k in next, redis do redis[k] = nil end`,
	`redis.set_repl(redis.REPL_NONE)`, `redis.replicate_commands()`, `redis.log(3, '%[1]s')`, `redis.call('set', '%[1]s', 'x')`, `redis.pcall('nosuch')`,
	`collectgarbage('stop')`, `collectgarbage()`, `select('#', unpack({}, 1, 5000))`, `local t = setmetatable({}, {__gc = error, __mode = 'k'})`,
	`string.format = print`, `_VERSION = '%[1]s'`, `_G._G = nil`, `setmetatable(redis, {__newindex = rawset})`, `local mt = getmetatable('x') mt.__metatable = 1`,
}

// probe looks at all that a script could have changed.
const probe = `local out = {}
local function say(...) for i = 1, select('#', ...) do out[#out + 1] = tostring((select(i, ...))) end end
for k, v in pairs(_G) do say(k, v) end
for _, lib in ipairs({'string', 'table', 'math', 'bit', 'redis', 'cjson'}) do for k, v in pairs(_G[lib]) do say(lib, k, v) end say(getmetatable(_G[lib])) end
for k, v in pairs(getmetatable('')) do say(k, v) end
say(getmetatable(_G), pcall(function() return nosuch end))
say({}, function() end, KEYS, ARGV, #KEYS, #ARGV, KEYS[1], ARGV[1], getmetatable(KEYS))
say(math.random(), math.random(1000), cjson.encode_max_depth(), cjson.decode_max_depth(), cjson.encode_number_precision(), cjson.encode_invalid_numbers(), cjson.encode_sparse_array())
say(cjson.encode_keep_buffer(), cjson.decode_invalid_numbers(), pcall(cjson.encode, {1/0}), cjson.encode(1/3), pcall(cjson.encode, {[1] = 1, [100] = 2}))
say(redis.call('get', 'none'), type(redis.call('get', 'none')), collectgarbage('count'), ('x'):rep(3), pcall(error))
local ok, e = pcall(function() local function f() return 1 + f() end return f() end) say(ok, e)
say(tostring(out), select('#', unpack({}, 1, 100)))
return out`

// TestNoTrace: after any scripts at all, an engine answers as a new one does.
func TestNoTrace(t *testing.T) {
	r := seeded(t)
	rounds := 10_000
	if testing.Short() {
		rounds = 1000
	}
	p, err := Compile(probe, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	shallow := DefaultLimits()
	shallow.MaxCallDepth = 500 // deep recursion is tried often here, and slow
	look := func(e *Engine) Result {
		return e.Run(Call{Program: p, Keys: []string{"k"}, Args: []string{"a"}, Seed: 7}, newHost(), shallow)
	}
	used := New()
	want := look(New())
	if want.Value.IsError() {
		t.Fatalf("the probe fails: %s", want.Value.Str)
	}
	small := shallow
	small.Instructions, small.Memory = 5_000, 1<<18
	for i := 0; i < rounds; i++ {
		text := traceScript(r)
		p, err := Compile(text, DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		used.Run(Call{Program: p, Keys: []string{"k"}, Args: []string{"a"}, Seed: uint64(i)}, newHost(), small)
		if i%20 != 0 && i > 500 {
			continue // several scripts before each look
		}
		if got := look(used); !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d, after %s\n got %+v\nwant %+v", i, text, got, want)
		}
	}
}

// traceScript combines a few attempts.
func traceScript(r *rand.Rand) string {
	var parts []string
	for n := 1 + r.Intn(3); n > 0; n-- {
		form := traces[r.Intn(len(traces))]
		s := form
		if strings.Contains(form, "%[") {
			s = fmt.Sprintf(form, "leak"+fmt.Sprint(r.Intn(100)), r.Intn(20))
			s, _, _ = strings.Cut(s, "%!(EXTRA")
		}
		if r.Intn(2) == 0 {
			s = "pcall(function() " + s + " end)"
		} else {
			s = "do " + s + " end"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "\n")
}
