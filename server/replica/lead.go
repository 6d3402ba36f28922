package replica

import (
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
)

func (n *Node) raftLog(name string) hclog.Logger {
	return newRaftLogger(n.log, n.repeats, name, n.stop)
}

// startRaft starts raft on what the stores hold. It returns when the newest
// snapshot is restored; the log is replayed once a leader says what is committed.
func (n *Node) startRaft() error {
	n.setRaftMetrics()
	network := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Logger: n.raftLog("transport"), Stream: n.port, MaxPool: 4, Timeout: rpcTimeout,
		MsgpackUseNewTimeFormat: true,
	})
	trans := &watchedTransport{NetworkTransport: network, gate: n.gate, progress: n.progress, log: n.stores.logs, place: n.place}
	conf := n.raftConfig()
	s := n.stores
	history, err := n.hasHistory()
	if err != nil {
		return err
	}
	if id := n.identity.get(); !history && id.Phase == phaseChosen {
		if err := n.bootstrap(founding(id.Founders)); err != nil {
			return err
		}
		history = true
	}
	if history {
		if err := n.noteBorn(); err != nil {
			return err
		}
	}
	if n.machine.replay.until, err = s.logs.LastIndex(); err != nil {
		return err
	}
	recent, err := newRecentLog(s.logs)
	if err != nil {
		return err
	}
	r, err := raft.NewRaft(conf, n.machine, &quietLog{recent, n.stop}, &quietStable{s.stable, n.stop}, s.snapshots, trans)
	if err != nil {
		network.Close()
		return err
	}
	n.raft.Store(r)
	n.port.raftBegins()
	select {
	case <-n.stop: // Close may have missed it
		r.Shutdown()
	default:
	}
	return nil
}

// place is the index of the log's last entry and the newest term that raft knows, 0
// before it has begun.
func (n *Node) place() (last, term uint64) {
	if r := n.raft.Load(); r != nil {
		return r.LastIndex(), r.CurrentTerm()
	}
	return 0, 0
}

// bootstrap writes what raft begins with, as raft.BootstrapCluster does, which
// would refuse after a crash between its two steps.
func (n *Node) bootstrap(c raft.Configuration) error {
	if err := n.stores.stable.SetUint64([]byte("CurrentTerm"), 1); err != nil {
		return err
	}
	return n.stores.logs.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(c)})
}

func (n *Node) raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(n.cfg.NodeID)
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = n.cfg.Heartbeat, n.cfg.Heartbeat, n.cfg.Heartbeat
	c.CommitTimeout = commitTimeout
	c.MaxAppendEntries = entriesPerMessage
	c.TrailingLogs = trailingMax // until the first snapshot says better
	// Snapshots are asked for by bytes (takeSnapshots): raft counts entries.
	c.SnapshotThreshold, c.SnapshotInterval = 1<<62, 24*time.Hour
	c.ShutdownOnRemove = false
	c.NoLegacyTelemetry = true
	c.Logger = n.raftLog("raft")
	return c
}

// founding is the configuration that all founders begin with. Raft's name for a
// node's address is its id: port.dial finds the place.
func founding(founders map[string]known) raft.Configuration {
	var c raft.Configuration
	for _, node := range sortedKeys(founders) {
		c.Servers = append(c.Servers, raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(node), Address: raft.ServerAddress(node)})
	}
	return c
}

// watchRole begins and ends terms, and follows who leads, until stop.
func (n *Node) watchRole() {
	r := n.raft.Load()
	changes := make(chan raft.Observation, 1)
	observer := raft.NewObserver(changes, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.LeaderObservation, raft.RaftState:
			poke(n.roleDue)
		}
		return false
	})
	r.RegisterObserver(observer)
	defer r.DeregisterObserver(observer)
	var current *term
	for {
		select {
		case <-n.stop:
			if current != nil {
				current.end()
			}
			return
		case <-r.LeaderCh():
		case <-n.roleDue:
		}
		current = n.settleRole(r, current)
	}
}

// settleRole makes this node's role what raft says that it is.
func (n *Node) settleRole(r *raft.Raft, current *term) *term {
	leads, number := r.State() == raft.Leader, r.CurrentTerm()
	if current != nil && (!leads || current.number != number) {
		current.end()
		n.stopServing(current)
		current = nil
		n.beatEvery(r, n.cfg.Heartbeat)
	}
	if leads {
		n.follower.follow("")
		if current == nil {
			n.beatEvery(r, time.Duration(raftsTimeout*float64(n.cfg.Heartbeat)))
			current = newTerm(n, r, number)
			n.spawn(current.run)
			n.passOn()
		}
		return current
	}
	if _, leader := r.LeaderWithID(); leader != "" && string(leader) != n.cfg.NodeID {
		n.follower.follow(string(leader))
	}
	return current
}

