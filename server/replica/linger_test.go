package replica

import (
	"context"
	"fmt"
	"testing"

	"github.com/redfence/redfence/fsm"
)

// Those who were answered together are waited for together: the term is woken when all
// are back, not by each of them.
func TestCrowdIsAwaited(t *testing.T) {
	o := newOrigin(&Config{QueueBytes: 1 << 20, QueueCommands: 1000, BatchesInFlight: 3}, &Stats{}, newCosts())
	woken := 0
	o.aim("leader", func() { woken++ })
	o.opened(7)
	ask := func(n int) {
		t.Helper()
		for i := range n {
			if err := o.submit(newPart(context.Background(), cmds("set", fmt.Sprint("k", i), "v"))); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask(8)
	b := o.take("leader", fsm.BatchBytes)
	ask(5) // the others, meanwhile
	answers := make([]fsm.Answer, 8)
	o.resolve(&fsm.BatchResult{Origin: 7, Number: b.Number, Status: fsm.Done, Answers: answers})
	ask(2) // came back before the term looks
	if missing := o.awaitCrowd(); missing != 6 {
		t.Fatalf("%d are missing, want the 6 that were answered and are not back", missing)
	}
	woken = 0
	ask(5)
	if woken != 0 || o.complete() {
		t.Errorf("woken %d times with one missing; complete: %v", woken, o.complete())
	}
	ask(1)
	if woken != 1 || !o.complete() {
		t.Errorf("woken %d times when all are back; complete: %v", woken, o.complete())
	}
	// Nobody waits any more, so each caller wakes the term, and what is taken is all of them.
	ask(1)
	if woken != 2 {
		t.Errorf("woken %d times by one more", woken)
	}
	if b = o.take("leader", fsm.BatchBytes); len(b.Commands) != 14 {
		t.Errorf("%d commands are sent together, want all 14", len(b.Commands))
	}
	// Whoever doesn't come back is not waited for longer.
	o.resolve(&fsm.BatchResult{Origin: 7, Number: b.Number, Status: fsm.Done, Answers: make([]fsm.Answer, 14)})
	ask(3)
	if missing := o.awaitCrowd(); missing != 11 {
		t.Errorf("%d are missing, want 11", missing)
	}
	if missing := o.release(); missing != 11 || !o.complete() {
		t.Errorf("%d are missing when the time is over, complete: %v", missing, o.complete())
	}
	woken = 0
	ask(1)
	if woken != 1 {
		t.Errorf("woken %d times after the wait", woken)
	}
	if missing := o.awaitCrowd(); missing > 0 {
		t.Errorf("%d are missing though nobody was answered", missing)
	}
}
