package fsm

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestStampOfAnotherTermIsIgnored: P2. A proposal stamped in one term and
// appended in a later one must not move the clock.
func TestStampOfAnotherTermIsIgnored(t *testing.T) {
	m := newMachine(t, 0)
	m.do("set lock a nx px 1000")
	m.term = 2
	m.apply(&Entry{Kind: TermStart})
	late := &Entry{Kind: Batches, Stamp: Stamp{Term: 1, Now: m.now + 5_000_000}, Batches: []Batch{m.batch("set lock b nx px 1000")}}
	if got := m.applyStamped(late, 2).Batches[0].Answers[0].Value; !got.IsNull() {
		t.Errorf("a lock was given away by the stamp of a leader that had lost its term: %+v", got)
	}
	m.pass(999 * time.Millisecond)
	if got := m.do("set lock b nx px 1000"); !got.IsNull() {
		t.Errorf("given away after 999 ms of 1000: %+v", got)
	}
	m.pass(time.Millisecond)
	if got := m.do("set lock b nx px 1000"); got.Str != "OK" {
		t.Errorf("not free at its deadline: %+v", got)
	}
}

func TestClockNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c clock
		for range 50 {
			before := c
			st := Stamp{
				Term: rapid.Uint64Range(1, 2).Draw(t, "term"),
				Now:  rapid.Int64Range(0, 1e9).Draw(t, "now"), Wall: rapid.Int64Range(-1e9, 1e18).Draw(t, "wall"),
			}
			empty := rapid.Bool().Draw(t, "empty")
			c.advance(st, 1, empty)
			if c.now < before.now || c.wall < before.wall {
				t.Fatalf("went from %+v to %+v by %+v", before, c, st)
			}
			if st.Term != 1 && c != before {
				t.Fatalf("a stamp of another term moved the clock from %+v to %+v", before, c)
			}
			if passed := c.now - before.now; !empty && c.wall-before.wall > passed+passed/100 {
				t.Fatalf("wall time ran from %d to %d in %d", before.wall, c.wall, passed)
			}
		}
	})
}

// TestWallJumpEndsNothing: P2. A leader whose wall clock is a day ahead changes
// neither a lease nor what a script that goes by TIME sees.
func TestWallJumpEndsNothing(t *testing.T) {
	m := newMachine(t, 0)
	m.do("set lock a px 10000")
	before := m.state.Wall()
	m.pass(time.Second)
	e := &Entry{Kind: Batches, Stamp: Stamp{Term: m.term, Now: m.now, Wall: before + 86_400_000_000}}
	res := m.applyStamped(e, m.term)
	if passed := m.state.Wall() - before; passed > 1_010_000 {
		t.Errorf("wall time ran %d µs in a second", passed)
	}
	if res.WallGap < 86_000_000_000 {
		t.Errorf("the gap is told as %d µs", res.WallGap)
	}
	if got := m.do("pttl lock").Int; got != 9000 {
		t.Errorf("the lease has %d ms left, want 9000", got)
	}
	m.do("del lock")
	m.applyStamped(&Entry{Kind: Batches, Stamp: e.Stamp}, m.term)
	if m.state.Wall() != e.Stamp.Wall {
		t.Errorf("with nothing held the wall clock is %d, want the leader's %d", m.state.Wall(), e.Stamp.Wall)
	}
}

func TestLeaseOfAThousandYears(t *testing.T) {
	m := newMachine(t, 0)
	for _, ttl := range []string{"31557600000000", "9223370036854775807"} {
		if got := m.do("set k v px " + ttl); got.Str != "OK" {
			t.Errorf("PX %s: %+v", ttl, got)
		}
		if got := m.do("pttl k").Int; got < 31557600000000 {
			t.Errorf("PX %s leaves %d ms", ttl, got)
		}
	}
}