// beatEvery sets raft's heartbeat timeout: the time after which a follower asks for
// votes, and ten times the pause between a leader's heartbeats.
func (n *Node) beatEvery(r *raft.Raft, timeout time.Duration) {
	err := n.tune(r, func(c *raft.ReloadableConfig) { c.HeartbeatTimeout, c.ElectionTimeout = timeout, timeout })
	if err != nil {
		n.log.Error("raft refuses a heartbeat", "timeout", timeout, "error", err)
	}
}

// tune changes a part of raft's configuration and keeps the rest, whoever else does.
func (n *Node) tune(r *raft.Raft, change func(*raft.ReloadableConfig)) error {
	n.tuning.Lock()
	defer n.tuning.Unlock()
	conf := r.ReloadableConfig()
	change(&conf)
	return r.ReloadConfig(conf)
}

// serve lets commands and reads in: the term's first entry is applied here.
func (n *Node) serve(t *term) {
	n.role.Lock()
	defer n.role.Unlock()
	if t.hasEnded() {
		return // raft took the leadership away while the first entry was on its way
	}
	n.gate.open(t.number)
	n.presence.begin(n.clock.counted())
	n.serving.Store(t)
	n.served.Store(true)
	n.log.Info("this node leads", "term", t.number)
	n.origin.aim(t, func() { poke(t.wake) })
	for _, g := range n.guests.list() {
		g.announce(t)
	}
	poke(n.openDue)
	n.spawn(func() { n.tend(t) })
	n.spawn(func() { n.endSilentWaits(t) })
}

// stopServing undoes serve.
func (n *Node) stopServing(t *term) {
	n.role.Lock()
	defer n.role.Unlock()
	if !n.serving.CompareAndSwap(t, nil) {
		return
	}
	n.gate.close()
	n.pushes.forget()
	n.origin.unaim(t)
	n.log.Info("this node leads no more", "term", t.number)
	for _, g := range n.guests.list() {
		g.out.send(frameStopped, nil)
	}
}

// openOrigins gives the origin an id whenever it has none, under a number of
// this disk that was never used.
func (n *Node) openOrigins() {
	for {
		var retry <-chan time.Time
		if !n.origin.isOpen() && !n.openOrigin() {
			retry = time.After(linkRetryMax)
			if !n.hasRoute() {
				retry = nil // whoever begins to serve pokes openDue
			}
		}
		select {
		case <-n.stop:
			return
		case <-n.openDue:
		case <-retry:
		}
	}
}

func (n *Node) hasRoute() bool {
	l := n.follower.current()
	return n.serving.Load() != nil || l != nil && l.serving.Load()
}

func (n *Node) openOrigin() bool {
	t, l := n.serving.Load(), n.follower.current()
	if t == nil && (l == nil || !l.serving.Load()) {
		return false
	}
	boot, err := n.identity.nextBoot()
	if err != nil {
		n.fatal(err)
		return false
	}
	disk, id := n.identity.get().Disk, uint64(0)
	if t == nil {
		id = l.open(disk, boot)
	} else if applied, err := t.order(fsm.Entry{Kind: fsm.OpenOrigin, Open: fsm.Open{Node: n.cfg.NodeID, Disk: disk, Boot: boot}}); err == nil {
		id = applied.origin
	}
	n.origin.opened(id)
	return id != 0
}

// takeSnapshots takes a snapshot whenever enough log was applied since the last one.
func (n *Node) takeSnapshots() {
	for {
		var retry <-chan time.Time
		select {
		case <-n.stop:
			return
		case <-n.snapshotDue:
		}
		if err := n.snapshot(); err != nil {
			// A change of the membership is on its way, or nothing is new: later.
			n.log.Debug("no snapshot now", "error", err)
			retry = time.After(snapshotRetryWait)
		}
		if retry != nil {
			select {
			case <-n.stop:
				return
			case <-retry:
				poke(n.snapshotDue)
			}
		}
	}
}

// snapshot takes a snapshot now. What stays in the log behind it is bounded in
// bytes by way of what entries have weighed lately, since raft counts entries.
func (n *Node) snapshot() error {
	r := n.raft.Load()
	if r == nil {
		return ErrNoLeader
	}
	trailing := min(max(uint64(n.cfg.SnapshotBytes/4)/n.machine.entryWeight(), trailingMin), trailingMax)
	if err := n.tune(r, func(c *raft.ReloadableConfig) { c.TrailingLogs = trailing }); err != nil {
		return err
	}
	return r.Snapshot().Error()
}
