package fsm

import (
	"slices"
	"testing"
)

// TestQuorumAsked: only a SET NX that is refused by its own value, taken through
// another node's shared port, is one of a client that takes nodes for masters.
func TestQuorumAsked(t *testing.T) {
	m := newMachine(t, 3)
	ask := func(space uint8, node string, args ...string) []Event {
		m.number++
		res := m.apply(&Entry{Kind: Batches, Batches: []Batch{{
			Origin: m.origin, Number: m.number, Clients: []Client{{Name: "worker", Addr: "192.0.2.1:4711", Node: node}},
			Commands: []Command{{Space: space, Args: args}},
		}}})
		return slices.DeleteFunc(res.Events, func(e Event) bool { return e.Kind == LockChanged })
	}
	none := func(what string, events []Event) {
		t.Helper()
		if len(events) > 0 {
			t.Errorf("%s: %+v", what, events)
		}
	}
	lock := []string{"set", "k", "v", "nx", "px", "1000"}
	none("a grant", ask(SharedSpace, "n1", lock...))
	none("asked again at the same node", ask(SharedSpace, "n1", lock...))
	none("another value", ask(SharedSpace, "n2", "set", "k", "w", "nx", "px", "1000"))
	want := Event{Kind: QuorumAsked, Name: "worker 192.0.2.1", Key: "k", Payload: "n2"}
	for _, args := range [][]string{lock, {"setnx", "k", "v"}, {"eval", "return redis.call('set',KEYS[1],ARGV[1],'nx')", "1", "k", "v"}} {
		if got := ask(SharedSpace, "n2", args...); len(got) != 1 || got[0] != want {
			t.Errorf("%q at another node: %+v", args, got)
		}
	}
	none("a seat", ask(1, "n2", lock...))
	m.do("del k")
	none("a vote", ask(1, "n1", lock...))
	none("the shared port behind a vote", ask(SharedSpace, "n2", lock...))
}
