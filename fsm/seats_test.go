package fsm

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/redfence/redfence/fsm/reply"
)

// seatWords are what clients of both kinds of port send for two names: plain
// locks, extends, counters, and scripts that look before they write.
var seatWords = [][]string{
	{"set", "K", "V", "nx", "px", "200"}, {"set", "K", "V", "nx", "px", "200"}, {"set", "K", "V", "nx", "px", "60"},
	{"set", "K", "V", "xx", "px", "200"}, {"set", "K", "V"}, {"getset", "K", "V"}, {"incr", "K"}, {"pexpire", "K", "100"}, {"pexpire", "K", "400"},
	{"del", "K"}, {"rename", "K", "K"}, {"copy", "K", "K", "replace"}, {"copy", "K", "K", "db", "1"}, {"move", "K", "1"}, {"mset", "a", "V", "b", "V"},
	{"setrange", "K", "0", "V"}, {"getdel", "K"}, {"persist", "K"},
	{"eval", "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end", "1", "K", "V"},
	{"eval", "if redis.call('exists',KEYS[1]) == 1 then return 0 end redis.call('set',KEYS[1],ARGV[1],'px',ARGV[2]) return 1", "1", "K", "V", "200"},
	{"eval", "if redis.call('exists',KEYS[1]) == 0 or redis.call('hexists',KEYS[1],ARGV[2]) == 1 then redis.call('hincrby',KEYS[1],ARGV[2],1) redis.call('pexpire',KEYS[1],ARGV[1]) return nil end return redis.call('pttl',KEYS[1])", "1", "K", "150", "V"},
}

// majorityOf is the string value with a majority of seats, as a client would count it.
func majorityOf(s *State, num uint8, key string) (string, bool) {
	votes := map[string]int{}
	for seat := uint8(1); seat <= s.cluster.Seats; seat++ {
		if r := s.get(s.db(seat, num), key); r != nil && r.kind == stringKind {
			votes[r.str]++
		}
	}
	for value, n := range votes {
		if n > int(s.cluster.Seats)/2 {
			return value, true
		}
	}
	return "", false
}

// seatGrants follows the grants of the seats by what a client can see.
type seatGrants struct {
	t     *rapid.T
	m     *machine
	value map[string]string
	token map[string]int64
}

func (g *seatGrants) tokenOf(space, num uint8, args ...string) reply.Value {
	cmd := Command{Space: space, DB: num, Args: append([]string{"lock.token"}, args...)}
	return g.m.state.Read(&cmd, &Client{}, At{Now: g.m.now}).Value
}

// look compares every name with what was known before an entry that left tokens
// at before. Whoever had the majority and has it still keeps its token, unless
// the entry put another key in its place, which is another grant; whoever has it
// now gets one above all before.
func (g *seatGrants) look(before uint64, replaced bool) {
	s := g.m.state
	for _, num := range []uint8{0, 1} {
		for _, key := range []string{"a", "b"} {
			name := fmt.Sprintf("%d/%s", num, key)
			value, held := majorityOf(s, num, key)
			if held && s.get(s.db(SharedSpace, num), key) != nil {
				g.t.Fatalf("%s: %q has a majority of seats and the shared port has a holder", name, value)
			}
			if !held {
				delete(g.value, name)
				delete(g.token, name)
				continue
			}
			token := g.tokenOf(1, num, key, value)
			if shared := g.tokenOf(SharedSpace, num, key, value); shared.Int != token.Int {
				g.t.Fatalf("%s: a seat says token %v, the shared port %v", name, token, shared)
			}
			n, was := token.Int, g.token[name]
			switch {
			case g.value[name] == value && was > 0 && n != was && (!replaced || n <= int64(before)):
				g.t.Fatalf("%s: the token of %q went from %d to %d while it held the majority", name, value, was, n)
			case (g.value[name] != value || was == 0) && n <= int64(before):
				g.t.Fatalf("%s: %q got the majority with token %d, but %d was given before", name, value, n, before)
			}
			g.value[name], g.token[name] = value, n
		}
	}
}

// TestSeatTokens: P1, P3. Random clients of both kinds of port: one token for a
// majority as long as it stands, a higher one for the next.
func TestSeatTokens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, uint8(rapid.SampledFrom([]int{1, 3, 5}).Draw(rt, "seats")))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		g := &seatGrants{t: rt, m: m, value: map[string]string{}, token: map[string]int64{}}
		for range 120 {
			m.pass(time.Duration(rng.IntN(40)) * time.Millisecond)
			m.apply(&Entry{Kind: Batches})
			g.look(m.state.Tokens(), false)
			args := append([]string{}, seatWords[rng.IntN(len(seatWords))]...)
			for i := range args {
				switch args[i] {
				case "K":
					args[i] = string(rune('a' + rng.IntN(2)))
				case "V":
					args[i] = fmt.Sprint(rng.IntN(2))
				}
			}
			before := m.state.Tokens()
			m.number++
			m.apply(&Entry{Kind: Batches, Seed: rng.Uint64(), Batches: []Batch{{
				Origin: m.origin, Number: m.number, Clients: []Client{{Name: "a"}},
				Commands: []Command{{Space: uint8(rng.IntN(int(m.state.cluster.Seats) + 1)), DB: uint8(rng.IntN(2)), Args: args}},
			}}})
			rt.Logf("%q", args)
			g.look(before, args[0] == "rename" || args[0] == "copy" || args[0] == "move")
		}
		if back := restored(t, m.state); back.Hash() != m.state.Hash() {
			rt.Fatal("a restored replica differs")
		}
	})
}
