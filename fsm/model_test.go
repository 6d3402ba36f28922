package fsm

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is what a keyspace must do, as plainly as can be said.
type model struct {
	now    int64
	values map[string]modelValue
}

type modelValue struct {
	text string
	ends int64 // 0 for never
}

func (m *model) get(key string) (modelValue, bool) {
	v, ok := m.values[key]
	if ok && v.ends != 0 && v.ends <= m.now {
		return modelValue{}, false
	}
	return v, ok
}

// step runs one command on the model and says what it must answer.
func (m *model) step(op, key, value string, millis int64) string {
	v, held := m.get(key)
	switch op {
	case "set":
		m.values[key] = modelValue{text: value}
		return "OK"
	case "take":
		if held {
			return "nil"
		}
		m.values[key] = modelValue{value, m.now + millis*1000}
		return "OK (granted for " + (time.Duration(millis) * time.Millisecond).String() + ")"
	case "get":
		if !held {
			return "nil"
		}
		return strconv.Quote(v.text)
	case "release", "del":
		if !held || op == "release" && v.text != value {
			return "0"
		}
		delete(m.values, key)
		return "1"
	case "extend":
		if !held || v.text != value {
			return "0"
		}
		m.values[key] = modelValue{v.text, m.now + millis*1000}
		return "1"
	case "pttl":
		switch {
		case !held:
			return "-2"
		case v.ends == 0:
			return "-1"
		}
		return strconv.FormatInt((v.ends-m.now+999)/1000, 10)
	}
	panic(op)
}

var modelCommands = map[string]func(key, value string, millis int64) []string{
	"set": func(key, value string, _ int64) []string { return []string{"set", key, value} },
	"take": func(key, value string, millis int64) []string {
		return []string{"set", key, value, "nx", "px", strconv.FormatInt(millis, 10)}
	},
	"get": func(key, _ string, _ int64) []string { return []string{"get", key} },
	"del": func(key, _ string, _ int64) []string { return []string{"del", key} },
	"release": func(key, value string, _ int64) []string {
		return []string{"eval", "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end", "1", key, value}
	},
	"extend": func(key, value string, millis int64) []string {
		return []string{"eval", "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end", "1", key, value, strconv.FormatInt(millis, 10)}
	},
	"pttl": func(key, _ string, _ int64) []string { return []string{"pttl", key} },
}

// TestAgainstModel: P1, P2, P3. Any commands at any times answer as the model
// does; a token is never lower than one before it, and each grant has its own.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, 0)
		want := &model{values: map[string]modelValue{}}
		granted := map[uint64]bool{}
		for i := range 80 {
			m.pass(time.Duration(rapid.Int64Range(0, 40_000).Draw(rt, "pass")) * time.Microsecond)
			want.now = m.now
			op := rapid.SampledFrom([]string{"set", "take", "take", "get", "del", "release", "extend", "pttl"}).Draw(rt, "op")
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")
			value := rapid.SampledFrom([]string{"1", "2", "x"}).Draw(rt, "value")
			millis := rapid.Int64Range(1, 100).Draw(rt, "millis")
			before := m.state.Tokens()
			got := m.one(modelCommands[op](key, value, millis))
			if expected := want.step(op, key, value, millis); got != expected {
				rt.Fatalf("step %d at %v: %s %s %s %d answers %s, must %s", i, time.Duration(m.now)*time.Microsecond, op, key, value, millis, got, expected)
			}
			if m.state.Tokens() < before {
				rt.Fatalf("the tokens went from %d to %d", before, m.state.Tokens())
			}
			if op == "take" && got[0] == 'O' {
				token := uint64(m.do("lock.token " + key).Int)
				if granted[token] || token <= before {
					rt.Fatalf("token %d was given before (the last was %d)", token, before)
				}
				granted[token] = true
			}
			if i%20 == 10 {
				m.state = restored(t, m.state)
			}
		}
	})
}

// one applies one command and spells its answer.
func (m *machine) one(args []string) string {
	m.number++
	res := m.apply(&Entry{Kind: Batches, Batches: []Batch{{
		Origin: m.origin, Number: m.number, Clients: []Client{{Name: "test"}}, Commands: []Command{{Args: args}},
	}}})
	a := res.Batches[0].Answers[0]
	text := spelled(a.Value)
	if a.Grant > 0 {
		text += " (granted for " + (time.Duration(a.Grant) * time.Microsecond).String() + ")"
	}
	return text
}

