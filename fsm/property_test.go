package fsm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// propertyWords are commands on a few keys, for properties that hold whatever is done.
var propertyWords = [][]string{
	{"set", "K", "v", "nx", "px", "500"}, {"set", "K", "V"}, {"set", "K", "V", "xx", "keepttl"}, {"set", "K", "V", "px", "300", "get"},
	{"set", "K", "w", "ifeq", "v"}, {"setnx", "K", "V"}, {"getset", "K", "V"}, {"getdel", "K"}, {"getex", "K", "px", "200"}, {"append", "K", "V"},
	{"setrange", "K", "2", "V"}, {"incr", "K"}, {"incrbyfloat", "K", "0.5"}, {"mset", "K", "V", "K", "V"}, {"msetnx", "K", "V", "K", "V"},
	{"del", "K", "K"}, {"rename", "K", "K"}, {"renamenx", "K", "K"}, {"copy", "K", "K", "replace"}, {"copy", "K", "K", "db", "1"}, {"move", "K", "1"},
	{"pexpire", "K", "100"}, {"pexpire", "K", "-1"}, {"persist", "K"}, {"expire", "K", "1", "gt"}, {"set", "K", "v", "pxat", "1"}, {"flushdb"},
	{"eval", "redis.call('set',KEYS[1],ARGV[1],'px',50) return redis.call('incr',KEYS[2])", "2", "K", "K", "V"},
	{"eval", "redis.call('select',1) redis.call('set',KEYS[1],ARGV[1]) error('x')", "1", "K", "V"},
	{"eval", "redis.call('set',KEYS[1],'a') redis.call('del',KEYS[2]) while true do redis.call('rename',KEYS[1],KEYS[2]) redis.call('rename',KEYS[2],KEYS[1]) end", "2", "K", "K"},
	{"hset", "K", "V", "V", "f", "V"}, {"hset", "K", "V", "V"}, {"hdel", "K", "V", "V"}, {"hincrby", "K", "V", "2"}, {"hincrbyfloat", "K", "V", "0.5"},
	{"rpush", "K", "V", "V", "V"}, {"lpush", "K", "V"}, {"lpop", "K"}, {"rpop", "K", "2"}, {"lmove", "K", "K", "left", "right"}, {"lmpop", "2", "K", "K", "right", "count", "2"},
	{"linsert", "K", "before", "V", "x"}, {"lrem", "K", "0", "V"}, {"ltrim", "K", "1", "-1"}, {"lset", "K", "0", "V"},
	{"sadd", "K", "V", "V", "t"}, {"srem", "K", "V"}, {"spop", "K", "2"}, {"smove", "K", "K", "V"}, {"sunionstore", "K", "K", "K"}, {"sinterstore", "K", "K", "K"},
	{"zadd", "K", "V", "V", "V", "m"}, {"zadd", "K", "gt", "ch", "V", "V"}, {"zrem", "K", "V"}, {"zincrby", "K", "1.5", "V"}, {"zpopmax", "K"},
	{"zunionstore", "K", "2", "K", "K"}, {"zdiffstore", "K", "2", "K", "K"}, {"zremrangebyrank", "K", "0", "0"}, {"zrangestore", "K", "K", "0", "1"},
	{"eval", "for i = 1, 30 do redis.call('rpush', KEYS[1], i) redis.call('lmove', KEYS[1], KEYS[2], 'left', 'left') end return redis.call('lpop', KEYS[2])", "2", "K", "K"},
	{"hrandfield", "K", "-3"}, {"zrandmember", "K", "2"}, {"srandmember", "K", "1"}, {"hgetall", "K"}, {"del", "K", "K", "K", "K"},
	{"lock.acquire", "K", "V", "300"}, {"lock.acquire", "K", "V", "100", "delay", "80", "note", "x"}, {"lock.acquire", "K", "V", "200", "shared"},
	{"lock.acquire", "K", "V", "60", "shared", "delay", "40"}, {"lock.acquire", "K", "V", "200", "permits", "2"}, {"lock.acquire", "K", "V", "50", "permits", "2", "delay", "50"},
	{"lock.acquire", "K", "V", "0", "session", "S"}, {"lock.acquire", "K", "V", "0", "session", "S", "shared"}, {"lock.acquire", "K", "V", "0", "session", "S", "delay", "50"},
	{"lock.extend", "K", "V", "300"}, {"lock.release", "K", "V"}, {"lock.release", "K", "V"}, {"lock.break", "K"}, {"lock.ask", "K"}, {"lock.list"},
	{"lock.acquireall", "V", "200", "3", "K", "K", "K"}, {"session.open", "200"}, {"session.open", "60", "name", "x"}, {"session.keepalive", "S"}, {"session.close", "S"}, {"session.list"},
	{"eval", "redis.call('lock.acquire',KEYS[1],ARGV[1],'100') redis.call('del',KEYS[2]) return redis.call('lock.acquire',KEYS[2],ARGV[1],'90','shared')", "2", "K", "K", "V"},
	{"blpop", "K", "K", "0"}, {"brpop", "K", "0"}, {"blmove", "K", "K", "left", "right", "0"}, {"brpoplpush", "K", "K", "0"}, {"blmpop", "0", "2", "K", "K", "left", "count", "2"},
	{"bzpopmin", "K", "K", "0"}, {"bzpopmax", "K", "0"}, {"bzmpop", "0", "1", "K", "max", "count", "2"}, {"_unwait", "V"},
	{"lock.acquire", "K", "V", "300", "wait", "100"}, {"lock.acquire", "K", "V", "200", "wait", "9", "delay", "40"}, {"lock.acquire", "K", "V", "200", "wait", "9", "shared"},
	{"lock.acquireall", "V", "200", "2", "K", "K", "wait", "9"}, {"_takeall", "V", "200", "2", "K", "K"},
	{"lock.acquire", "K", "V", "200", "wait", "9", "permits", "2"}, {"lock.acquire", "K", "V", "0", "wait", "9", "session", "S"}, {"lock.cancel", "K", "V"},
	{"_take", "K", "V", "200"}, {"_take", "K", "V", "200", "shared"}, {"_take", "K", "V", "0", "session", "S", "permits", "2"},
	{"eval", "redis.call('lock.cancel',KEYS[1],ARGV[1]) redis.call('lock.release',KEYS[1],ARGV[1]) while ARGV[1] == '3' do end return redis.call('set',KEYS[1],'x','nx','px','30')", "1", "K", "V"},
	{"delex", "K", "ifeq", "v"}, {"lock.info", "K"}, {"lock.token", "K"}, {"keys", "*"}, {"randomkey"}, {"publish", "K", "V"},
}

