package fsm

import (
	"bytes"
	goflag "flag"
	"fmt"
	"runtime"
	"testing"
	"time"
)

var names = goflag.Int("names", 5_000, "how often six new names are locked and released")

func snapshotSize(t *testing.T, s *State) int {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

// liveHeap is what is in use after a collection.
func liveHeap() uint64 {
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return ms.HeapAlloc
}

// TestNamesLeaveNothing: P10. Names that were locked in every way and released or
// run out leave neither memory nor bytes of a snapshot.
func TestNamesLeaveNothing(t *testing.T) {
	m := newMachine(t, 3)
	m.do("ping")
	m.apply(&Entry{Kind: Batches, Batches: []Batch{m.batch("lock.break x")}})
	before, bytesBefore, heapBefore := m.state.Memory(), snapshotSize(t, m.state), liveHeap()
	session := 0
	for i := range *names {
		if i%500 == 0 {
			session = int(m.do("session.open 500").Int)
		}
		b := m.batch(
			fmt.Sprintf("lock.acquire a%d x 1000 delay 50", i), fmt.Sprintf("lock.release a%d x", i),
			fmt.Sprintf("lock.acquire b%d x 20 shared delay 30 note n", i),
			fmt.Sprintf("lock.acquire c%d x 0 session %d permits 3", i, session),
			fmt.Sprintf("lock.acquire d%d x 30 delay 10", i),
			fmt.Sprintf("lock.acquireall x 20 2 e%d f%d", i, i),
		)
		b.Acked = m.number
		m.pass(time.Millisecond)
		m.apply(&Entry{Kind: Batches, Batches: []Batch{b}})
		m.log = nil
	}
	if kept := m.state.released.byName.Len(); kept > ReleasesMax || kept == 0 {
		t.Errorf("%d releases are remembered", kept)
	}
	for range 20 {
		m.pass(10 * time.Second)
		b := m.batch("lock.break x")
		b.Acked = m.number
		m.apply(&Entry{Kind: Batches, Batches: []Batch{b}})
	}
	// Numbers have become longer: the clock, the tokens, the buckets of WATCH.
	if after := m.state.Memory(); after != before {
		t.Errorf("%d bytes are counted, %d before", after, before)
	}
	if after := snapshotSize(t, m.state); after > bytesBefore+8*WatchBuckets {
		t.Errorf("a snapshot has %d bytes, %d before", after, bytesBefore)
	}
	if after := liveHeap(); after > heapBefore+16<<20 {
		t.Errorf("%d MB of heap are in use, %d before", after>>20, heapBefore>>20)
	}
	if n := m.state.sessions.byID.Len() + m.state.sessions.locks.Len() + len(m.state.holders) + m.state.deadlines.Len(); n != 0 {
		t.Errorf("%d sessions, places, holders and deadlines are left", n)
	}
}

// TestReleasesAreBounded: P10. What is remembered of releases has a bound in
// number, the oldest go first.
func TestReleasesAreBounded(t *testing.T) {
	m := newMachine(t, 0)
	for i := range ReleasesMax/100 + 10 {
		var commands []string
		for j := range 100 {
			commands = append(commands, fmt.Sprintf("lock.acquire n%d o 1000", i*100+j), fmt.Sprintf("lock.release n%d o", i*100+j))
		}
		m.apply(&Entry{Kind: Batches, Batches: []Batch{m.batch(commands...)}})
		m.log = nil
	}
	if n := m.state.released.byName.Len(); n != ReleasesMax {
		t.Errorf("%d releases are remembered, want %d", n, ReleasesMax)
	}
	if got := m.do("lock.release n0 o").Int; got != 0 {
		t.Error("the oldest is still remembered")
	}
	if got := m.do(fmt.Sprintf("lock.release n%d o", ReleasesMax+500)).Int; got != 1 {
		t.Error("a late one is forgotten")
	}
}

// TestOverdueCountsAsEnded: P1, P8. What more than one entry's bound keeps from
// being ended shows as ended, and as in its delay.
func TestOverdueCountsAsEnded(t *testing.T) {
	m := newMachine(t, 1)
	session := m.do("session.open 1500").Int
	var commands []string
	for i := range ExpirePerEntry {
		commands = append(commands, fmt.Sprintf("set k%05d v px 1000", i))
	}
	commands = append(commands,
		"lock.acquire z1 x 1100 delay 5000", "lock.acquire z2 x 1100 shared delay 5000", "lock.acquire z3 x 1100 permits 1", "lock.acquire z4 x 1100",
		fmt.Sprintf("lock.acquire z5 x 0 session %d", session), fmt.Sprintf("lock.acquire z6 x 0 session %d shared", session),
		fmt.Sprintf("lock.acquire z7 x 0 session %d delay 5000", session), fmt.Sprintf("lock.acquire z8 x 0 session %d permits 2 delay 5000", session))
	m.apply(&Entry{Kind: Batches, Batches: []Batch{m.batch(commands...)}})
	m.pass(2 * time.Second)
	for _, c := range []struct{ command, want string }{
		{"dbsize", "4"},
		{"exists z1 z2 z3 z4 z5 z6 z7 z8", "4"}, {"type z1", "lock"}, {"type z2", "lock"}, {"type z7", "lock"}, {"type z8", "lock"},
		{"pttl z1", "4100"}, {"pttl z8", "4500"}, {"get z5", "nil"}, {"lock.token z6 x", "nil"}, {"lock.check z3 4", "0"},
		{"session.list", `["0", []]`}, {fmt.Sprintf("session.keepalive %d", session), "0"},
		{"lock.acquire z1 y 100", "nil"}, {"set z1 y nx px 100", "nil"}, {"lock.acquire z2 y 100 shared", "nil"}, {"lock.acquire z8 y 100 permits 2", "nil"},
		{"lock.release z4 x", "0"},
	} {
		got := m.overdue(t, c.command)
		if got != c.want {
			t.Errorf("%s answers %s, want %s", c.command, got, c.want)
		}
	}
	for _, name := range []string{"z3", "z4", "z5", "z6"} {
		if got := m.overdue(t, "lock.acquire "+name+" y 100"); got[0] != '[' {
			t.Errorf("%s can't be had: %s", name, got)
		}
	}
}

// overdue is what a command answers in the first entry that comes when all
// leases are overdue, on a copy of the machine.
func (m *machine) overdue(t *testing.T, command string) string {
	t.Helper()
	x := *m
	x.state = restored(t, m.state)
	res := x.apply(&Entry{Kind: Batches, Batches: []Batch{x.batch(command)}})
	return spelled(res.Batches[0].Answers[0].Value)
}

// TestSessionIsBounded: P8. A session has at most SessionLocksMax locks, and its
// end is one entry whatever it has.
func TestSessionIsBounded(t *testing.T) {
	m := newMachine(t, 0)
	session := m.do("session.open 1000").Int
	var commands []string
	for i := range SessionLocksMax + 1 {
		commands = append(commands, fmt.Sprintf("lock.acquire n%d o 0 session %d shared", i, session))
	}
	res := m.apply(&Entry{Kind: Batches, Batches: []Batch{m.batch(commands...)}})
	answers := res.Batches[0].Answers
	if last := answers[len(answers)-1].Value; last.Str != errSessionFull.Str || answers[len(answers)-2].Value.IsError() {
		t.Errorf("the lock over the limit: %+v", last)
	}
	if got := m.do(fmt.Sprintf("lock.acquire n5 o 0 session %d shared", session)); got.IsError() {
		t.Errorf("asked again in a full session: %s", got.Str)
	}
	m.pass(time.Second)
	m.apply(&Entry{Kind: Batches})
	if n := m.state.Keys(SharedSpace); n != 0 {
		t.Errorf("%d locks outlive their session", n)
	}
}
