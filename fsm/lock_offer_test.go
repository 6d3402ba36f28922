package fsm

import (
	"strings"
	"testing"

	"github.com/redfence/redfence/fsm/reply"
)

// mapOf is a map of texts as it was answered.
func mapOf(v reply.Value) map[string]reply.Value {
	m := map[string]reply.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		m[v.Elems[i].Str] = v.Elems[i+1]
	}
	return m
}

// Who lets go of what is offered to it is answered alike when it asks again, and the
// next in line is offered the lock. What is on offer shows no token: none is issued.
func TestReleaseOfAnOffer(t *testing.T) {
	m := newMachine(t, 3)
	m.do("lock.acquire k holder 60000")
	for i, owner := range []string{"first", "second"} {
		m.number++
		m.apply(&Entry{Kind: Batches, Batches: []Batch{{
			Origin: m.origin, Number: m.number, Clients: []Client{{}},
			Commands: []Command{{Args: strings.Fields("lock.acquire k " + owner + " 60000 wait 60000"), Ticket: uint64(i + 1)}},
		}}})
	}
	offeredTo := func() (owner string, noToken, offered bool) {
		t.Helper()
		info := mapOf(m.do("lock.info k"))
		holders := info["holders"].Elems
		if len(holders) != 1 {
			t.Fatalf("%d holders: %+v", len(holders), info)
		}
		h := mapOf(holders[0])
		return h["owner"].Str, h["token"].IsNull(), h["offered"].Int == 1
	}
	m.do("lock.release k holder")
	for _, owner := range []string{"first", "second"} {
		if who, noToken, offered := offeredTo(); who != owner || !noToken || !offered {
			t.Errorf("on offer: to %q, no token: %v, offered: %v; want it offered to %q", who, noToken, offered, owner)
		}
		for range 3 {
			if got := m.do("lock.release k " + owner); got.Int != 1 {
				t.Errorf("release by %s, to whom it is offered: %+v", owner, got)
			}
		}
	}
	if got := m.do("lock.acquire k third 60000"); got.Elems == nil || got.Elems[0].Int != 2 {
		t.Errorf("nobody waits any more, and a third gets %+v", got)
	}
	if got := m.do("lock.release k second"); got.Int != 1 {
		t.Errorf("asked again later: %+v", got)
	}
	if got := m.do("lock.release k nobody"); got.Int != 0 {
		t.Errorf("release by somebody else: %+v", got)
	}
}
