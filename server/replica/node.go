package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
)

// Node is one member of a cluster. Its methods may be called from any number of
// goroutines.
type Node struct {
	cfg      Config
	log      *slog.Logger
	repeats  *repeats
	stats    Stats
	clock    *clock
	watch    *diskWatch
	disk     disk
	identity *identityStore
	roster   *roster
	port     *port
	machine  *machine
	gate     *readGate
	progress *progress
	origin   *origin
	costs    *costs
	replies  *Budget
	feed     *feed
	follower *follower
	guests   *guests
	council  *council
	presence presence

	role    sync.Mutex // serve and stopServing don't overlap
	tuning  sync.Mutex // of raft's configuration
	stores  *stores
	raft    atomic.Pointer[raft.Raft]
	serving atomic.Pointer[term] // the term that this node leads and serves
	// restoring lasts until the newest snapshot is in the machine; served is set
	// once the node could serve for the first time.
	restoring atomic.Bool
	served    atomic.Bool
	started   time.Time

	ownKeyEvents atomic.Bool
	listens      atomic.Bool // somebody here listens to events: see pushes
	pushes       pushes
	snapshotDue  chan struct{}
	openDue      chan struct{} // the origin wants an id
	askDue       chan struct{} // somebody unknown was met
	roleDue      chan struct{} // raft's leader has changed
	beat         chan struct{} // heartbeats are due

	closing sync.Once
	failed  atomic.Pointer[error]
	stop    chan struct{}   // closed when Close begins
	life    context.Context // ends when Close begins, for what dials
	die     context.CancelFunc
	running sync.WaitGroup
}

// Start starts a node. It returns as soon as the data directory is known to be
// whole and the raft port listens; the node then waits, if it must, to be born
// or let in, and replays its log. An error says what is wrong with the settings,
// the directory or the port, and names it. ctx ends only the start itself.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	cfg.setDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, log: cfg.Log.With("node", cfg.NodeID), repeats: newRepeats(), started: time.Now(),
		stop: make(chan struct{}), snapshotDue: make(chan struct{}, 1), openDue: make(chan struct{}, 1),
		askDue: make(chan struct{}, 1), roleDue: make(chan struct{}, 1), beat: make(chan struct{}, 1),
		progress: &progress{}, costs: newCosts(), guests: newGuests(), council: newCouncil(),
		follower: &follower{wake: make(chan struct{}, 1)},
	}
	n.life, n.die = context.WithCancel(context.Background())
	n.restoring.Store(true)
	n.ownKeyEvents.Store(cfg.KeyEvents)
	n.listens.Store(cfg.OnEvents != nil)
	n.clock = newClock(cfg.Mono, cfg.Wall)
	n.watch = newDiskWatch(n.clock.counted, n.fatal)
	n.gate = newReadGate(n.voters)
	n.feed = &feed{sink: cfg.OnEvents, stats: &n.stats}
	n.replies = NewBudget(cfg.ReplyMemory)
	n.origin = newOrigin(&n.cfg, &n.stats, n.costs)
	n.origin.replies = n.replies
	n.replies.onEased(n.origin.poke)
	n.origin.reopen = func() { poke(n.openDue) }
	n.machine = newMachine(n)
	if err := n.openDisk(); err != nil {
		return nil, err
	}
	if err := n.openNetwork(); err != nil {
		return nil, errors.Join(err, n.stores.close(), n.releaseDisk())
	}
	n.spawn(func() {
		tick := min(clockTick, n.cfg.Heartbeat/beatsPerTimeout)
		beat := n.beats(tick)
		n.clock.run(n.stop, tick, n.starved, func() { beat(); n.watch.look(); n.oversee() })
		n.origin.shut()
	})
	n.spawn(n.port.serve)
	n.spawn(n.gossip)
	n.spawn(n.begin)
	return n, nil
}

func (n *Node) spawn(f func()) {
	n.running.Add(1)
	go func() {
		defer n.running.Done()
		f()
	}()
}

// openDisk takes the data directory and finds out what is in it.
func (n *Node) openDisk() (err error) {
	if n.cfg.Held != nil {
		n.disk, err = n.cfg.Held, n.cfg.Held.take()
	} else {
		var d *directory
		if d, err = openDirectory(n.cfg.Dir); err == nil {
			n.disk = d
		}
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			n.disk.close()
		}
	}()
	if n.identity, err = loadIdentity(n.disk, &n.cfg); err != nil {
		return err
	}
	if n.roster, err = loadRoster(n.disk, &n.cfg, n.identity.get().Founders); err != nil {
		return err
	}
	if n.stores, err = n.disk.open(n.cfg.LogStore, n); err != nil {
		return err
	}
	if err = n.checkStores(); err != nil {
		return errors.Join(err, n.stores.close())
	}
	n.watchStores()
	return nil
}