// smallBudget gives scripts a budget that is soon used up.
func smallBudget(tb testing.TB) {
	before := scriptLimits
	scriptLimits.Instructions = 20_000
	tb.Cleanup(func() { scriptLimits = before })
}

// propertyCommand draws one of them.
func propertyCommand(s *State, rng *rand.Rand) []string {
	args := append([]string{}, propertyWords[rng.IntN(len(propertyWords))]...)
	for i := range args {
		switch args[i] {
		case "K":
			args[i] = string(rune('a' + rng.IntN(4)))
		case "V":
			args[i] = fmt.Sprint(rng.IntN(5))
		case "S":
			args[i] = fmt.Sprint(sessionDrawn(s, rng))
		}
	}
	return args
}

// sessionDrawn is the id of one of the sessions that are open, 1 if there is none.
func sessionDrawn(s *State, rng *rand.Rand) uint64 {
	if n := s.sessions.byID.Len(); n > 0 {
		id, _, _ := s.sessions.byID.GetAt(rng.IntN(n))
		return id
	}
	return 1
}

// TestWhateverIsDone: P1, P3, P8, P9. After each entry no name is held through
// both kinds of port, tokens have only risen, what is derived from the records is
// as if it were counted anew, and no command ended in a fault.
func TestWhateverIsDone(t *testing.T) {
	smallBudget(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, 3)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for range 60 {
			m.pass(time.Duration(rng.IntN(80)) * time.Millisecond)
			m.number++
			b := Batch{Origin: m.origin, Number: m.number, Clients: []Client{{Name: "a"}, {Name: "b"}}}
			for range 1 + rng.IntN(3) {
				b.Commands = append(b.Commands, Command{Space: uint8(rng.IntN(4)), DB: uint8(rng.IntN(2)), Client: uint32(rng.IntN(2)), Args: propertyCommand(m.state, rng), Ticket: rng.Uint64N(40)})
			}
			if rng.IntN(4) == 0 {
				b.Settled = []uint64{rng.Uint64N(40)}
			}
			tokens := m.state.Tokens()
			res := m.apply(&Entry{Kind: Batches, Seed: rng.Uint64(), Batches: []Batch{b}})
			if len(res.Faults) > 0 {
				rt.Fatalf("%q: %+v", res.Faults, b.Commands)
			}
			if m.state.Tokens() < tokens {
				rt.Fatalf("tokens went from %d to %d", tokens, m.state.Tokens())
			}
			checkState(rt, m.state)
		}
		if back := restored(t, m.state); back.Hash() != m.state.Hash() || back.Memory() != m.state.Memory() {
			rt.Fatal("a restored replica differs")
		}
	})
}

