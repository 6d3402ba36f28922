package fsm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/redfence/redfence/fsm/reply"
)

// lineModel is lists and who waits for them, as a stranger would describe it:
// slices that are searched from the front.
type lineModel struct {
	lists map[string][]string
	line  []modelWaiter // by arrival
	ready []string      // keys that came to be during the command at hand
	woken []string      // "ticket: reply"
}

type modelWaiter struct {
	ticket uint64
	keys   []string
	target string // of a move, else ""
	tail   bool
}

func (m *lineModel) push(key, text string) {
	if len(m.lists[key]) == 0 && !slices.Contains(m.ready, key) {
		m.ready = append(m.ready, key)
	}
	m.lists[key] = append(m.lists[key], text)
}

// take serves w from a key that has something.
func (m *lineModel) take(w *modelWaiter, key string) string {
	l := m.lists[key]
	text := l[0]
	if w.tail {
		text, l = l[len(l)-1], l[:len(l)-1]
	} else {
		l = l[1:]
	}
	m.lists[key] = slices.Clone(l)
	if w.target == "" {
		return fmt.Sprintf("[%q, %q]", key, text)
	}
	m.push(w.target, text)
	return strconv.Quote(text)
}

// ask serves a blocking command or lets it wait.
func (m *lineModel) ask(w modelWaiter) string {
	for _, key := range w.keys {
		if len(m.lists[key]) > 0 {
			return m.take(&w, key)
		}
	}
	if w.ticket == 0 {
		return "nil"
	}
	m.line = append(m.line, w)
	return "WAITS"
}

// serve is what happens after a command.
func (m *lineModel) serve() {
	for len(m.ready) > 0 {
		key := m.ready[0]
		m.ready = m.ready[1:]
		for len(m.lists[key]) > 0 {
			i := slices.IndexFunc(m.line, func(w modelWaiter) bool { return slices.Contains(w.keys, key) })
			if i < 0 {
				break
			}
			w := m.line[i]
			m.line = slices.Delete(m.line, i, i+1)
			m.woken = append(m.woken, fmt.Sprintf("%d: %s", w.ticket, m.take(&w, key)))
		}
	}
}

// leave takes a ticket out of the line.
func (m *lineModel) leave(ticket uint64) bool {
	before := len(m.line)
	m.line = slices.DeleteFunc(m.line, func(w modelWaiter) bool { return w.ticket == ticket })
	return len(m.line) < before
}

// lineTest draws commands and gives each to the machine and to the model.
type lineTest struct {
	m       *machine
	model   *lineModel
	rng     *rand.Rand
	tickets uint64
}

func (l *lineTest) key() string { return string(rune('a' + l.rng.IntN(4))) }

// draw draws a command, and what the model makes of it.
func (l *lineTest) draw(waits bool) (Command, func() string) {
	key := l.key()
	switch l.rng.IntN(8) {
	case 0, 1:
		return Command{Args: []string{"rpush", key, "x", "y"}}, func() string {
			l.model.push(key, "x")
			l.model.push(key, "y")
			return strconv.Itoa(len(l.model.lists[key]))
		}
	case 2:
		return Command{Args: []string{"del", key}}, func() string {
			n := len(l.model.lists[key])
			l.model.lists[key] = nil
			return strconv.Itoa(min(n, 1))
		}
	case 3:
		if ticket := l.rng.Uint64N(l.tickets + 1); waits {
			return Command{Args: []string{"_unwait", fmt.Sprint(ticket)}}, func() string {
				if l.model.leave(ticket) {
					return "1"
				}
				return "0"
			}
		}
	}
	w, args := l.blocking()
	if waits {
		l.tickets++
		w.ticket = l.tickets
	}
	return Command{Args: args, Ticket: w.ticket}, func() string { return l.model.ask(w) }
}

