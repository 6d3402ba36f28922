package replica

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// bench is an origin whose target is the test.
type bench struct {
	*origin
	t *testing.T
}

func newBench(t *testing.T) *bench {
	cfg := &Config{NodeID: "n1", Dir: "x"}
	cfg.setDefaults()
	b := &bench{newOrigin(cfg, &Stats{}, newCosts()), t}
	b.aim("leader", nil)
	b.opened(9)
	return b
}

// put submits one command for each name, a part each.
func (b *bench) put(names ...string) []*part {
	b.t.Helper()
	var parts []*part
	for _, name := range names {
		p := newPart(context.Background(), cmds("set", name, "v"))
		if err := b.submit(p); err != nil {
			b.t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return parts
}

// sees takes one batch and checks what is in it: "number:keys", with "!" for a
// cancel, or "" for no batch.
func (b *bench) sees(want string) {
	b.t.Helper()
	got := ""
	if x := b.take("leader", fsm.BatchBytes); x != nil {
		got = fmt.Sprint(x.Number, ":")
		if x.Cancel {
			got += "!"
		}
		for i := range x.Commands {
			got += x.Commands[i].Args[1]
		}
	}
	if got != want {
		b.t.Fatalf("the leader sees %q, want %q", got, want)
	}
}

func (b *bench) result(number uint64, status fsm.BatchStatus, answers int) {
	b.resolve(&fsm.BatchResult{Origin: 9, Number: number, Status: status, Answers: slices.Repeat([]fsm.Answer{{Value: reply.OK}}, answers)})
}

// got is what a part came to: "ok", an error's text, or "" while it waits.
func got(p *part) string {
	select {
	case out := <-p.done:
		if out.err != nil {
			return out.err.Error()
		}
		return "ok"
	default:
		return ""
	}
}

func (b *bench) wants(p *part, want string) {
	b.t.Helper()
	if x := got(p); x != want {
		b.t.Fatalf("the caller got %q, want %q", x, want)
	}
}

func TestOriginGathersAndKeepsItsWindow(t *testing.T) {
	b := newBench(t)
	b.put("a", "b")
	b.sees("1:ab")
	b.put("c")
	b.sees("2:c")
	b.put("d")
	b.sees("3:d")
	late := b.put("e", "f")
	b.sees("") // three are in flight
	b.result(2, fsm.Done, 1)
	b.sees("4:ef")
	b.result(4, fsm.Done, 2)
	for _, p := range late {
		b.wants(p, "ok")
	}
}

func TestOriginSendsTheSameNumbersAgain(t *testing.T) {
	b := newBench(t)
	first, second := b.put("a")[0], (*part)(nil)
	b.sees("1:a")
	second = b.put("b")[0]
	b.sees("2:b")
	b.aim("nobody", nil) // the leader is gone
	b.sees("")
	b.aim("leader", nil)
	b.put("c")
	b.sees("1:a")
	b.sees("2:b")
	b.sees("3:c")
	b.result(1, fsm.Done, 1)
	b.result(1, fsm.Done, 1) // the old copy was applied, too
	b.wants(first, "ok")
	b.wants(second, "")
	b.result(2, fsm.Refused, 0) // it came before its predecessor
	b.sees("2:b")
	b.result(2, fsm.Done, 1)
	b.wants(second, "ok")
}

func TestOriginCancelsWhatNobodyWaitsFor(t *testing.T) {
	b := newBench(t)
	parts := b.put("a", "b")
	b.sees("1:ab")
	if b.giveUp(parts[0], true) {
		t.Fatal("what was sent is not certain")
	}
	b.aim(nil, nil)
	b.aim("leader", nil)
	b.sees("1:ab") // somebody still waits: the same commands
	if b.giveUp(parts[1], true) {
		t.Fatal("what was sent is not certain")
	}
	b.aim(nil, nil)
	b.aim("leader", nil)
	b.put("c")
	b.sees("1:!")
	b.sees("2:c") // the number is not skipped
	b.result(1, fsm.Cancelled, 0)
	b.result(2, fsm.Done, 1)
}

func TestOriginIsCertainOnlyOfWhatIsInNoHands(t *testing.T) {
	b := newBench(t)
	never := b.put("a")[0]
	if !b.giveUp(never, false) {
		t.Fatal("a command that was never sent is certain")
	}
	parts := b.put("b", "c")
	b.sees("1:bc")
	b.lost("leader", 9, 1, true) // the leader did not append it
	if !b.giveUp(parts[0], false) {
		t.Fatal("a command that was certainly not appended is certain")
	}
	b.sees("1:c") // and never travels again
	b.lost("leader", 9, 1, false)
	if b.giveUp(parts[1], true) {
		t.Fatal("nobody knows about it")
	}
	b.sees("1:!")
	b.lost("another", 9, 1, true) // an old target's word counts nothing
	b.sees("")

	more := b.put("d")[0]
	b.sees("2:d")
	b.lost("leader", 9, 2, false)
	b.sees("2:d")
	b.lost("leader", 9, 2, true) // this copy was not appended; the first one may be
	if b.giveUp(more, true) {
		t.Fatal("an earlier copy may be in the log")
	}
}

func TestOriginThatIsClosedOpensAnother(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.reopen = func() { asked++ }
	sent := b.put("a")[0]
	b.sees("1:a")
	kept := b.put("b")[0]
	b.sees("2:b")
	b.lost("leader", 9, 2, true)
	waits := b.put("c")[0]
	b.result(1, fsm.Closed, 0)
	b.wants(sent, ErrUnknownOutcome.Error())
	b.wants(kept, "")
	b.wants(waits, "")
	b.sees("") // no id
	b.opened(12)
	b.sees("1:bc")
	b.result(1, fsm.Done, 2) // of the old id
	b.wants(kept, "")
	b.resolve(&fsm.BatchResult{Origin: 12, Number: 1, Answers: make([]fsm.Answer, 2)})
	b.wants(kept, "ok")
	b.wants(waits, "ok")
	if asked != 1 {
		t.Fatalf("asked %d times for an id", asked)
	}
}

func TestOriginForgottenRepliesAreUnknown(t *testing.T) {
	b := newBench(t)
	p := b.put("a")[0]
	b.sees("1:a")
	b.result(1, fsm.Forgotten, 0)
	b.wants(p, ErrUnknownOutcome.Error())
}

// When the node closes, whoever waits looks, and nobody begins to wait.
func TestShutOrigin(t *testing.T) {
	b := newBench(t)
	waits := b.put("a", "b")
	b.sees("1:ab")
	waits = append(waits, b.put("c")...)
	b.shut()
	for i, p := range waits {
		select {
		case out := <-p.done:
			if !out.look {
				t.Errorf("part %d came to %+v", i, out)
			}
		default:
			t.Errorf("the caller of part %d goes on waiting", i)
		}
	}
	if err := b.submit(newPart(context.Background(), cmds("get", "k"))); err != ErrClosed {
		t.Errorf("a part for a node that is closed: %v", err)
	}
}

func TestOriginQueueIsBounded(t *testing.T) {
	b := newBench(t)
	b.cfg.QueueCommands = 3
	b.put("a", "b", "c")
	if err := b.submit(newPart(context.Background(), cmds("get", "k"))); err != ErrTooBusy {
		t.Fatalf("got %v", err)
	}
	b.sees("1:abc")
	b.put("d")
	b.cfg.QueueBytes = 1
	if err := b.submit(newPart(context.Background(), cmds("get", "k"))); err != ErrTooBusy {
		t.Fatalf("got %v", err)
	}
}

func TestBatchHoldsItsBytesAndLargeOnesGoAlone(t *testing.T) {
	b := newBench(t)
	big := string(make([]byte, fsm.BatchBytes*2/3))
	for _, name := range []string{"a", "b"} {
		if err := b.submit(newPart(context.Background(), cmds("set", name, big))); err != nil {
			t.Fatal(err)
		}
	}
	huge := string(make([]byte, 3*fsm.BatchBytes))
	if err := b.submit(newPart(context.Background(), cmds("set", "h", huge))); err != nil {
		t.Fatal(err)
	}
	if x := b.take("leader", fsm.BatchBytes/2); x != nil {
		t.Fatal("a batch larger than the room that is left")
	}
	b.sees("1:a")
	b.sees("2:b")
	if x := b.take("leader", fsm.BatchBytes/2); x != nil {
		t.Fatal("a huge one into an entry that has others")
	}
	b.sees("3:h")
}

// One costly script a batch; quick commands pass by the ones that wait.
func TestCostlyScriptsAreAdmittedOneByOne(t *testing.T) {
	b := newBench(t)
	script := func(text string) *part {
		p := newPart(context.Background(), cmds("eval", text, "0"))
		if err := b.submit(p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	loop := "while true do end"
	parts := []*part{script(loop), script(loop), script("return 1"), script("return 1")}
	b.put("q")
	next := func(want ...string) {
		t.Helper()
		x := b.take("leader", fsm.BatchBytes)
		var got []string
		for i := range x.Commands {
			got = append(got, x.Commands[i].Args[1])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the batch has %q, want %q", got, want)
		}
		answers := make([]fsm.Answer, len(x.Commands))
		for i := range answers {
			switch x.Commands[i].Args[1] {
			case loop:
				answers[i].Cost = 1_000_000
			case "return 1":
				answers[i].Cost = 3
			}
		}
		b.resolve(&fsm.BatchResult{Origin: 9, Number: x.Number, Answers: answers})
	}
	next("q", loop)
	b.put("r")
	next("r", loop)
	next("return 1") // unknown: alone of its kind
	next("return 1") // known to be quick by now
	for _, p := range parts {
		b.wants(p, "ok")
	}
	script("return 1")
	script("return 1")
	script(loop)
	script(loop)
	next("return 1", "return 1", loop)
	next(loop)
}
