package fsm

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// leavings are scripts that try to leave something behind for the next; %d is a number.
var leavings = []string{
	`g%d = 1 return 1`, `_G.g%d = 1`, `rawset(_G, 'g%d', 1)`, `string.rep = %d`, `string.g%d = 1`, `table.insert = nil return %d`,
	`setmetatable(_G, {__index = function() return %d end})`, `getmetatable('').__index = function() return %d end`,
	`rawset(getmetatable(''), '__add', function() return %d end) return 1`, `getmetatable('').__concat = %d`,
	`math.randomseed(%d) return tostring(math.random())`, `for i = 1, %d %% 50 do math.random() end return tostring(math.random())`,
	`cjson.encode_max_depth(%d %% 9 + 1) return 1`, `redis.setresp(3) return %d`, `redis.call = %d`, `KEYS = %d`, `ARGV[%d] = 1`,
	`redis.call('select', %d %% 16) redis.call('set', 'a', 'b') return redis.call('dbsize')`,
	`redis.call('set', 'k%d', 'v', 'px', 5) error('x')`, `while true do redis.call('incr', 'n%d') end`,
	`return tostring({}) .. tostring(print) .. %d`, `local s = 'x' while %d do s = s .. s end`,
	`return {redis.pcall('set', 'k', %d), redis.call('randomkey'), redis.call('time')[1]}`,
	`for k in pairs(string) do rawset(string, k, %d) end`, `return cjson.encode({%d, 1/3, tostring(1e15)})`,
	`return {tostring(g1), tostring(string.rep), #tostring(_G), %d}`,
	`local t = {} for k, v in pairs(_G) do t[#t + 1] = k .. type(v) end return table.concat(t, ' ') .. %d`,
}

// TestScriptsLeaveNoTrace: a replica that was restored again and again, one that
// ran every script, and one that plays the whole log agree in every answer and
// byte for byte.
func TestScriptsLeaveNoTrace(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	m := newMachine(t, 0)
	fresh := restored(t, m.state)
	for i := range 10_000 {
		script := fmt.Sprintf(leavings[rng.IntN(len(leavings))], rng.IntN(200))
		if strings.Contains(script, "while") && rng.IntN(20) != 0 {
			script = "return 1" // few go to the end of the budget: each takes as long as a thousand others
		}
		m.pass(time.Duration(rng.IntN(3)) * time.Millisecond)
		b := m.batch("eval x 0")
		b.Commands[0].Args[1] = script
		e := &Entry{Kind: Batches, Seed: rng.Uint64(), Batches: []Batch{b}}
		got := m.apply(e)
		last := m.log[len(m.log)-1]
		want, err := fresh.Apply(last.index, last.term, last.data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("script %d, %q, was answered %+v by the one and %+v by the restored replica", i, script, got.Batches, want.Batches)
		}
		if rng.IntN(100) == 0 {
			fresh = restored(t, fresh)
		}
	}
	if m.state.Hash() != fresh.Hash() || m.state.Hash() != m.replay().Hash() {
		t.Error("the replicas' states differ")
	}
}

// TestMultiHasOneBudget: P8. The scripts of one MULTI share a budget, and what is
// over it changes nothing.
func TestMultiHasOneBudget(t *testing.T) {
	m := newMachine(t, 0)
	exec := func(queue ...Queued) Answer {
		b := m.batch("exec")
		b.Commands[0].Exec = &Exec{Commands: queue}
		return m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Batches[0].Answers[0]
	}
	set := Queued{Args: []string{"set", "k", "v"}}
	endless := Queued{Args: []string{"eval", "while true do end", "0"}}
	queue := []Queued{set}
	for range 2000 {
		queue = append(queue, endless)
	}
	got := exec(queue...)
	if got.Value.Str != errExecCost.Str || got.Cost > ExecInstructionsMax+scriptLimits.Instructions {
		t.Errorf("2000 endless scripts: %.80q after %d instructions", got.Value.Str, got.Cost)
	}
	if !m.do("get k").IsNull() {
		t.Error("what was undone is seen")
	}
	if got := exec(set, endless, set).Value; len(got.Elems) != 3 || got.Elems[2].Str != "OK" {
		t.Errorf("one endless script among others: %+v", got)
	}
	m.do("set big " + strings.Repeat("x", 1<<20))
	queue = nil
	for range 100 {
		queue = append(queue, Queued{Args: []string{"get", "big"}})
	}
	if got := exec(queue...).Value; got.Str != errReplyTooLong.Str {
		t.Errorf("a hundred megabytes in one reply: %d elements", len(got.Elems))
	}
}
