package replica

import (
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

// Promise 6: what was sent in a second batch and has an unknown outcome is
// answered so. Whoever is answered less than it asked for asks for the rest again.
func TestUnknownOutcomeIsNotAskedForAgain(t *testing.T) {
	b := newBench(t)
	n := &Node{cfg: *b.cfg, origin: b.origin, costs: b.costs, replies: NewBudget(RepliesMax), stop: make(chan struct{})}
	large := string(make([]byte, fsm.BatchBytes*2/3))
	var answers []fsm.Answer
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		answers, err = n.DoSome(t.Context(), fsm.Client{}, append(cmds("set", "a", large), cmds("set", "b", large)...), n.Replies().Share())
	}()
	next := func(number uint64, status fsm.BatchStatus, count int) {
		var x *fsm.Batch
		eventually(t, 5*time.Second, "a batch", func() bool { x = b.take("leader", fsm.BatchBytes); return x != nil })
		if x.Number != number {
			t.Fatalf("batch %d, want %d", x.Number, number)
		}
		b.result(number, status, count)
	}
	next(1, fsm.Done, 1)
	next(2, fsm.Forgotten, 0)
	<-done
	if err != nil || len(answers) != 2 || answers[0].Value.IsError() || answers[1].Value.Str != fsm.ErrUnknownOutcome.Str {
		t.Fatalf("got %+v, %v", answers, err)
	}
}