func (n *Node) releaseDisk() error {
	n.disk.close()
	return nil
}

func (n *Node) openNetwork() (err error) {
	n.port, err = openPort(n)
	if err == nil && n.cfg.RaftAdvertise == "" {
		n.cfg.RaftAdvertise = n.port.listener.Addr().String()
	}
	return err
}

// watchStores puts the watch around raft's stores.
func (n *Node) watchStores() {
	s := n.stores
	s.logs = &watchedLog{LogStore: s.logs, watch: n.watch, path: n.disk.path(logPath(n.cfg.LogStore)), hook: n.cfg.testFault}
	s.stable = &watchedStable{StableStore: s.stable, watch: n.watch, path: n.disk.path(stableFile)}
	s.snapshots = &watchedSnapshots{snapshotStore: s.snapshots, watch: n.watch, path: n.disk.path(snapshotDir), taken: func() { n.stats.Snapshots.Add(1) }}
}

func logPath(kind string) string {
	if kind == LogStoreBolt {
		return boltLogFile
	}
	return walDir
}

// checkStores makes sure that snapshot and log together are a whole history, and
// that none of what this directory once had is gone. It never lets a node begin
// as if it were new.
func (n *Node) checkStores() error {
	s, id := n.stores, n.identity.get()
	broken, err := s.snapshots.check()
	if err != nil {
		return err
	}
	metas, err := s.snapshots.List()
	if err != nil {
		return err
	}
	var snap uint64
	if len(metas) > 0 {
		snap = metas[0].Index
	}
	first, err1 := s.logs.FirstIndex()
	last, err2 := s.logs.LastIndex()
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("log %s: %w", n.disk.path(logPath(n.cfg.LogStore)), err)
	}
	lost := ""
	if len(broken) > 0 {
		lost = fmt.Sprintf("; the snapshot %s is corrupt", broken[0])
	}
	term, err := s.stable.GetUint64([]byte("CurrentTerm"))
	if err != nil && err.Error() != "not found" {
		return fmt.Errorf("%s: %w", n.disk.path(stableFile), err)
	}
	switch {
	case last == 0 && snap == 0 && (id.Phase == phaseBorn || len(broken) > 0):
		return fmt.Errorf("%s: this node's log and snapshots are gone%s; %s", n.disk.path(""), lost, joinAnew)
	case s.came != nil && s.came() > max(last, snap):
		return fmt.Errorf("%s: log and snapshots end at entry %d, and had come to entry %d: what is between is gone%s; %s",
			n.disk.path(logPath(n.cfg.LogStore)), max(last, snap), s.came(), lost, joinAnew)
	case last > 0 && first > snap+1:
		return fmt.Errorf("%s: the log begins at entry %d and the newest whole snapshot ends at %d: what is between is gone%s; %s",
			n.disk.path(""), first, snap, lost, joinAnew)
	case (last > 0 || snap > 0) && term == 0:
		return fmt.Errorf("%s is gone or empty, and with it whom this node voted for; %s", n.disk.path(stableFile), joinAnew)
	case last > 0 && last < snap:
		// A crash came between the installation of a snapshot and the end of the log
		// that it replaces; raft would append behind it with a gap.
		return s.logs.DeleteRange(first, last)
	case s.verify != nil:
		if err := s.verify(first, last, snap); err != nil {
			return fmt.Errorf("%w%s; %s", err, lost, joinAnew)
		}
	}
	return nil
}

// hasHistory says whether there is a log or a snapshot. A term alone is none: a
// crash may have come between it and the first entry.
func (n *Node) hasHistory() (bool, error) {
	last, err := n.stores.logs.LastIndex()
	if err != nil || last > 0 {
		return last > 0, err
	}
	metas, err := n.stores.snapshots.List()
	return len(metas) > 0, err
}

// begin waits until the node has a cluster, starts raft and all that goes with it.
func (n *Node) begin() {
	history, err := n.hasHistory()
	if err != nil {
		n.fatal(err)
		return
	}
	if history || n.identity.get().Phase == phaseJoined {
		n.tellIgnored()
	} else {
		n.restoring.Store(false) // nothing to replay: commands are told that there is no leader
		if !n.enterCluster() {
			return
		}
	}
	err = n.startRaft()
	n.restoring.Store(false)
	if err != nil {
		select {
		case <-n.stop:
		default:
			n.fatal(err)
		}
		return
	}
	n.spawn(n.watchRole)
	n.spawn(n.runLinks)
	n.spawn(n.sendHeartbeats)
	n.spawn(n.openOrigins)
	n.spawn(n.takeSnapshots)
	poke(n.roleDue)
	poke(n.openDue)
}

