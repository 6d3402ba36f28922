package fsm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// lineOfLock follows one exclusive lock by what its clients are told.
type lineOfLock struct {
	t       *rapid.T
	m       *machine
	line    []uint64          // tickets that wait, by arrival
	offered map[uint64]int64  // ticket -> lease clock of its offer
	owners  map[uint64]string // by ticket
	holder  string
	token   int64
	ends    int64
}

// apply applies one command and takes note of who was told what.
func (l *lineOfLock) apply(ticket uint64, args ...string) string {
	l.m.number++
	res := l.m.apply(&Entry{Kind: Batches, Batches: []Batch{{
		Origin: l.m.origin, Number: l.m.number, Clients: []Client{{}}, Commands: []Command{{Args: args, Ticket: ticket}},
	}}})
	if l.holder != "" && l.ends <= l.m.now {
		l.holder = "" // it ended before the entry's command
	}
	for _, w := range res.Woken {
		i := slices.Index(l.line, w.Ticket)
		switch {
		case i < 0:
			l.t.Fatalf("ticket %d is told %s and does not wait", w.Ticket, spelled(w.Answer.Value))
		case IsOffered(&w.Answer):
			if i != 0 {
				l.t.Fatalf("ticket %d is offered the lock before %v", w.Ticket, l.line[:i])
			}
			for t, since := range l.offered {
				if since+OfferKept > l.m.now {
					l.t.Fatalf("ticket %d is offered what ticket %d is", w.Ticket, t)
				}
			}
			l.offered[w.Ticket] = l.m.now
		}
		l.line = slices.Delete(l.line, i, i+1)
	}
	return plain(spelled(res.Batches[0].Answers[0].Value))
}

// granted takes note of a grant; nobody may hold the lock then, and its token is
// the highest.
func (l *lineOfLock) granted(owner, got string, millis int64) {
	var token, left int64
	if n, _ := fmt.Sscanf(got, "[%d, %d]", &token, &left); n != 2 {
		return
	}
	if l.holder == owner {
		l.ends = max(l.ends, l.m.now+millis*1000)
		return
	}
	if l.holder != "" || token <= l.token {
		l.t.Fatalf("%s is granted token %d while %q holds %d", owner, token, l.holder, l.token)
	}
	l.holder, l.token, l.ends = owner, token, l.m.now+millis*1000
}

func (l *lineOfLock) step(rng *rand.Rand, ticket uint64) {
	switch rng.IntN(9) {
	case 0, 1, 2:
		owner := fmt.Sprint("o", ticket)
		l.owners[ticket] = owner
		got := l.apply(ticket, "lock.acquire", "k", owner, "100", "wait", "9")
		if got == "WAITS" {
			l.line = append(l.line, ticket)
			return
		}
		if len(l.line) > 0 {
			l.t.Fatalf("%s gets %s while %v wait", owner, got, l.line)
		}
		l.granted(owner, got, 100)
	case 3, 4:
		for ticket, since := range l.offered {
			delete(l.offered, ticket)
			owner := l.owners[ticket]
			got := l.apply(0, "_take", "k", owner, "100")
			if kept := since+OfferKept > l.m.now; kept == (got == "error") {
				l.t.Fatalf("what was offered %d µs ago: %s", l.m.now-since, got)
			}
			l.granted(owner, got, 100)
			return
		}
	case 5:
		if l.apply(0, "lock.release", "k", l.holder) == "1" {
			l.holder = ""
		}
	case 6:
		if len(l.line) > 0 {
			gone := l.line[rng.IntN(len(l.line))]
			if l.apply(0, "_unwait", fmt.Sprint(gone)) == "1" {
				l.line = slices.DeleteFunc(l.line, func(t uint64) bool { return t == gone })
			}
		}
	case 7:
		if got := l.apply(0, "set", "k", "x", "nx", "px", "50"); got == "OK" {
			if l.holder != "" || len(l.line) > 0 {
				l.t.Fatalf("SET NX takes what %q holds and %v wait for", l.holder, l.line)
			}
			l.holder, l.token, l.ends = "x", int64(l.m.state.Tokens()), l.m.now+50_000
		}
	case 8:
		l.read()
	}
}

// read asks for the lock SHARED, which nobody gets who would come before others.
func (l *lineOfLock) read() {
	if l.apply(0, "lock.acquire", "k", "reader", "50", "shared") == "nil" {
		return
	}
	for ticket, since := range l.offered {
		if since+OfferKept > l.m.now {
			l.t.Fatalf("a reader gets what ticket %d is offered", ticket)
		}
	}
	if l.holder != "" || len(l.line) > 0 {
		l.t.Fatalf("a reader gets what %q holds and %v wait for", l.holder, l.line)
	}
	if got := l.apply(0, "lock.release", "k", "reader"); got != "1" {
		l.t.Fatalf("it can't let it go: %s", got)
	}
}

// TestLockQueue: P1, P3, P6. Who waits for a lock is offered it in the order of
// arrival, one at a time; nobody else gets it meanwhile; a taken offer is the only
// grant; and a replica that is restored on the way goes on alike.
func TestLockQueue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := &lineOfLock{t: rt, m: newMachine(t, 3), offered: map[uint64]int64{}, owners: map[uint64]string{}}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for i := range uint64(120) {
			if rng.IntN(30) == 0 {
				l.m.pass(OfferKept * time.Microsecond)
			}
			l.m.pass(time.Duration(rng.IntN(60)) * time.Millisecond)
			l.step(rng, i+1)
			checkState(rt, l.m.state)
			if i%20 == 7 {
				l.m.state = restored(t, l.m.state)
			}
		}
		for range 60 {
			l.m.pass(3 * time.Second)
			l.apply(0, "ping")
		}
		if n := l.m.state.Waiting(); n != 0 || len(l.line) != 0 {
			rt.Fatalf("%d wait for a lock that nobody holds", n)
		}
		if l.m.replay().Hash() != l.m.state.Hash() {
			rt.Fatal("the log played again gives another state")
		}
	})
}

// BenchmarkHandOver is a release that serves the next of so many who wait.
func BenchmarkHandOver(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := newMachine(b, 3)
			ticket := 0
			wait := func() {
				ticket++
				m.number++
				m.apply(&Entry{Kind: Batches, Batches: []Batch{{
					Origin: m.origin, Number: m.number, Acked: m.number - 1, Settled: []uint64{uint64(max(1, ticket-n-2))}, Clients: []Client{{}},
					Commands: []Command{{Args: []string{"lock.acquire", "k", fmt.Sprint(ticket), "60000", "wait", "9"}, Ticket: uint64(ticket)}},
				}}})
			}
			for range n + 1 {
				wait()
			}
			holder := 1
			for b.Loop() {
				m.log = nil
				m.do(fmt.Sprint("lock.release k ", holder))
				holder++
				m.do(fmt.Sprint("_take k ", holder, " 60000"))
				wait()
			}
		})
	}
}