func (l *lineTest) blocking() (w modelWaiter, args []string) {
	if l.rng.IntN(3) == 0 {
		w = modelWaiter{keys: []string{l.key()}, target: l.key(), tail: true}
		return w, []string{"blmove", w.keys[0], w.target, "right", "right", "0"}
	}
	for range 1 + l.rng.IntN(3) {
		w.keys = append(w.keys, l.key())
	}
	name := "blpop"
	if w.tail = l.rng.IntN(2) == 0; w.tail {
		name = "brpop"
	}
	return w, append(append([]string{name}, w.keys...), "0")
}

// step applies one command or one MULTI to both.
func (l *lineTest) step(t *rapid.T) {
	var want []string
	var settled []uint64
	if l.rng.IntN(4) == 0 {
		settled = []uint64{l.rng.Uint64N(l.tickets + 1)}
		l.model.leave(settled[0])
	}
	cmd, expect := l.draw(true)
	if l.rng.IntN(5) == 0 {
		cmd = Command{Args: []string{"exec"}, Exec: &Exec{}}
		for range 1 + l.rng.IntN(4) {
			q, expect := l.draw(false)
			cmd.Exec.Commands = append(cmd.Exec.Commands, Queued{Args: q.Args})
			want = append(want, expect())
		}
		want = []string{"[" + strings.Join(want, ", ") + "]"}
	} else {
		want = append(want, expect())
	}
	l.model.woken = nil
	l.model.serve()
	l.m.number++
	b := Batch{Origin: l.m.origin, Number: l.m.number, Settled: settled, Clients: []Client{{}}, Commands: []Command{cmd}}
	res := l.m.apply(&Entry{Kind: Batches, Batches: []Batch{b}})
	got := []string{spelled(res.Batches[0].Answers[0].Value)}
	var woken []string
	for _, w := range res.Woken {
		woken = append(woken, fmt.Sprintf("%d: %s", w.Ticket, spelled(w.Answer.Value)))
	}
	if !slices.Equal(got, want) || !slices.Equal(woken, l.model.woken) {
		t.Fatalf("%+v answered %q and woke %q, want %q and %q", cmd, got, woken, want, l.model.woken)
	}
}

// TestWaitersAgainstAModel: P1, P6. Who waits is served in the order of arrival,
// each once, and nobody waits for what there is; a replica that is restored on
// the way goes on alike.
func TestWaitersAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := &lineTest{m: newMachine(t, 0), model: &lineModel{lists: map[string][]string{}}}
		l.rng = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for i := range 80 {
			l.m.pass(time.Millisecond)
			l.step(rt)
			checkWaiters(rt, l.m.state)
			if i%9 == 4 {
				l.m.state = restored(t, l.m.state)
			}
		}
		if l.m.replay().Hash() != l.m.state.Hash() {
			rt.Fatal("the log played again gives another state")
		}
		if got := l.m.state.Waiting(); got != len(l.model.line) {
			rt.Fatalf("%d wait, want %d", got, len(l.model.line))
		}
	})
}

// checkWaiters counts anew what the state derives from its waiters, and finds
// who waits for what is there.
func checkWaiters(t *rapid.T, s *State) {
	ws := &s.waiters
	var bytes int64
	places, waiting := map[queueID]int{}, 0
	ws.all.Scan(func(arrival uint64, w *waiter) bool {
		bytes += w.bytes()
		waiting++
		if arrival != w.arrival || arrival > ws.arrivals {
			t.Fatalf("the waiter %d stands at %d of %d", w.arrival, arrival, ws.arrivals)
		}
		if own, _ := s.byID[w.origin].waiting.Get(w.ticket); own != w {
			t.Fatalf("the origin does not know ticket %d", w.ticket)
		}
		for _, key := range slices.Compact(slices.Sorted(slices.Values(w.want.keys))) {
			id := queueID{place{w.db.order, key}, w.want.kind}
			places[id]++
			if r := s.get(w.db, key); r != nil && r.kind == w.want.kind {
				t.Fatalf("%q waits, and there is %q", w.args, key)
			}
			if _, first, _ := ws.queues[queueID{place{w.db.order, key}, w.want.kind}].Min(); first == w && len(w.want.keys) == 1 &&
				w.want.kind == lockQueue && s.get(w.db, key) == nil && s.other(w.db, key) == nil {
				t.Fatalf("%q waits, and %q is free", w.args, key)
			}
		}
		return true
	})
	for id, q := range ws.queues {
		if q.Len() != places[id] || q.Len() == 0 {
			t.Fatalf("the queue of %q has %d, want %d", id.key, q.Len(), places[id])
		}
	}
	owned := 0
	for _, o := range s.byID {
		owned += o.waiting.Len()
	}
	if bytes != ws.bytes || len(ws.queues) != len(places) || owned != waiting || len(ws.ready)+len(ws.isReady)+len(ws.freed)+len(ws.isFreed)+len(ws.ended) > 0 || ws.kinds[listKind]+ws.kinds[zsetKind]+ws.kinds[lockQueue] != waiting {
		t.Fatalf("bytes %d are %d, queues %d are %d, waiters %d are %d", ws.bytes, bytes, len(ws.queues), len(places), owned, waiting)
	}
}

