package fsm

import (
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// elementModel is one value with elements, as plainly as can be said: texts in
// the order in which they are answered, with a value or a score where the type has one.
type elementModel struct {
	order  []string
	values map[string]string
}

func (m *elementModel) remove(text string) bool {
	i := slices.Index(m.order, text)
	if i >= 0 {
		m.order = slices.Delete(m.order, i, i+1)
		delete(m.values, text)
	}
	return i >= 0
}

func (m *elementModel) put(text, value string) bool {
	_, there := m.values[text]
	if !there {
		m.order = append(m.order, text)
	}
	m.values[text] = value
	return !there
}

func quotedList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = strconv.Quote(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// modelStep draws a command for the key "k" and says what it must answer.
type modelStep func(m *elementModel, rng *rand.Rand) (args []string, want string)

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func hashStep(m *elementModel, rng *rand.Rand) ([]string, string) {
	f, v := "f"+strconv.Itoa(rng.IntN(8)), strconv.Itoa(rng.IntN(100))
	switch rng.IntN(5) {
	case 0, 1:
		return []string{"hset", "k", f, v}, bit(m.put(f, v))
	case 2:
		return []string{"hdel", "k", f}, bit(m.remove(f))
	case 3:
		old, _ := strconv.Atoi(m.values[f])
		m.put(f, strconv.Itoa(old+3))
		return []string{"hincrby", "k", f, "3"}, strconv.Itoa(old + 3)
	}
	all := []string{}
	for _, name := range m.order {
		all = append(all, name, m.values[name])
	}
	return []string{"hgetall", "k"}, quotedList(all)
}

func listStep(m *elementModel, rng *rand.Rand) ([]string, string) {
	v, at := strconv.Itoa(rng.IntN(6)), rng.IntN(8)
	switch n := len(m.order); rng.IntN(7) {
	case 0:
		m.order = append(m.order, v)
		return []string{"rpush", "k", v}, strconv.Itoa(n + 1)
	case 1:
		m.order = append([]string{v}, m.order...)
		return []string{"lpush", "k", v}, strconv.Itoa(n + 1)
	case 2:
		if n == 0 {
			return []string{"lpop", "k"}, "nil"
		}
		first := m.order[0]
		m.order = m.order[1:]
		return []string{"lpop", "k"}, strconv.Quote(first)
	case 3:
		i := slices.Index(m.order, v)
		if n == 0 || i < 0 {
			return []string{"linsert", "k", "after", v, "x"}, map[bool]string{true: "0", false: "-1"}[n == 0]
		}
		m.order = slices.Insert(slices.Clone(m.order), i+1, "x")
		return []string{"linsert", "k", "after", v, "x"}, strconv.Itoa(n + 1)
	case 4:
		m.order = slices.DeleteFunc(slices.Clone(m.order), func(s string) bool { return s == v })
		return []string{"lrem", "k", "0", v}, strconv.Itoa(n - len(m.order))
	case 5:
		if at >= n {
			return []string{"lindex", "k", strconv.Itoa(at)}, "nil"
		}
		return []string{"lindex", "k", strconv.Itoa(at)}, strconv.Quote(m.order[at])
	}
	return []string{"lrange", "k", "0", "-1"}, quotedList(m.order)
}

func setStep(m *elementModel, rng *rand.Rand) ([]string, string) {
	v := strconv.Itoa(rng.IntN(30) - 10)
	switch rng.IntN(4) {
	case 0, 1:
		return []string{"sadd", "k", v}, bit(m.put(v, ""))
	case 2:
		return []string{"srem", "k", v}, bit(m.remove(v))
	}
	sort.Slice(m.order, func(i, j int) bool {
		a, _ := strconv.Atoi(m.order[i])
		b, _ := strconv.Atoi(m.order[j])
		return a < b
	})
	return []string{"smembers", "k"}, quotedList(m.order)
}

func zsetStep(m *elementModel, rng *rand.Rand) ([]string, string) {
	v, score := "m"+strconv.Itoa(rng.IntN(9)), strconv.Itoa(rng.IntN(5))
	sort.Slice(m.order, func(i, j int) bool {
		a, b := m.order[i], m.order[j]
		if m.values[a] != m.values[b] {
			return m.values[a] < m.values[b]
		}
		return a < b
	})
	switch rng.IntN(6) {
	case 0, 1:
		return []string{"zadd", "k", score, v}, bit(m.put(v, score))
	case 2:
		return []string{"zrem", "k", v}, bit(m.remove(v))
	case 3:
		if i := slices.Index(m.order, v); i >= 0 {
			return []string{"zrank", "k", v}, strconv.Itoa(i)
		}
		return []string{"zrank", "k", v}, "nil"
	case 4:
		n := 0
		for _, s := range m.values {
			if s >= score {
				n++
			}
		}
		return []string{"zcount", "k", score, "+inf"}, strconv.Itoa(n)
	}
	return []string{"zrange", "k", "0", "-1"}, quotedList(m.order)
}

// TestElementsAgainstModel: P3, P10. Any changes of elements answer as the model
// does; the token is that of the key's creation; a script that is undone leaves
// no trace; a restored machine goes on alike; without elements the key is gone.
func TestElementsAgainstModel(t *testing.T) {
	for name, step := range map[string]modelStep{"hash": hashStep, "list": listStep, "set": setStep, "zset": zsetStep} {
		t.Run(name, func(t *testing.T) {
			smallBudget(t)
			rapid.Check(t, func(rt *rapid.T) { checkElements(t, rt, step) })
		})
	}
}

func checkElements(t *testing.T, rt *rapid.T, step modelStep) {
	m := newMachine(t, 0)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	want := &elementModel{values: map[string]string{}}
	token := "nil"
	for i := range 120 {
		args, answer := step(want, rng)
		if got := m.one(args); got != answer {
			rt.Fatalf("step %d: %q answers %s, must %s", i, args, got, answer)
		}
		if got := m.one([]string{"exists", "k"}); got != bit(len(want.order) > 0) {
			rt.Fatalf("step %d: after %q exists is %s with %q", i, args, got, want.order)
		}
		now := m.one([]string{"lock.token", "k"})
		if (now == "nil") != (len(want.order) == 0) || token != "nil" && now != "nil" && now != token {
			rt.Fatalf("step %d: after %q the token went from %s to %s", i, args, token, now)
		}
		token = now
		switch rng.IntN(20) {
		case 0:
			m.state = restored(t, m.state)
		case 1:
			undone(t, rt, m, rng, step)
		}
	}
	checkState(rt, m.state)
}

// undone runs changes in a script that passes its budget.
func undone(t *testing.T, rt *rapid.T, m *machine, rng *rand.Rand, step modelStep) {
	before := (&trace{m: m}).keys()
	var calls strings.Builder
	scratch := &elementModel{values: map[string]string{}}
	for range 10 {
		args, _ := step(scratch, rng)
		calls.WriteString("redis.pcall('" + strings.Join(args, "','") + "') ")
	}
	got := m.one([]string{"eval", calls.String() + "redis.call('del','k') while true do end", "0"})
	if !strings.Contains(got, "budget") {
		rt.Fatalf("%s: %s", calls.String(), got)
	}
	if after := (&trace{m: m}).keys(); after != before {
		rt.Fatalf("%s\nbefore: %s\nafter: %s", calls.String(), before, after)
	}
}

// TestLimitsOfElements: P8, P9. A value over the limit is refused and nothing changes.
func TestLimitsOfElements(t *testing.T) {
	m := newMachine(t, 0)
	for i := range 32 {
		args := []string{"rpush", "l"}
		for range ElementsMax / 32 {
			args = append(args, strconv.Itoa(i))
		}
		m.one(args)
	}
	if got := m.one([]string{"llen", "l"}); got != strconv.Itoa(ElementsMax) {
		t.Fatal(got)
	}
	want := "error: " + errObjectTooBig.Str
	for _, args := range [][]string{{"rpush", "l", "x"}, {"lpush", "l", "x"}, {"linsert", "l", "before", "0", "x"}} {
		if got := m.one(args); got != want {
			t.Errorf("%q: %s", args, got)
		}
	}
	m.one([]string{"rpush", "other", "x"})
	if got := m.one([]string{"lmove", "other", "l", "left", "left"}); got != want {
		t.Error(got)
	}
	if l, other := m.one([]string{"llen", "l"}), m.one([]string{"llen", "other"}); l != strconv.Itoa(ElementsMax) || other != "1" {
		t.Errorf("%s and %s elements are left", l, other)
	}
	if got := m.one([]string{"hset", "h", "f", strings.Repeat("x", ValueMax+1)}); got != "error: "+errValueTooLong.Str {
		t.Errorf("%.100s", got)
	}
	if got := m.one([]string{"sadd", strings.Repeat("k", KeyMax+1), "x"}); got != "error: "+errKeyTooLong.Str {
		t.Errorf("%.100s", got)
	}
}

// TestElementWalksAreBounded: P8. A few bytes that name a large value many times
// must not hold up every replica.
func TestElementWalksAreBounded(t *testing.T) {
	m := newMachine(t, 0)
	args := []string{"zadd", "z"}
	for i := range 100_000 {
		args = append(args, "1", strconv.Itoa(i))
	}
	m.one(args)
	keys := slices.Repeat([]string{"z"}, 1000)
	want := "error: " + errTooFar.Str
	for _, args := range [][]string{
		append([]string{"zunionstore", "d", "1000"}, keys...),
		append([]string{"zinterstore", "d", "1000"}, keys...),
	} {
		if got := m.one(args); got != want {
			t.Errorf("%s: %.100s", args[0], got)
		}
	}
	if got := m.one([]string{"exists", "d"}); got != "0" {
		t.Error("a command that was refused kept what it wrote")
	}
	read := m.state.Read(&Command{Args: append([]string{"zunion", "1000"}, keys...)}, &Client{}, At{})
	if got := spelled(read.Value); got != want {
		t.Errorf("%.100s", got)
	}
}
