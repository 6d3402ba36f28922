package replica

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
)

// machine is the state machine as raft drives it. One lock stands around the
// state: raft's goroutine applies under it, reads share it.
type machine struct {
	mu        sync.RWMutex
	state     *fsm.State
	ship      fsm.Membership // as last told to the state
	sinceSnap int64          // bytes of log applied since the last snapshot
	sinceNum  int64          // entries likewise
	weight    int64          // bytes of an average entry, as far as is known
	waiters   []appliedWaiter
	halted    error // why nothing is applied any more: see stop

	applied  atomic.Uint64 // index of the last entry applied, of any kind
	deadline atomic.Int64  // lease time at which the next lease ends, noDeadline if none
	wantKeys atomic.Bool   // KeyChanged events are made

	heavy         chan struct{} // holds one for each read that is answered from a copy
	replay        *replay
	snapshotBytes int64
	scriptLog     func(int, string)
	node          *Node
}

type appliedWaiter struct {
	index uint64
	done  chan struct{}
}

const noDeadline = int64(-1)

// appliedEntry is what the proposer of an entry gets back through raft.
type appliedEntry struct {
	term   uint64 // of the log
	now    int64  // the machine's time after it
	origin uint64 // see fsm.Result
}

var _ raft.BatchingFSM = (*machine)(nil)

func newMachine(n *Node) *machine {
	m := &machine{node: n, heavy: make(chan struct{}, heavyReads), snapshotBytes: n.cfg.SnapshotBytes, scriptLog: n.cfg.ScriptLog}
	m.replay = newReplay(n.life, m.applyOne, n.spawn)
	m.deadline.Store(noDeadline)
	m.install(fsm.New(), n.cfg.KeyEvents)
	return m
}

// install makes s the state and hands on what concerns this node alone.
func (m *machine) install(s *fsm.State, keyEvents bool) {
	s.KeyEvents, s.ScriptLog = keyEvents, m.scriptLog
	m.state = s
	m.wantKeys.Store(keyEvents)
}

// setKeyEvents turns the making of KeyChanged events on or off.
func (m *machine) setKeyEvents(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.KeyEvents = on
	m.wantKeys.Store(on)
}

// Apply applies one entry. Raft calls ApplyBatch instead.
func (m *machine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch applies entries in the order of the log. The lock is taken for
// each of them, so that reads come between.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	out := make([]any, len(logs))
	if m.replay.take(logs) || !m.replay.drain() {
		return out
	}
	for i, l := range logs {
		out[i] = m.applyOne(l)
	}
	return out
}

func (m *machine) applyOne(l *raft.Log) any {
	if err := m.isHalted(); err != nil {
		return err
	}
	if l.Type == raft.LogConfiguration {
		m.applyConfiguration(l)
		return nil
	}
	return m.applyCommand(l)
}

func (m *machine) applyCommand(l *raft.Log) any {
	m.mu.Lock()
	seats := m.state.Cluster().Seats
	res, err := m.state.Apply(l.Index, l.Term, l.Data)
	if err != nil {
		m.mu.Unlock()
		m.stop(l, err)
		return err
	}
	out := &appliedEntry{term: l.Term, now: m.state.Now(), origin: res.Origin}
	keyEvents := m.state.KeyEvents
	reseated := m.state.Cluster().Seats != seats
	m.noteDeadline()
	m.mu.Unlock()

	m.finish(l, res.Steps+commandSteps*commandsOf(&res))
	m.node.deliver(len(l.Data), &res, keyEvents)
	if kind := fsm.EntryKind(l.Data[1]); kind == fsm.RecordMember || reseated {
		m.node.membersChanged()
	}
	return out
}

// stop ends the node at an entry that it can't apply: skipping it would make
// replicas differ. Nothing is applied after it and no snapshot is taken, while
// the node closes either.
func (m *machine) stop(l *raft.Log, err error) {
	m.mu.Lock()
	m.halted = err
	m.mu.Unlock()
	kind := "an entry too short to have a kind"
	if len(l.Data) >= 2 {
		kind = fmt.Sprintf("entry of version %d and kind %d", l.Data[0], l.Data[1])
	}
	m.node.fatal(fmt.Errorf("log index %d, term %d: %s can't be applied: %w", l.Index, l.Term, kind, err))
	<-m.node.stop
}

func (m *machine) isHalted() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.halted
}

