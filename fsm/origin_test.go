package fsm

import (
	"strings"
	"testing"
)

// TestBatchRunsOnce: P6. A batch that comes again gets the replies of its first
// run, also from a machine that was restored meanwhile.
func TestBatchRunsOnce(t *testing.T) {
	m := newMachine(t, 0)
	b := m.batch("incr n", "incr n")
	first := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Batches[0]
	again := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Batches[0]
	m.state = restored(t, m.state)
	late := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Batches[0]
	for _, r := range []BatchResult{first, again, late} {
		if r.Status != Done || len(r.Answers) != 2 || r.Answers[1].Value.Int != 2 {
			t.Errorf("got %+v, want the replies of the first run", r)
		}
	}
	if got := m.do("get n").Str; got != "2" {
		t.Errorf("the counter is %s after one batch of two, sent three times", got)
	}
}

func TestBatchAboveTheNextIsRefused(t *testing.T) {
	m := newMachine(t, 0)
	b := m.batch("incr n")
	b.Number++
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Batches[0]; got.Status != Refused {
		t.Errorf("a batch with a gap before it: %+v", got)
	}
	b.Number--
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Batches[0]; got.Status != Done || got.Answers[0].Value.Int != 1 {
		t.Errorf("the batch that was next: %+v", got)
	}
}

func TestCancelledBatchNeverRuns(t *testing.T) {
	m := newMachine(t, 0)
	b := m.batch("incr n")
	cancel := Batch{Origin: b.Origin, Number: b.Number, Cancel: true}
	for _, x := range []Batch{cancel, b} {
		if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{x}}).Batches[0]; got.Status != Cancelled {
			t.Errorf("got %+v, want it cancelled", got)
		}
	}
	if !m.do("get n").IsNull() {
		t.Error("a cancelled batch was executed")
	}
	done := m.batch("incr n")
	m.apply(&Entry{Kind: Batches, Batches: []Batch{done}})
	cancel.Number = done.Number
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{cancel}}).Batches[0]; got.Status != Done || got.Answers[0].Value.Int != 1 {
		t.Errorf("the cancel of an executed batch: %+v, want its replies", got)
	}
}

func TestOriginOfAnOlderBootIsClosed(t *testing.T) {
	m := newMachine(t, 0)
	old := m.batch("incr n")
	for _, o := range []Open{
		{Node: "n1", Disk: "d1", Boot: 1},
		{Node: "n1", Disk: "d1", Boot: 0},
		{Node: "stranger", Disk: "d9", Boot: 1},
	} {
		if got := m.apply(&Entry{Kind: OpenOrigin, Open: o}).Origin; got != 0 {
			t.Errorf("open %+v gave the origin %d, want it ignored", o, got)
		}
	}
	if m.apply(&Entry{Kind: OpenOrigin, Open: Open{Node: "n1", Disk: "d1", Boot: 2}}).Origin == 0 {
		t.Fatal("the next boot was ignored")
	}
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{old}}).Batches[0]; got.Status != Closed {
		t.Errorf("a batch of the boot before: %+v", got)
	}
}

func TestKeptRepliesAreBounded(t *testing.T) {
	m := newMachine(t, 0)
	m.do("set big " + strings.Repeat("x", KeptReplyMax))
	big := m.batch("get big")
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{big}}).Batches[0].Answers[0].Value; len(got.Str) != KeptReplyMax {
		t.Fatalf("the first reply has %d bytes", len(got.Str))
	}
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{big}}).Batches[0].Answers[0].Value; got.Str != ErrUnknownOutcome.Str {
		t.Errorf("a reply over the bound was kept as %.40q", got.Str)
	}
	for range KeptNumbers {
		m.do("incr n")
	}
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{big}}).Batches[0]; got.Status != Forgotten {
		t.Errorf("a batch of %d numbers ago: %+v", KeptNumbers, got.Status)
	}
	acked := m.batch("incr n")
	acked.Acked = acked.Number - 1
	m.apply(&Entry{Kind: Batches, Batches: []Batch{acked}})
	if n := len(m.state.origins["n1"].kept); n != 1 {
		t.Errorf("%d replies are kept after all but one arrived", n)
	}
}

func TestNodeWithAnotherDiskLosesItsOrigin(t *testing.T) {
	m := newMachine(t, 0)
	m.apply(&Entry{Kind: RecordMember, Member: Member{Node: "n1", Disk: "d1"}})
	old := m.batch("incr n")
	m.apply(&Entry{Kind: RecordMember, Member: Member{Node: "n1", Disk: "d2"}})
	if got := m.apply(&Entry{Kind: Batches, Batches: []Batch{old}}).Batches[0]; got.Status != Closed {
		t.Errorf("a batch from the lost disk: %+v", got)
	}
	if got := m.apply(&Entry{Kind: OpenOrigin, Open: Open{Node: "n1", Disk: "d1", Boot: 9}}).Origin; got != 0 {
		t.Error("the lost disk opened an origin")
	}
}
