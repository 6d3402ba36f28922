package server

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server/replica"
)

// fake is a Backend that runs a real machine behind a mutex: one node, no raft,
// no disk. What a test changes makes it fail or wait.
type fake struct {
	mu      sync.Mutex
	state   *fsm.State
	index   uint64
	origin  uint64
	number  uint64
	start   time.Time
	server  *Server // receives the events
	batches []int   // commands of each Do

	loading atomic.Bool
	listens atomic.Bool // as SetListens last said
	unready atomic.Pointer[error]
	fail    atomic.Pointer[error]
	status  replica.Status
	stats   replica.Stats
	replies *replica.Budget
	hang    chan struct{} // if not nil, Ready waits for it
	// before, if not nil, is called before each Do, without the lock.
	before  func(cmds []fsm.Command)
	tickets uint64
	waits   map[uint64]*fakeWait
}

var _ Backend = (*fake)(nil)

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{state: fsm.New(), start: time.Now(), replies: replica.NewBudget(replica.RepliesMax)}
	f.state.SetMembership(fsm.Membership{Index: 1, Voters: []string{"n1"}})
	f.apply(t, &fsm.Entry{Kind: fsm.Birth, Birth: fsm.BirthRecord{Cluster: "c", Seats: 3}})
	f.apply(t, &fsm.Entry{Kind: fsm.TermStart})
	f.origin = f.apply(t, &fsm.Entry{Kind: fsm.OpenOrigin, Open: fsm.Open{Node: "n1", Disk: "d", Boot: 1}}).Origin
	if f.origin == 0 {
		t.Fatal("the machine gave no origin")
	}
	return f
}

func (f *fake) StateHash() (uint64, [32]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.Applied(), f.state.Hash()
}

func (f *fake) apply(t testing.TB, e *fsm.Entry) fsm.Result {
	t.Helper()
	f.index++
	e.Stamp = f.stamp()
	res, err := f.state.Apply(f.index, 1, fsm.AppendEntry(nil, e))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (f *fake) stamp() fsm.Stamp {
	return fsm.Stamp{Term: 1, Now: time.Since(f.start).Microseconds(), Wall: time.Now().UnixMicro()}
}

func (f *fake) Do(ctx context.Context, client fsm.Client, cmds []fsm.Command) ([]fsm.Answer, error) {
	if f.before != nil {
		f.before(cmds)
	}
	if err := f.fail.Load(); err != nil {
		return nil, *err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return f.run(client, cmds, nil)
}

// run applies commands; settled are tickets that nobody waits for any more.
func (f *fake) run(client fsm.Client, cmds []fsm.Command, settled []uint64) ([]fsm.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index++
	f.number++
	f.batches = append(f.batches, len(cmds))
	e := fsm.Entry{Kind: fsm.Batches, Stamp: f.stamp(), Seed: f.index, Batches: []fsm.Batch{{
		Origin: f.origin, Number: f.number, Acked: f.number - 1, Clients: []fsm.Client{client}, Commands: cmds, Settled: settled,
	}}}
	res, err := f.state.Apply(f.index, 1, fsm.AppendEntry(nil, &e))
	if err != nil {
		return nil, err
	}
	if f.server != nil {
		f.server.Events(res.Events)
	}
	for _, w := range res.Woken {
		if x := f.waits[w.Ticket]; x != nil {
			x.answer <- w.Answer
			x.wake()
		}
	}
	return res.Batches[0].Answers, nil
}

// DoSome answers all, whatever it takes.
func (f *fake) DoSome(ctx context.Context, client fsm.Client, cmds []fsm.Command, share *replica.Share) ([]fsm.Answer, error) {
	answers, err := f.Do(ctx, client, cmds)
	for i := range answers {
		share.Force(replica.Footprint(&answers[i].Value))
	}
	return answers, err
}

func (f *fake) Replies() *replica.Budget { return f.replies }

func (f *fake) Status() replica.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.status
	st.Scripts, st.ScriptBytes = f.state.Scripts()
	return st
}

func (f *fake) Ready() error {
	if f.hang != nil {
		<-f.hang
	}
	if err := f.unready.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *fake) Loading() bool { return f.loading.Load() }

func (f *fake) Stats() *replica.Stats { return &f.stats }

func (f *fake) SetKeyEvents(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.KeyEvents = on
}

func (f *fake) SetListens(on bool) { f.listens.Store(on) }

// fakeWait is a command that waits in the fake's machine.
type fakeWait struct {
	fake   *fake
	ticket uint64
	answer chan fsm.Answer // of capacity 1
	wake   func()
}

func (f *fake) Block(ctx context.Context, client fsm.Client, cmds []fsm.Command, share *replica.Share, wake func()) ([]fsm.Answer, replica.Waiting, error) {
	f.mu.Lock()
	if f.waits == nil {
		f.waits = map[uint64]*fakeWait{}
	}
	f.tickets++
	w := &fakeWait{fake: f, ticket: f.tickets, answer: make(chan fsm.Answer, 1), wake: wake}
	f.waits[w.ticket] = w
	f.mu.Unlock()
	last := len(cmds) - 1
	cmds[last].Ticket = w.ticket
	answers, err := f.DoSome(ctx, client, cmds, share)
	if err != nil || !fsm.IsWaiting(&answers[last]) {
		return answers, nil, err
	}
	return answers, w, nil
}

func (w *fakeWait) Answer() (fsm.Answer, bool) {
	select {
	case a := <-w.answer:
		w.answer <- a
		return a, true
	default:
		return fsm.Answer{}, false
	}
}

func (w *fakeWait) End(ctx context.Context) (bool, error) {
	answers, err := w.fake.Do(ctx, fsm.Client{}, []fsm.Command{{Args: []string{"_unwait", strconv.FormatUint(w.ticket, 10)}}})
	return err == nil && answers[0].Value.Int == 1, err
}

func (w *fakeWait) Leave() {
	if _, err := w.fake.run(fsm.Client{}, nil, []uint64{w.ticket}); err != nil {
		panic(err)
	}
}
