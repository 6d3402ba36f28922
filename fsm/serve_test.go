package fsm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// ticketed applies commands that may wait, with the tickets from first on.
func (m *machine) ticketed(first uint64, commands ...[]string) Result {
	m.number++
	b := Batch{Origin: m.origin, Number: m.number, Acked: m.number - 1, Clients: []Client{{}}}
	for i, args := range commands {
		b.Commands = append(b.Commands, Command{Args: args, Ticket: first + uint64(i)})
	}
	return m.apply(&Entry{Kind: Batches, Batches: []Batch{b}})
}

func tickets(woken []Woken) (out []uint64) {
	for i := range woken {
		out = append(out, woken[i].Ticket)
	}
	return out
}

// TestServingIsBounded: P8. However many wait for one large element, an entry
// serves a bounded part of them; the others keep their turn, through a snapshot too,
// and nothing is copied.
func TestServingIsBounded(t *testing.T) {
	m := newMachine(t, 0)
	const waiting, large = 50, 1 << 20
	perEntry := (ServedRepliesMax + large - 1) / large
	for i := range uint64(waiting) {
		m.ticketed(i+1, []string{"blmove", "q", "q", "left", "right", "0"})
	}
	m.ticketed(1000, []string{"blpop", "small", "0"})
	res := m.ticketed(0, []string{"rpush", "q", strings.Repeat("x", large)})
	other, told := (*State)(nil), tickets(res.Woken)
	text := unsafe.StringData(res.Woken[0].Answer.Value.Str)
	for round := 1; m.state.waiters.left(); round++ {
		if at, due := m.state.NextDeadline(); !due || at > m.now {
			t.Fatalf("no entry is due while somebody is left: %v %v", at, due)
		}
		if other == nil {
			other = restored(t, m.state)
		}
		switch round {
		case 1: // who comes later comes behind them
			res = m.ticketed(2000, []string{"blpop", "q", "0"})
			if !IsWaiting(&res.Batches[0].Answers[0]) {
				t.Errorf("one who came later was served first: %s", spelled(res.Batches[0].Answers[0].Value))
			}
		case 2: // who waits for another key doesn't wait for all of them
			res = m.ticketed(0, []string{"rpush", "small", "y"})
		default:
			res = m.apply(&Entry{Kind: Batches})
		}
		last := m.log[len(m.log)-1]
		if _, err := other.Apply(last.index, last.term, last.data); err != nil {
			t.Fatal(err)
		}
		if other.Hash() != m.state.Hash() {
			t.Fatalf("round %d: the restored machine went another way", round)
		}
		got := tickets(res.Woken)
		if i := slices.Index(got, 1000); i >= 0 {
			if round > 4 {
				t.Errorf("who waited for another key was served in round %d", round)
			}
			got = slices.Delete(got, i, i+1)
		}
		if len(got) > perEntry+1 {
			t.Errorf("round %d served %d", round, len(got))
		}
		for i := range res.Woken {
			if w := &res.Woken[i]; w.Ticket <= waiting && unsafe.StringData(w.Answer.Value.Str) != text {
				t.Errorf("the element was copied for ticket %d", w.Ticket)
			}
		}
		told = append(told, got...)
	}
	want := []uint64{}
	for i := range uint64(waiting) {
		want = append(want, i+1)
	}
	if want = append(want, 2000); !slices.Equal(told, want) {
		t.Errorf("served in the order %v", told)
	}
	if n := m.state.Waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}
	if m.replay().Hash() != m.state.Hash() {
		t.Error("a replay went another way")
	}
}

// TestOffersAreBounded: P8. What frees very many locks, or one that very many can
// share, offers a bounded part of them in one entry; the rest follows in order.
func TestOffersAreBounded(t *testing.T) {
	const more = 5
	for name, c := range map[string]struct {
		lock func(i int) string
		mode []string
		free string
	}{
		"many names": {func(i int) string { return fmt.Sprintf("k%05d", i) }, nil, "flushall"},
		"one shared": {func(int) string { return "k" }, []string{"SHARED"}, "lock.break k"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, 0)
			for i := range ServedMax + more {
				if i == 0 || c.mode == nil {
					m.do("lock.acquire " + c.lock(i) + " holder 1000000")
				}
				m.ticketed(uint64(i+1), append([]string{"lock.acquire", c.lock(i), fmt.Sprint("o", i), "1000", "WAIT", "1000000"}, c.mode...))
			}
			began := time.Now()
			res := m.ticketed(0, strings.Fields(c.free))
			t.Logf("%d were offered in %v", len(res.Woken), time.Since(began))
			if len(res.Woken) != ServedMax {
				t.Fatalf("one entry told %d", len(res.Woken))
			}
			back := restored(t, m.state)
			told := tickets(res.Woken)
			// A lock that somebody is still to be offered is not given to another.
			res = m.ticketed(0, []string{"lock.acquire", c.lock(ServedMax), "late", "1000"})
			if v := res.Batches[0].Answers[0].Value; plain(spelled(v)) != "nil" && len(v.Elems) > 0 {
				t.Errorf("one who came later was granted it: %s", spelled(v))
			}
			last := m.log[len(m.log)-1]
			if _, err := back.Apply(last.index, last.term, last.data); err != nil || back.Hash() != m.state.Hash() {
				t.Errorf("the restored machine went another way: %v", err)
			}
			told = append(told, tickets(res.Woken)...)
			if len(told) != ServedMax+more || !slices.IsSorted(told) || m.state.waiters.left() {
				t.Errorf("told %d, in order: %v, left: %v", len(told), slices.IsSorted(told), m.state.waiters.left())
			}
		})
	}
}
