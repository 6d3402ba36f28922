package fsm

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm/reply"
)

// machine drives a State as a leader of one term would, entry by entry, and
// keeps the log so that it can be played again.
type machine struct {
	tb     testing.TB
	state  *State
	index  uint64
	term   uint64
	now    int64
	origin uint64
	boot   uint64
	number uint64
	log    []logged
}

type logged struct {
	index, term uint64
	data        []byte
}

func newMachine(tb testing.TB, seats uint8) *machine {
	m := &machine{tb: tb, state: New(), term: 1, boot: 1}
	m.member()
	m.apply(&Entry{Kind: Birth, Birth: BirthRecord{Cluster: "test", Seats: seats}})
	m.origin = m.apply(&Entry{Kind: OpenOrigin, Open: Open{Node: "n1", Disk: "d1", Boot: 1}}).Origin
	return m
}

func (m *machine) member() {
	m.index++
	m.state.SetMembership(Membership{Index: m.index, Voters: []string{"n1", "n2"}})
}

// apply stamps an entry with the machine's term and time and applies it.
func (m *machine) apply(e *Entry) Result {
	m.tb.Helper()
	if e.Kind != TermStart {
		e.Stamp = Stamp{Term: m.term, Now: m.now, Wall: 1_800_000_000_000_000 + m.now}
	}
	return m.applyStamped(e, m.term)
}

func (m *machine) applyStamped(e *Entry, term uint64) Result {
	m.tb.Helper()
	m.index++
	data := AppendEntry(nil, e)
	m.log = append(m.log, logged{m.index, term, data})
	res, err := m.state.Apply(m.index, term, data)
	if err != nil {
		m.tb.Fatal(err)
	}
	return res
}

// pass lets time pass on the leader's clock, without an entry.
func (m *machine) pass(d time.Duration) { m.now += d.Microseconds() }

// batch is the origin's next batch of commands, each written as words.
func (m *machine) batch(commands ...string) Batch {
	m.number++
	b := Batch{Origin: m.origin, Number: m.number, Clients: []Client{{Name: "test"}}}
	for _, c := range commands {
		b.Commands = append(b.Commands, Command{Args: strings.Fields(c)})
	}
	return b
}

// do applies one command in an entry of its own.
func (m *machine) do(command string) reply.Value {
	m.tb.Helper()
	res := m.apply(&Entry{Kind: Batches, Batches: []Batch{m.batch(command)}})
	if res.Batches[0].Status != Done {
		m.tb.Fatalf("%s: status %v", command, res.Batches[0].Status)
	}
	return res.Batches[0].Answers[0].Value
}

// replay plays the log into a fresh State.
func (m *machine) replay() *State {
	m.tb.Helper()
	s := New()
	s.SetMembership(Membership{Index: 1, Voters: []string{"n1", "n2"}})
	for _, l := range m.log {
		if _, err := s.Apply(l.index, l.term, l.data); err != nil {
			m.tb.Fatal(err)
		}
	}
	return s
}

// restored is the State that the machine's snapshot gives.
func restored(tb testing.TB, s *State) *State {
	tb.Helper()
	var b bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&b); err != nil {
		tb.Fatal(err)
	}
	back, err := Restore(&b)
	if err != nil {
		tb.Fatal(err)
	}
	return back
}