// tellIgnored says which settings for a first start mean nothing any more.
func (n *Node) tellIgnored() {
	id := n.identity.get()
	if n.cfg.Join != "" {
		n.log.Info("--join is ignored: this directory belongs to a cluster", "cluster", id.Cluster)
	}
	members := n.roster.all()
	for _, p := range n.cfg.Cluster {
		if _, ok := members[p.ID]; !ok && len(members) > 0 {
			n.log.Warn("the --cluster line names a node that is no member; the recorded membership decides",
				"named", p.ID, "cluster", id.Cluster)
		}
	}
}

// fatal ends the node: what it says is logged and told to Config.Fatal, once.
func (n *Node) fatal(err error) {
	select {
	case <-n.stop:
		return // Close is on its way and closes files under whoever still writes
	default:
	}
	if !n.failed.CompareAndSwap(nil, &err) {
		return
	}
	n.log.Error("the node can't go on", "error", err)
	if n.cfg.Fatal != nil {
		n.cfg.Fatal(err)
	}
}

// isClosed says whether the node has begun to close or has failed.
func (n *Node) isClosed() bool {
	select {
	case <-n.stop:
		return true
	default:
		return n.failed.Load() != nil
	}
}

// sayOften logs a warning that may come often, once in ten seconds.
func (n *Node) sayOften(text string, args ...any) {
	if !n.repeats.again(text, 10*time.Second) {
		n.log.Warn(text, args...)
	}
}

// complain logs what an entry reported about itself.
func (n *Node) complain(index uint64, res *fsm.Result) {
	for _, fault := range res.Faults {
		n.stats.Faults.Add(1)
		n.log.Error("a command ended in a bug of Redfence and was undone; please report it", "index", index, "fault", fault)
	}
	gap := time.Duration(res.WallGap) * time.Microsecond
	if gap.Abs() < wallGapLogged || n.serving.Load() == nil || n.repeats.again("wall gap", wallGapLogEvery) {
		return
	}
	if gap > 0 {
		n.log.Warn("this node's clock is ahead of the cluster's wall time: the cluster was down or without a leader for about so long, "+
			"or a clock was set; no lease ends early by it; TIME and EXPIREAT catch up at 1 %, or at once while no key exists", "by", gap)
		return
	}
	n.log.Warn("this node's clock is behind the cluster's wall time, which never goes back: a node's clock was set; "+
		"no lease ends early by it; TIME and EXPIREAT wait for the clock", "by", -gap)
}

// Close stops the node. It does not hand leadership over; Handover does.
func (n *Node) Close() error {
	var err error
	n.closing.Do(func() {
		if t := n.serving.Load(); t != nil {
			t.end()
		}
		close(n.stop)
		n.die()
		n.port.close()
		if r := n.raft.Load(); r != nil {
			err = r.Shutdown().Error()
		}
		n.running.Wait()
		err = errors.Join(err, n.stores.close())
		n.disk.close()
	})
	return err
}

// Handover gives leadership to the member that has most of the log, and returns
// when this node does not lead any more. It does nothing when the node doesn't
// lead or is alone.
func (n *Node) Handover(ctx context.Context) error {
	r := n.raft.Load()
	if r == nil || r.State() != raft.Leader {
		return nil
	}
	if _, others := n.voters(); len(others) == 0 {
		return nil
	}
	if t := n.serving.Load(); t != nil && n.machine.deadline.Load() != noDeadline {
		// One last checkpoint, so that the next leader's clock begins where this one's ends.
		if _, err := t.order(fsm.Entry{Kind: fsm.Batches}); err != nil && !errors.Is(err, errTermOver) {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, handoverTimeout)
	defer cancel()
	for r.State() == raft.Leader {
		done := make(chan error, 1)
		go func() { done <- r.LeadershipTransfer().Error() }()
		select {
		case err := <-done:
			if err != nil && !n.repeats.again("handover failed", handoverTimeout) {
				n.log.Info("handover failed, trying again", "error", err)
			}
		case <-ctx.Done():
			return fmt.Errorf("handover: %w", ctx.Err())
		}
		select {
		case <-time.After(readRetryWait):
		case <-ctx.Done():
		}
		if ctx.Err() != nil && r.State() == raft.Leader {
			return fmt.Errorf("handover: %w", ctx.Err())
		}
	}
	return nil
}

// starved is called when a leader has lost more than half of its time.
func (n *Node) starved() {
	if n.serving.Load() == nil {
		return
	}
	n.log.Warn("this node was stopped or starved for more than half of the last seconds: it hands leadership over")
	n.spawn(func() {
		if err := n.Handover(context.Background()); err != nil {
			n.log.Warn("handover failed", "error", err)
		}
	})
}