// TestWaitersAreBounded: P8, P10. What is over a bound is refused, and a queue
// that is empty is gone.
func TestWaitersAreBounded(t *testing.T) {
	m := newMachine(t, 0)
	ticket := uint64(0)
	wait := func(n int, args ...string) (last reply.Value) {
		var commands []Command
		for range n {
			ticket++
			commands = append(commands, Command{Args: args, Ticket: ticket})
		}
		m.number++
		res := m.apply(&Entry{Kind: Batches, Batches: []Batch{{Origin: m.origin, Number: m.number, Clients: []Client{{}}, Commands: commands}}})
		return res.Batches[0].Answers[n-1].Value
	}
	if got := wait(WaitersKeyMax, "blpop", "k", "0"); got.Str != Waits.Str {
		t.Fatalf("the last in the queue: %+v", got)
	}
	if got := wait(1, "blpop", "k", "0"); got.Str != errWaitFull.Str {
		t.Errorf("one more: %+v", got)
	}
	if got := wait(WaitersMax-WaitersKeyMax, "bzpopmin", "k", "0"); got.Str != Waits.Str {
		t.Fatalf("the last of all: %+v", got)
	}
	if got := wait(1, "blpop", "other", "0"); got.Str != errWaitFull.Str {
		t.Errorf("one more: %+v", got)
	}
	if got := wait(1, "blpop", strings.Repeat("k", WaiterBytesMax), "0"); got.Str != errWaitTooLarge.Str {
		t.Errorf("a large one: %+v", got)
	}
	if res := m.apply(&Entry{Kind: LoseWaits, Lost: m.origin}); len(res.Woken) != WaitersMax {
		t.Errorf("%d were told, want %d", len(res.Woken), WaitersMax)
	}
	ws := &m.state.waiters
	if ws.all.Len() > 0 || len(ws.queues) > 0 || ws.bytes != 0 || m.state.byID[m.origin].woken.Len() != KeptWoken {
		t.Errorf("left: %d waiters, %d queues, %d bytes, %d replies", ws.all.Len(), len(ws.queues), ws.bytes, m.state.byID[m.origin].woken.Len())
	}
}

// TestWaitOfARefusedBatch: P6. A batch that came too early settles nothing; when
// it comes again it does, also for a wait that the batch before it began.
func TestWaitOfARefusedBatch(t *testing.T) {
	m := newMachine(t, 0)
	begin := func(number, ticket uint64) Batch {
		return Batch{Origin: m.origin, Number: number, Clients: []Client{{}}, Commands: []Command{{Args: []string{"blpop", "k", "0"}, Ticket: ticket}}}
	}
	settle := Batch{Origin: m.origin, Number: 3, Settled: []uint64{1, 2}}
	for i, step := range []struct {
		batch   Batch
		waiting int
	}{{begin(1, 1), 1}, {settle, 1}, {begin(2, 2), 2}, {settle, 0}, {settle, 0}} {
		m.apply(&Entry{Kind: Batches, Batches: []Batch{step.batch}})
		if n := m.state.Waiting(); n != step.waiting {
			t.Errorf("after step %d %d wait, want %d", i, n, step.waiting)
		}
	}
}