// TestScriptWalksAreBounded: P8. A script pays for every key that a command of it visits.
func TestScriptWalksAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	m := newMachine(t, 0)
	for i := range 200 {
		args := []string{"mset"}
		for j := range 1000 {
			args = append(args, fmt.Sprintf("k%d-%d", i, j), "v")
		}
		m.one(args)
	}
	for _, text := range []string{
		"for i = 1, 100 do redis.call('keys', 'x*') end return 1",
		"for i = 1, 100 do redis.call('scan', '0', 'match', 'x*') end return 1",
		"for i = 1, 100 do redis.call('dbsize') redis.call('keys', '*') end return 1",
		"redis.call('set','s',string.rep('x',1000000)) for i = 1, 1000 do redis.call('copy', 's', 't' .. i) end return 1",
		"for i = 1, 1000000 do redis.call('append', 's', string.rep('x', 1000)) end return 1",
		"for i = 1, 100000 do redis.call('lock.info', 'k1-1') end return 1",
	} {
		start := time.Now()
		got := m.one([]string{"eval", text, "0"})
		if len(got) < 40 || got[:40] != "error: ERR script exceeded its budget of" {
			t.Errorf("%s: %.200s", text, got)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", text, took)
		}
	}
	if n := m.do("dbsize"); n.Int != 200_000 {
		t.Errorf("%+v keys are left", n)
	}
}

// TestReplyIsBounded: P8. A few bytes of a command must not make a reply that
// fills a node's memory when it is spelled or sent on.
func TestReplyIsBounded(t *testing.T) {
	m := newMachine(t, 0)
	m.one([]string{"set", "big", strings.Repeat("x", ValueMax)})
	keys := strings.Fields(strings.Repeat("big ", 9))
	want := "error: " + errReplyTooLong.Str
	for _, args := range [][]string{
		append([]string{"mget"}, keys...),
		{"eval", "local s = string.rep('x',1000000) local t = {} for i = 1, 100 do t[i] = s end redis.call('set','k','v') return t", "0"},
		{"eval", "local t = {} for i = 1, 10 do t[i] = redis.call('get','big') end return t", "0"},
	} {
		if got := m.one(args); got != want {
			t.Errorf("%.80q: %.100s", args, got)
		}
	}
	if got := m.do("exists k"); got.Int != 0 {
		t.Error("a command whose reply was refused kept what it wrote")
	}
	x := &Exec{}
	for range 10 {
		x.Commands = append(x.Commands, Queued{Args: []string{"get", "big"}}, Queued{Args: []string{"incr", "n"}})
	}
	m.number++
	res := m.apply(&Entry{Kind: Batches, Batches: []Batch{{
		Origin: m.origin, Number: m.number, Clients: []Client{{}}, Commands: []Command{{Args: []string{"exec"}, Exec: x}},
	}}})
	if got := spelled(res.Batches[0].Answers[0].Value); got != want || m.do("exists n").Int != 0 {
		t.Errorf("%.100s", got)
	}
	read := m.state.Read(&Command{Args: append([]string{"mget"}, keys...)}, &Client{}, At{})
	if got := spelled(read.Value); got != want {
		t.Errorf("%.100s", got)
	}
}

func TestLimitsOfKeysAndValues(t *testing.T) {
	m := newMachine(t, 0)
	for extra, want := range map[int]string{-1: "OK", 0: "OK", 1: "error: " + errKeyTooLong.Str} {
		key := strings.Repeat("k", KeyMax+extra)
		for _, args := range [][]string{{"set", key, "v"}, {"mset", "a", "v", key, "v"}, {"eval", "return redis.call('set',KEYS[1],'v')", "1", key}} {
			got := m.one(args)
			if extra > 0 && args[0] == "eval" {
				got, _, _ = strings.Cut(got, " script: ")
			}
			if got != want {
				t.Errorf("%s with a key of %d bytes over the limit: %s", args[0], extra, got)
			}
		}
		m.one([]string{"set", "a", "v"})
		m.one([]string{"flushall"})
	}
	for extra, want := range map[int]string{-1: "OK", 0: "OK", 1: "error: " + errValueTooLong.Str} {
		if got := m.one([]string{"set", "k", strings.Repeat("v", ValueMax+extra)}); got != want {
			t.Errorf("a value of %d bytes over the limit: %s", extra, got)
		}
	}
	if got := m.one([]string{"append", "k", "vv"}); got != "error: "+errValueTooLong.Str {
		t.Error(got)
	}
	if got := m.do("strlen k").Int; got < ValueMax-1 || got > ValueMax {
		t.Errorf("strlen %d", got)
	}
}
