package replica

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
)

// term is one leadership of this node. Its one goroutine stamps and proposes, so
// the order of the log is the order of the stamps. It first appends a TermStart;
// once its own machine has applied that, it starts the clock at the machine's
// time and serves.
type term struct {
	node    *Node
	raft    *raft.Raft
	number  uint64
	created time.Time
	wake    chan struct{}
	orders  chan *order
	over    chan struct{} // closed when the term has ended
	done    chan struct{} // closed when its goroutine has

	mu     sync.Mutex
	remote []remoteBatch // from other nodes, in the order they came
	ended  bool

	// Of the goroutine alone.
	proposed time.Time // when the last entry was
	flights  chan *flight
	inflight int
	turn     bool // whether this node's own batches go first into the next entry
	passes   int  // for how many entries this node's own callers are not waited for

	// rests is set for a moment after raft took nothing, as during a handover:
	// proposing again at once would only keep a processor busy.
	rests atomic.Bool
	// owes an entry to followers, which learn by it that the one before is committed.
	owes atomic.Bool
}

// remoteBatch is a batch of another node.
type remoteBatch struct {
	batch *fsm.Batch
	from  *guest
	size  int
}

// order is an entry that is not made of batches, and who waits for it.
type order struct {
	entry  fsm.Entry
	result chan orderResult // of capacity 1
}

type orderResult struct {
	applied *appliedEntry
	err     error
}

// flight is a proposed entry.
type flight struct {
	future raft.ApplyFuture
	own    []uint64      // numbers of this node's batches in it
	origin uint64        // under which they were numbered
	remote []remoteBatch // those of others
	order  *order
	began  time.Time
}

var errTermOver = errors.New("replica: the term is over")

func newTerm(n *Node, r *raft.Raft, number uint64) *term {
	return &term{
		node: n, raft: r, number: number, created: time.Now(),
		wake: make(chan struct{}, 1), orders: make(chan *order),
		over: make(chan struct{}), done: make(chan struct{}),
		flights: make(chan *flight, n.cfg.EntriesInFlight),
	}
}

// run leads until end is called.
func (t *term) run() {
	defer close(t.done)
	if !t.start() {
		return
	}
	n := t.node
	n.stats.TermsLed.Add(1)
	landed := make(chan *flight, n.cfg.EntriesInFlight)
	go t.land(landed)
	n.serve(t)
	defer n.stopServing(t)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		orders := t.orders
		if t.inflight >= n.cfg.EntriesInFlight || t.rests.Load() {
			orders = nil
		}
		timer.Reset(t.untilDue())
		select {
		case <-t.over:
			close(t.flights)
			return
		case <-t.wake:
		case o := <-orders:
			t.propose(&flight{order: o}, &o.entry)
		case f := <-landed:
			t.inflight--
			t.linger(f)
			t.lingerHere(f)
		case <-timer.C:
		}
		for t.inflight < n.cfg.EntriesInFlight && !t.rests.Load() && (t.proposeOrder() || t.proposeNext()) {
		}
	}
}

// proposeOrder proposes an order if one waits. Orders go before batches: under
// load there is always another batch.
func (t *term) proposeOrder() bool {
	select {
	case o := <-t.orders:
		t.propose(&flight{order: o}, &o.entry)
		return true
	default:
		return false
	}
}

// start appends the TermStart and, when the machine has it, starts the clock.
func (t *term) start() bool {
	t.proposed = t.created
	future := t.apply(&fsm.Entry{Kind: fsm.TermStart})
	if future.Error() != nil {
		return false
	}
	applied, ok := future.Response().(*appliedEntry)
	if !ok || applied.term != t.number {
		return false // appended in a later term: whoever leads that one starts it
	}
	t.node.clock.start(applied.now)
	return true
}

// apply is the one place where anything is proposed to raft.
func (t *term) apply(e *fsm.Entry) raft.ApplyFuture {
	data := fsm.AppendEntry(make([]byte, 0, weight(e)), e)
	t.node.stats.EntriesProposed.Add(1)
	t.node.stats.BytesProposed.Add(uint64(len(data)))
	return t.raft.Apply(data, 0)
}

// weight is about what an entry takes in the log.
func weight(e *fsm.Entry) int {
	size := batchOverhead
	for i := range e.Batches {
		b := &e.Batches[i]
		size += batchOverhead
		for j := range b.Clients {
			c := &b.Clients[j]
			size += len(c.Name) + len(c.Addr) + len(c.Library) + len(c.Node) + 4
		}
		for j := range b.Commands {
			size += b.Commands[j].Size()
		}
	}
	return size
}

// propose stamps an entry and proposes it.
func (t *term) propose(f *flight, e *fsm.Entry) {
	n := t.node
	e.Stamp = fsm.Stamp{Term: t.number, Now: n.clock.now(), Wall: n.cfg.Wall()}
	e.Seed, e.MemoryMax = n.cfg.Seed(), n.cfg.MemoryMax
	for i := range e.Batches {
		n.stats.CommandsProposed.Add(uint64(len(e.Batches[i].Commands)))
	}
	t.proposed = time.Now()
	f.began = t.proposed
	f.future = t.apply(e)
	t.inflight++
	t.flights <- f
}

// proposeNext proposes what waits, or what time asks for. It says whether
// there was anything.
func (t *term) proposeNext() bool {
	owes := t.owes.Swap(false)
	f, e := t.gather()
	if len(e.Batches) == 0 && !owes && !t.timeAsks() {
		return false
	}
	t.propose(f, e)
	return true
}

