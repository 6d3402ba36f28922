package fsm

import (
	"fmt"
	"testing"
	"time"
)

// TestOverdueVotesAreToldOf: a majority whose votes are past their end and not
// ended yet (see ExpirePerEntry) ends for those who watch, also when its votes are
// overwritten first.
func TestOverdueVotesAreToldOf(t *testing.T) {
	m := newMachine(t, 3)
	var commands []string
	for i := range ExpirePerEntry {
		commands = append(commands, fmt.Sprintf("set k%05d v px 1000", i))
	}
	m.apply(&Entry{Kind: Batches, Batches: []Batch{m.batch(commands...)}})
	vote := func(seat uint8, owner string) []Event {
		b := m.batch("set lock " + owner + " nx px 1100")
		b.Commands[0].Space = seat
		return m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Events
	}
	told := func(events []Event) (text string) {
		for _, e := range events {
			if e.Kind == LockChanged && e.Key == "lock" {
				text += fmt.Sprint(e.Name, " ", e.Owner, " ", e.Token, "; ")
			}
		}
		return text
	}
	vote(1, "a")
	got := told(vote(2, "a"))
	want := fmt.Sprintf("grant a %d; ", m.state.tokens)
	m.pass(2 * time.Second)
	got += told(vote(2, "b"))
	want += fmt.Sprintf("expire a %d; ", m.state.tokens-1)
	got += told(vote(3, "b"))
	want += fmt.Sprintf("grant b %d; ", m.state.tokens)
	if got != want {
		t.Errorf("told: %s want: %s", got, want)
	}
}