// applyConfiguration tells the state who the members are.
func (m *machine) applyConfiguration(l *raft.Log) {
	ship := membershipOf(raft.DecodeConfiguration(l.Data), l.Index)
	m.mu.Lock()
	m.state.SetMembership(ship)
	m.ship = ship
	m.noteDeadline() // who waited for a node that is no member any more frees locks
	m.mu.Unlock()
	m.finish(l, 0)
	m.node.membersChanged()
}

func membershipOf(c raft.Configuration, index uint64) fsm.Membership {
	ship := fsm.Membership{Index: index}
	for _, s := range c.Servers {
		if s.Suffrage == raft.Voter {
			ship.Voters = append(ship.Voters, string(s.ID))
		} else {
			ship.Others = append(ship.Others, string(s.ID))
		}
	}
	slices.Sort(ship.Voters)
	slices.Sort(ship.Others)
	return ship
}

func (m *machine) noteDeadline() {
	if at, ok := m.state.NextDeadline(); ok {
		m.deadline.Store(at)
	} else {
		m.deadline.Store(noDeadline)
	}
}

// finish counts an applied entry and wakes who waits for it. What its commands
// cost counts towards the next snapshot as bytes of log do: a restart applies again
// what came after it, and should not take longer for it than for the bytes.
func (m *machine) finish(l *raft.Log, steps int64) {
	n := &m.node.stats
	n.EntriesApplied.Add(1)
	n.BytesApplied.Add(uint64(len(l.Data)))
	m.mu.Lock()
	m.applied.Store(l.Index)
	m.sinceSnap += int64(len(l.Data)) + entryOverhead + steps/stepsPerByte
	m.sinceNum++
	if m.sinceSnap >= m.snapshotBytes {
		poke(m.node.snapshotDue)
	}
	m.wakeLocked(l.Index)
	m.mu.Unlock()
}

// commandsOf counts the commands that an entry executed, those of a MULTI as one.
func commandsOf(res *fsm.Result) int64 {
	n := 0
	for i := range res.Batches {
		n += len(res.Batches[i].Answers)
	}
	return int64(n)
}

// entryOverhead is about what an entry costs on disk beside its data.
const entryOverhead = 64

func (m *machine) wakeLocked(index uint64) {
	m.waiters = slices.DeleteFunc(m.waiters, func(w appliedWaiter) bool {
		if w.index > index {
			return false
		}
		close(w.done)
		return true
	})
}

// waitApplied waits until the entry at index is applied.
func (m *machine) waitApplied(index uint64, giveUp <-chan struct{}) bool {
	if m.applied.Load() >= index {
		return true
	}
	m.mu.Lock()
	if m.applied.Load() >= index {
		m.mu.Unlock()
		return true
	}
	w := appliedWaiter{index, make(chan struct{})}
	m.waiters = append(m.waiters, w)
	m.mu.Unlock()
	select {
	case <-w.done:
		return true
	case <-giveUp:
		return false
	case <-m.node.stop:
		return false
	}
}

// look runs f on the state, which it may only read.
func (m *machine) look(f func(*fsm.State)) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	f(m.state)
}

// Snapshot captures the state without copying it.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	if !m.replay.drain() {
		return nil, ErrClosed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sinceNum > 0 {
		m.weight = m.sinceSnap / m.sinceNum
	}
	m.sinceSnap, m.sinceNum = 0, 0
	return &capture{m.state.Snapshot()}, nil
}

// entryWeight is how many bytes an entry has had lately, on average.
func (m *machine) entryWeight() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.sinceNum > 0 {
		return uint64(m.sinceSnap / m.sinceNum)
	}
	return uint64(max(m.weight, entryOverhead))
}

type capture struct{ snap *fsm.Snapshot }

// Persist writes the captured state beside later Applies.
func (c *capture) Persist(sink raft.SnapshotSink) error {
	if _, err := c.snap.WriteTo(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// Release does nothing: the captured state is garbage after it.
func (c *capture) Release() {}

// Restore replaces the state. A snapshot that can't be read ends the node.
func (m *machine) Restore(body io.ReadCloser) error {
	defer body.Close()
	if !m.replay.drain() {
		return ErrClosed
	}
	s, err := fsm.Restore(body)
	if err != nil {
		m.node.fatal(fmt.Errorf("a snapshot can't be restored: %w", err))
		return err
	}
	index := s.Applied()
	m.mu.Lock()
	m.install(s, m.wantKeys.Load())
	m.ship = s.Membership()
	m.sinceSnap, m.sinceNum = 0, 0
	m.noteDeadline()
	m.applied.Store(max(index, m.ship.Index))
	m.wakeLocked(m.applied.Load())
	m.mu.Unlock()
	m.node.restored(index)
	return nil
}