// checkState counts anew what the state derives from its records.
func checkState(t *rapid.T, s *State) {
	checkWaiters(t, s)
	var memory int64
	deadlines, records := 0, 0
	held, inSessions := map[string]bool{}, map[sessionLock]bool{}
	for _, d := range s.databases {
		d.keys.Scan(func(key string, r *record) bool {
			memory += r.bytes()
			if (r.obj == nil) != (r.kind == stringKind) || r.obj != nil && r.kind != lockKind && r.obj.len() == 0 {
				t.Fatalf("record %q of kind %d holds %v", key, r.kind, r.obj)
			}
			records++
			if r.dueAt() != never {
				deadlines++
			}
			records += checkLock(t, s, d, r, inSessions)
			if r.token == 0 && r.kind != lockKind || r.token > s.tokens || key != r.key {
				t.Fatalf("record %q has token %d of %d", key, r.token, s.tokens)
			}
			if name := fmt.Sprintf("%d/%s", d.num, key); d.space == SharedSpace {
				held[name] = true
			} else if held[name] && !r.gone(s.clock.now) && s.get(s.db(SharedSpace, d.num), key) != nil {
				t.Fatalf("%s is held through both kinds of port", name)
			}
			return true
		})
	}
	memory, records = memory+checkSessions(t, s, inSessions), records+s.sessions.byID.Len()
	holders := 0
	for _, h := range s.holders {
		holders += h.records
	}
	if memory != s.memory || deadlines != s.deadlines.Len() || holders != records {
		t.Fatalf("memory %d is %d, deadlines %d are %d, holders of %d records are of %d", s.memory, memory, s.deadlines.Len(), deadlines, records, holders)
	}
}

// TestOverBudgetChangesNothing: whatever a script did before it passed its
// budget is undone: records, tokens, leases.
func TestOverBudgetChangesNothing(t *testing.T) {
	smallBudget(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, 1)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		var calls strings.Builder
		for range 20 {
			m.one(propertyCommand(m.state, rng))
		}
		for range 12 {
			args := propertyCommand(m.state, rng)
			if args[0] == "eval" {
				continue
			}
			calls.WriteString("redis.pcall('" + strings.Join(args, "','") + "') ")
		}
		tr := trace{m: m}
		before, tokens := tr.keys(), m.state.Tokens()
		got := m.one([]string{"eval", calls.String() + "while true do end", "0"})
		if !strings.Contains(got, "budget") {
			rt.Fatalf("%s: %s", calls.String(), got)
		}
		if after := tr.keys(); after != before || m.state.Tokens() != tokens {
			rt.Fatalf("%s\nbefore:\n%s\nafter:\n%s", calls.String(), before, after)
		}
		checkState(rt, m.state)
	})
}

// FuzzCommands: P8. Lines of words, as commands of one entry, on either kind of
// port: none ends in a fault, and a replica that is restored agrees.
func FuzzCommands(f *testing.F) {
	for _, words := range propertyWords {
		f.Add(strings.Join(words, "\t"))
	}
	smallBudget(f)
	f.Add("setrange\tk\t9223372036854775807\tx\nincrbyfloat\tk\t1e4932\nscan\tk\tmatch\t[")
	f.Fuzz(func(t *testing.T, text string) {
		m := newMachine(t, 3)
		for i, line := range strings.Split(text, "\n") {
			args := strings.Split(line, "\t")
			spec, _ := Resolve(args)
			if spec == nil || spec.Where != Machine || i > 20 {
				continue
			}
			args[0] = lower(args[0])
			m.number++
			m.pass(time.Millisecond)
			res := m.apply(&Entry{Kind: Batches, Seed: 1, Batches: []Batch{{
				Origin: m.origin, Number: m.number, Clients: []Client{{}}, Commands: []Command{{Space: uint8(i % 2), Args: args, Ticket: uint64(i % 3)}},
			}}})
			if len(res.Faults) > 0 {
				t.Fatalf("%q: %q", args, res.Faults)
			}
		}
		if back := restored(t, m.state); back.Hash() != m.state.Hash() {
			t.Fatal("a restored replica differs")
		}
	})
}