// gather fills an entry with batches of this node and of others, in turns, up
// to fsm.BatchBytes.
func (t *term) gather() (*flight, *fsm.Entry) {
	f, e := &flight{}, &fsm.Entry{Kind: fsm.Batches}
	room := fsm.BatchBytes
	t.turn = !t.turn
	if t.turn {
		room = t.gatherOwn(f, e, room)
	}
	room = t.gatherRemote(f, e, room)
	if !t.turn {
		t.gatherOwn(f, e, room)
	}
	return f, e
}

func (t *term) gatherOwn(f *flight, e *fsm.Entry, room int) int {
	for room > 0 {
		b := t.node.origin.take(t, room)
		if b == nil {
			break
		}
		for i := range b.Commands {
			room -= b.Commands[i].Size()
		}
		room -= batchOverhead
		f.own, f.origin = append(f.own, b.Number), b.Origin
		e.Batches = append(e.Batches, *b)
	}
	return room
}

// batchOverhead is about what a batch takes beside its commands.
const batchOverhead = 64

func (t *term) gatherRemote(f *flight, e *fsm.Entry, room int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for n < len(t.remote) {
		r := &t.remote[n]
		if r.size > room && (room < fsm.BatchBytes || n > 0) {
			break
		}
		room -= r.size
		f.remote = append(f.remote, *r)
		e.Batches = append(e.Batches, *r.batch)
		n++
	}
	clear(t.remote[:n])
	t.remote = t.remote[n:]
	return room
}

// timeAsks says whether an empty entry is due: a lease has run out, or the
// machine's time should come near the leader's.
func (t *term) timeAsks() bool {
	deadline := t.node.machine.deadline.Load()
	if deadline == noDeadline {
		return false
	}
	if t.node.clock.now() >= deadline {
		t.node.stats.Expiries.Add(1)
		return true
	}
	if time.Since(t.proposed) >= t.checkpointAfter() {
		t.node.stats.Checkpoints.Add(1)
		return true
	}
	return false
}

func (t *term) checkpointAfter() time.Duration {
	if time.Since(t.created) < termYoung {
		return checkpointYoung
	}
	return checkpointEvery
}

// untilDue is how long nothing is due, if nothing happens.
func (t *term) untilDue() time.Duration {
	deadline := t.node.machine.deadline.Load()
	if deadline == noDeadline || t.rests.Load() || t.inflight >= t.node.cfg.EntriesInFlight {
		return time.Hour // an entry that lands wakes the goroutine, and every lease begins in one
	}
	left := time.Duration(deadline-t.node.clock.now()) * time.Microsecond
	left = min(left, t.checkpointAfter()-time.Since(t.proposed))
	return max(left, time.Millisecond)
}

// land waits for the proposed entries, in their order, and says what became of
// those that raft does not know to be applied. Results are delivered where they
// are applied (Node.deliver).
func (t *term) land(landed chan<- *flight) {
	for f := range t.flights {
		err := f.future.Error()
		if f.order != nil {
			applied, _ := f.future.Response().(*appliedEntry)
			f.order.result <- orderResult{applied, err}
		}
		if err != nil {
			t.giveBack(f, certainlyNot(err))
		}
		select {
		case landed <- f:
		case <-t.over: // nobody counts any more
		}
	}
}

// certainlyNot says whether raft's error means that the entry is in no log and
// never will be. Every other error leaves it open.
func certainlyNot(err error) bool {
	return errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrEnqueueTimeout) ||
		errors.Is(err, raft.ErrLeadershipTransferInProgress)
}

// giveBack returns what a failed entry carried to those who sent it.
func (t *term) giveBack(f *flight, certain bool) {
	for _, number := range f.own {
		t.node.origin.lost(t, f.origin, number, certain)
	}
	for i := range f.remote {
		f.remote[i].lost(certain)
	}
	if certain {
		// A handover that fails leaves this term leading: try again after a moment.
		t.rests.Store(true)
		time.AfterFunc(readRetryWait, func() {
			t.rests.Store(false)
			poke(t.wake)
		})
	}
}

// order proposes an entry and waits until this node's machine has applied it.
func (t *term) order(e fsm.Entry) (*appliedEntry, error) {
	o := &order{entry: e, result: make(chan orderResult, 1)}
	select {
	case t.orders <- o:
	case <-t.over:
		return nil, errTermOver
	}
	select {
	case r := <-o.result:
		if r.err == nil && r.applied == nil {
			r.err = errTermOver
		}
		return r.applied, r.err
	case <-t.node.stop:
		return nil, ErrClosed
	}
}

// submit takes a batch of another node.
func (t *term) submit(b *fsm.Batch, from *guest) {
	r := remoteBatch{batch: b, from: from, size: batchOverhead}
	for i := range b.Commands {
		r.size += b.Commands[i].Size()
	}
	t.mu.Lock()
	ended := t.ended
	if !ended {
		t.remote = append(t.remote, r)
	}
	t.mu.Unlock()
	if ended {
		r.lost(true)
		return
	}
	poke(t.wake)
}

func (r *remoteBatch) lost(certain bool) {
	r.from.settled()
	l := lostBatch{r.batch.Origin, r.batch.Number, certain}
	r.from.out.send(frameLost, func(b []byte) []byte { return appendLost(b, l) })
}

// end stops the term. What other nodes had sent and was not proposed is given
// back to them.
func (t *term) end() {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	t.ended = true
	remote := t.remote
	t.remote = nil
	t.mu.Unlock()
	close(t.over)
	for i := range remote {
		remote[i].lost(true)
	}
}

func (t *term) hasEnded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}
