package script

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redfence/redfence/fsm/reply"
)

const compareAndDelete = `if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end`

func mustCompile(t testing.TB, text string) *Program {
	t.Helper()
	p, err := Compile(text, DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func TestCompareAndDelete(t *testing.T) {
	e, h, p := New(), newHost(), mustCompile(t, compareAndDelete)
	h.data["lock"] = "mine"
	call := func(value string) reply.Value {
		return e.Run(Call{Program: p, Keys: []string{"lock"}, Args: []string{value}}, h, DefaultLimits()).Value
	}
	if v := call("other"); v.Int != 0 || h.data["lock"] != "mine" {
		t.Errorf("another's value: %+v, left %v", v, h.data)
	}
	if v := call("mine"); v.Int != 1 || len(h.data) != 0 {
		t.Errorf("the owner's value: %+v, left %v", v, h.data)
	}
}

// TestPartialWrites: what a script wrote before it failed stays, and it is told
// apart from one over budget.
func TestPartialWrites(t *testing.T) {
	h, e := newHost(), New()
	p := mustCompile(t, `redis.call('set','z','x') error('boom')`)
	r := e.Run(Call{Program: p}, h, DefaultLimits())
	if !r.Failed || r.OverBudget || h.data["z"] != "x" || !strings.HasPrefix(r.Value.Str, "ERR user_script:1: boom script: "+p.SHA1) {
		t.Errorf("%+v, %v", r, h.data)
	}
	p = mustCompile(t, `redis.call('set','z','y') while true do pcall(function() while true do end end) end`)
	r = e.Run(Call{Program: p}, h, DefaultLimits())
	if !r.OverBudget || r.Value.Str != "ERR script exceeded its budget of 1000000 instructions" || r.Instructions != 1_000_000 {
		t.Errorf("%+v", r)
	}
}

func TestReadOnly(t *testing.T) {
	const want = "ERR Write commands are not allowed from read-only scripts."
	for _, c := range []Call{
		{Program: mustCompile(t, `return redis.pcall('set','k','v')`), ReadOnly: true},
		{Program: mustCompile(t, "#!lua flags=no-writes\nreturn redis.pcall('set','k','v')")},
	} {
		if r := New().Run(c, newHost(), DefaultLimits()); r.Value.Str != want {
			t.Errorf("%+v", r)
		}
	}
}

func TestShebang(t *testing.T) {
	for text, want := range map[string]Flags{
		"#!lua\nreturn 1": {Shebang: true},
		"#!lua flags=no-writes,allow-stale\nreturn 1":      {Shebang: true, NoWrites: true, AllowStale: true},
		"#!lua flags=allow-oom flags=no-cluster\nreturn 1": {Shebang: true, AllowOOM: true, NoCluster: true},
		"#!lua flags=allow-cross-slot-keys\nreturn 1":      {Shebang: true, AllowCrossSlotKeys: true},
		"return 1": {},
	} {
		if p := mustCompile(t, text); p.Flags != want {
			t.Errorf("%q: %+v, want %+v", text, p.Flags, want)
		}
	}
	r := run(t, New(), "#!lua\n\nerror('x')")
	if !strings.HasPrefix(r.Value.Str, "ERR user_script:3: x script: ") {
		t.Errorf("lines after a shebang: %s", r.Value.Str)
	}
}

// TestShebangErrors are compared with a real Redis's.
func TestShebangErrors(t *testing.T) {
	redis := startRedis(t)
	for _, text := range []string{"#!lua", "#!lua flags=bad\nreturn 1", "#!lua name=x\nreturn 1", "#!python\nreturn 1", "#!lua flags=\nreturn 1",
		"#!lua flags=no-writes,\nreturn 1", "#! lua\nreturn 1", "#!\nreturn 1", "#!lua x\nreturn", "#!lua flags=no-writes\nreturn 1 +", "#!lua  flags=no-writes \nreturn 1"} {
		want := redis.do(t, "EVAL", text, "0")
		if got := answer(New(), newHost(), text, nil, nil, false); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestFromReply: what each kind of reply is to a script, in both protocols.
func TestFromReply(t *testing.T) {
	const dump = `local function dump(v) if type(v) ~= 'table' then return tostring(v) end local s = '{' for k, x in pairs(v) do s = s .. tostring(k) .. '=' .. dump(x) .. ' ' end return s .. '}' end `
	for head, want := range map[string]string{
		"":                  "{1={1=a 2=1 3=b 4=false } 2={1=x 2=y } 3=1.5 4=1 5=text 6=123 7=false 8=false 9={ok=OK } }",
		"redis.setresp(3) ": "{1={map={a=1 } } 2={set={x=true y=true } } 3={double=1.5 } 4=true 5={verbatim_string={string=text format=txt } } 6={big_number=123 } 9={ok=OK } }",
	} {
		if r := run(t, New(), head+dump+`return dump(redis.call('kinds'))`); r.Value.Str != want {
			t.Errorf("%s\n got %s\nwant %s", head, r.Value.Str, want)
		}
	}
}

// TestToReply: the kinds that the wire can't tell apart in RESP2.
func TestToReply(t *testing.T) {
	for text, want := range map[string]reply.Value{
		`return false`:                                       {Kind: reply.Nil},
		`return 2^63`:                                        {Kind: reply.Int, Int: -1 << 63},
		`return -2^63`:                                       {Kind: reply.Int, Int: -1 << 63},
		`return 9007199254740993`:                            {Kind: reply.Int, Int: 9007199254740992},
		`return {double=1.5}`:                                {Kind: reply.Double, Float: 1.5},
		`return {big_number='1\n2'}`:                         {Kind: reply.BigNumber, Str: "1 2"},
		`redis.setresp(3) return false`:                      {Kind: reply.Bool},
		`return {map={b=1,a=2}}`:                             {Kind: reply.Map, Elems: []reply.Value{reply.String("b"), reply.Integer(1), reply.String("a"), reply.Integer(2)}},
		`return {set={b=true,a=true}}`:                       {Kind: reply.Set, Elems: []reply.Value{reply.String("b"), reply.String("a")}},
		`return {verbatim_string={format='txt',string='s'}}`: {Kind: reply.Verbatim, Str: "s"},
	} {
		if r := run(t, New(), text); !reflect.DeepEqual(r.Value, want) {
			t.Errorf("%s: %+v, want %+v", text, r.Value, want)
		}
	}
}

// TestOrder: tables are walked in the order in which their keys came.
func TestOrder(t *testing.T) {
	for text, want := range map[string]string{
		`local t={} for i=1,20 do t['k'..i]=i end`:                                                  "k1 k2 k3 k4 k5 k6 k7 k8 k9 k10 k11 k12 k13 k14 k15 k16 k17 k18 k19 k20",
		`local t={z=1,a=2,3,4,m=5}`:                                                                 "1 2 z a m",
		`local t={a=1,b=2,c=3} t.b=nil t.d=4 t.b=5`:                                                 "a b c d",
		`local t={a=1,b=2,c=3} for k in pairs(t) do t[k]=nil end t.c=1 t.a=1`:                       "a c",
		`local t={} t[3]=3 t[1]=1 t.x=1 t[2]=2`:                                                     "1 2 3 x",
		`local t={} for i=1,9 do t['k'..i]=i end for i=1,8 do t['k'..i]=nil end t.n=1 t.k1=1 t.m=1`: "k1 k9 n m",
		`local t={true,false} t[1.5]=1 t[-1]=1 t[true]=1`:                                           "1 2 1.5 -1 true",
	} {
		r := run(t, New(), text+` local s={} for k in pairs(t) do s[#s+1]=tostring(k) end return table.concat(s,' ')`)
		if r.Value.Str != want {
			t.Errorf("%s: %q, want %q", text, r.Value.Str, want)
		}
	}
}

// TestSeed: random numbers come from the call's seed alone.
func TestSeed(t *testing.T) {
	p := mustCompile(t, `return tostring(math.random())..' '..math.random(100)..' '..math.random(5,6)`)
	get := func(seed uint64) string {
		return New().Run(Call{Program: p, Seed: seed}, newHost(), DefaultLimits()).Value.Str
	}
	got, again := get(1), get(1)
	if got != again || got == get(2) {
		t.Errorf("seed 1: %s, again %s, seed 2: %s", got, again, get(2))
	}
	if got != "0.56656157517228 75 6" {
		t.Errorf("the sequence changed: %q; if that was meant, Version must rise", got)
	}
}

func TestLog(t *testing.T) {
	h := newHost()
	New().Run(Call{Program: mustCompile(t, `redis.log(redis.LOG_WARNING, 'a', 1, 'b')`)}, h, DefaultLimits())
	if want := []string{"3 a 1 b"}; !reflect.DeepEqual(h.log, want) {
		t.Errorf("%q, want %q", h.log, want)
	}
}

func TestSHA1(t *testing.T) {
	if got := SHA1("return 1"); got != "e0e1f9fabfc9d4800c877a703b823ac0578ff8db" {
		t.Error(got)
	}
	if p := mustCompile(t, "return 1"); p.SHA1 != SHA1("return 1") || p.Size() <= 0 {
		t.Errorf("%+v", p)
	}
}

// TestLimits: at each limit, and one beyond.
func TestLimits(t *testing.T) {
	lim := DefaultLimits()
	if len(lim.Fields()) != reflect.TypeFor[Limits]().NumField() {
		t.Error("Fields doesn't list every limit")
	}
	for _, f := range lim.Fields() {
		if *f <= 0 {
			t.Error("a limit is not set")
		}
	}
	text := func(n int64) string { return "return 1" + strings.Repeat(" ", int(n)-8) }
	if err := Check(text(lim.MaxText), lim); err != nil {
		t.Error(err)
	}
	if err := Check(text(lim.MaxText+1), lim); err == nil {
		t.Error("a text over the limit is accepted")
	}
	sum := func(n int64) string { return "return 1" + strings.Repeat("+1", int(n)) }
	if err := Check(sum(lim.MaxOperators), lim); err != nil {
		t.Error(err)
	}
	if err := Check(sum(lim.MaxOperators+1), lim); err == nil {
		t.Error("operators over the limit are accepted")
	}
	var locals strings.Builder
	for range 190 {
		locals.WriteString("local a = {} ")
	}
	chain := locals.String() + "return #a" + strings.Repeat("+#a", 240) + "+(a" + strings.Repeat(".a", 200) + ")"
	if err := Check(chain, lim); err != nil {
		t.Errorf("long chains beside many locals: %v", err)
	}
	for _, c := range []struct {
		text  string
		needs int64
	}{{"return", 1}, {"local a = 1 return a", 2}} {
		lim.Instructions = 100
		used := New().Run(Call{Program: mustCompile(t, c.text)}, newHost(), lim).Instructions
		for left := int64(0); left <= used; left++ {
			lim.Instructions = left
			if r := New().Run(Call{Program: mustCompile(t, c.text)}, newHost(), lim); r.OverBudget != (left < used) {
				t.Errorf("%s needs %d, with %d: %+v", c.text, used, left, r)
			}
		}
	}
}

func TestBudget(t *testing.T) {
	lim := DefaultLimits()
	lim.Instructions, lim.Memory = 10, 100
	b := NewBudget(lim)
	if !b.Spend(10) || !b.Grow(100) || b.Exceeded() || b.Spend(1) || !b.Exceeded() || b.Grow(0) || b.Spend(-5) {
		t.Errorf("%+v", b)
	}
	b = NewBudget(lim)
	if b.Grow(1<<62) || b.Spend(0) || !b.Exceeded() {
		t.Errorf("%+v", b)
	}
}

// TestHostOverBudget: what the host charges counts, and nothing outlives it.
func TestHostOverBudget(t *testing.T) {
	p := mustCompile(t, `pcall(redis.call,'get','k') redis.pcall('get','k') return 1`)
	h := costlyHost{newHost(), 2_000_000}
	if r := New().Run(Call{Program: p}, h, DefaultLimits()); !r.OverBudget {
		t.Errorf("%+v", r)
	}
}

type costlyHost struct {
	*mapHost
	cost int64
}

func (h costlyHost) Call(args []string, b *Budget) reply.Value {
	b.Spend(h.cost)
	return h.mapHost.Call(args, b)
}

// panicHost stands for a fault of ours.
type panicHost struct{ *mapHost }

func (panicHost) Call([]string, *Budget) reply.Value { panic("fault") }

func TestFault(t *testing.T) {
	e := New()
	p := mustCompile(t, `return pcall(redis.call,'get','k')`)
	r := e.Run(Call{Program: p}, panicHost{newHost()}, DefaultLimits())
	if r.Value.Str != "ERR internal error of the script engine" || !r.Failed {
		t.Errorf("%+v", r)
	}
	if r := run(t, e, `return 1`); r.Value.Int != 1 {
		t.Errorf("afterwards %+v", r)
	}
}

func BenchmarkCompareAndDelete(b *testing.B) {
	e, h, p := New(), newHost(), mustCompile(b, compareAndDelete)
	lim := DefaultLimits()
	call := Call{Program: p, Keys: []string{"lock"}, Args: []string{"mine"}}
	b.ReportAllocs()
	for b.Loop() {
		h.data["lock"] = "mine"
		if r := e.Run(call, h, lim); r.Value.Int != 1 {
			b.Fatalf("%+v", r)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustCompile(b, compareAndDelete)
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New()
	}
}

func BenchmarkLoop(b *testing.B) {
	e, p := New(), mustCompile(b, `while true do end`)
	for b.Loop() {
		e.Run(Call{Program: p}, newHost(), DefaultLimits())
	}
}

func BenchmarkArithmetic(b *testing.B) {
	e, p := New(), mustCompile(b, `local s=0 for i=1,100000 do s = s + i % 7 * 2 end return s`)
	for b.Loop() {
		e.Run(Call{Program: p}, newHost(), DefaultLimits())
	}
}
