package replica

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
)

// council is what a leader still has to do about the members.
type council struct {
	mu     sync.Mutex
	news   map[string]fsm.Member // told by members and not yet compared with the record
	due    chan struct{}
	begin  chan struct{} // closed when a birth may begin
	began  bool
	admits chan struct{} // of capacity 1: one admission at a time
}

func newCouncil() *council {
	return &council{
		news: map[string]fsm.Member{}, due: make(chan struct{}, 1),
		begin: make(chan struct{}), admits: make(chan struct{}, 1),
	}
}

func (c *council) letBegin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.began {
		c.began = true
		close(c.begin)
	}
}

// heard takes what a member told about itself.
func (n *Node) heard(m fsm.Member) {
	n.council.mu.Lock()
	n.council.news[m.Node] = m
	n.council.mu.Unlock()
	poke(n.council.due)
}

func (c *council) takeNews() []fsm.Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []fsm.Member
	for _, node := range sortedKeys(c.news) {
		out = append(out, c.news[node])
	}
	clear(c.news)
	return out
}

// tend does a leader's duties towards the members while its term lasts: what a
// new cluster needs, records of where they serve, votes for those that have caught up.
func (n *Node) tend(t *term) {
	n.heard(n.ownRecord())
	for {
		err := n.tendOnce(t)
		if err != nil && !errors.Is(err, errTermOver) {
			n.log.Info("membership duties: trying again", "error", err)
		}
		var again <-chan time.Time
		if err != nil || n.hasLearners() {
			again = time.After(memberTick)
		}
		select {
		case <-t.over:
			return
		case <-n.council.due:
		case <-again:
		}
	}
}

func (n *Node) tendOnce(t *term) error {
	if err := n.finishBirth(t); err != nil {
		return err
	}
	news := n.council.takeNews()
	for i := range news {
		if err := n.recordIfNew(t, &news[i]); err != nil {
			n.heard(news[i])
			return err
		}
	}
	return n.promote(t)
}

// finishBirth puts into the log what the founders agreed on.
func (n *Node) finishBirth(t *term) error {
	var born bool
	var recorded []fsm.Member
	n.machine.look(func(s *fsm.State) { born, recorded = s.Cluster().Cluster != "", s.Members() })
	id := n.identity.get()
	if !born {
		birth := fsm.BirthRecord{Cluster: id.Cluster, Seats: id.Seats}
		if _, err := t.order(fsm.Entry{Kind: fsm.Birth, Birth: birth}); err != nil {
			return err
		}
	}
	for _, node := range sortedKeys(id.Founders) {
		k := id.Founders[node]
		known := slices.ContainsFunc(recorded, func(m fsm.Member) bool { return m.Node == node })
		if known || node == id.Node || !n.isMember(node) || n.roster.judge(node, k.Disk) != sameDisk {
			continue
		}
		m := fsm.Member{Node: node, Disk: k.Disk, Raft: k.Raft}
		if _, err := t.order(fsm.Entry{Kind: fsm.RecordMember, Member: m}); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) isMember(node string) bool {
	is := false
	n.machine.look(func(s *fsm.State) { ship := s.Membership(); is = ship.Has(node) })
	return is
}

// recordIfNew records what a member told, if the machine knows it otherwise.
func (n *Node) recordIfNew(t *term, m *fsm.Member) error {
	if !n.isMember(m.Node) {
		return nil
	}
	same := false
	n.machine.look(func(s *fsm.State) {
		for _, r := range s.Members() {
			same = same || r.Node == m.Node && sameRecord(&r, m)
		}
	})
	if same {
		return nil
	}
	if m.Node != n.cfg.NodeID && n.roster.judge(m.Node, m.Disk) != sameDisk {
		return nil // it has been replaced meanwhile
	}
	_, err := t.order(fsm.Entry{Kind: fsm.RecordMember, Member: *m})
	return err
}

func sameRecord(a, b *fsm.Member) bool {
	return a.Disk == b.Disk && a.Raft == b.Raft && a.Client == b.Client && a.HTTP == b.HTTP &&
		a.Version == b.Version && slices.Equal(a.Seats, b.Seats)
}

// hasLearners says whether a member has no vote yet.
func (n *Node) hasLearners() bool {
	has := false
	n.machine.look(func(s *fsm.State) { has = len(s.Membership().Others) > 0 })
	return has
}

// promote gives a vote to each member whose log has caught up.
func (n *Node) promote(t *term) error {
	for _, s := range t.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			continue
		}
		p, ok := n.progress.of(string(s.ID), t.number)
		if !ok || time.Since(p.answered) > aliveWithin || p.index+caughtUpWithin < t.raft.LastIndex() {
			continue
		}
		if err := t.raft.AddVoter(s.ID, s.Address, 0, controlTimeout).Error(); err != nil {
			return fmt.Errorf("vote for %s: %w", s.ID, err)
		}
		n.log.Info("a member has caught up and has a vote now", "member", s.ID)
	}
	return nil
}

// admit lets a node without data in. If its id is a member's with another disk,
// that member has lost its log: it must not vote as if it remembered, so its
// vote is taken away before the new disk is known to anybody.
func (n *Node) admit(q *question) error {
	t, m := n.serving.Load(), q.Member
	if t == nil {
		return errors.New("it does not lead")
	}
	if id := n.identity.get(); q.Cluster != "" && q.Cluster != id.Cluster {
		return fmt.Errorf("it belongs to cluster %s, not to %s", id.Cluster, q.Cluster)
	}
	if m.Node == "" || m.Disk == "" || m.Node == n.cfg.NodeID {
		return fmt.Errorf("node id %q can't join: it is this node's, or empty", m.Node)
	}
	select {
	case n.council.admits <- struct{}{}:
		defer func() { <-n.council.admits }()
	default:
		return errors.New("another node is being let in")
	}
	return n.letIn(t, &m)
}

func (n *Node) letIn(t *term, m *fsm.Member) error {
	id := raft.ServerID(m.Node)
	suffrage, isIn := n.suffrage(t, id)
	same := n.roster.judge(m.Node, m.Disk) == sameDisk
	if isIn && same {
		return nil // it asks again
	}
	switch {
	case isIn && n.alive(t, m.Node):
		return fmt.Errorf("a node %s with another disk is alive: give this one another --node-id", m.Node)
	case isIn && time.Since(t.created) < aliveWithin:
		return fmt.Errorf("its term is too young to know whether another node %s is alive", m.Node)
	}
	if isIn && suffrage == raft.Voter {
		if _, others := n.voters(); len(others) == 0 {
			return errors.New("the only voter can't be replaced")
		}
		n.log.Warn("a member came back without its data: it has no vote until it has caught up", "member", m.Node)
		if err := t.raft.DemoteVoter(id, 0, controlTimeout).Error(); err != nil {
			return fmt.Errorf("take the vote of %s: %w", m.Node, err)
		}
	}
	if _, err := t.order(fsm.Entry{Kind: fsm.RecordMember, Member: *m}); err != nil {
		return fmt.Errorf("record %s: %w", m.Node, err)
	}
	if !isIn {
		if err := t.raft.AddNonvoter(id, raft.ServerAddress(id), 0, controlTimeout).Error(); err != nil {
			return fmt.Errorf("let %s in: %w", m.Node, err)
		}
	}
	// Another change of the membership may have made the machine forget the record.
	if err := n.recordIfNew(t, m); err != nil {
		return fmt.Errorf("record %s: %w", m.Node, err)
	}
	n.log.Info("a node is let in, without a vote until it has caught up", "member", m.Node)
	poke(n.council.due)
	return nil
}

func (n *Node) suffrage(t *term, id raft.ServerID) (raft.ServerSuffrage, bool) {
	for _, s := range t.raft.GetConfiguration().Configuration().Servers {
		if s.ID == id {
			return s.Suffrage, true
		}
	}
	return 0, false
}

// alive says whether a member with the recorded disk has been heard of lately.
func (n *Node) alive(t *term, node string) bool {
	p, ok := n.progress.of(node, t.number)
	return ok && time.Since(p.answered) < aliveWithin
}

// membersChanged takes over what the machine knows of the members.
func (n *Node) membersChanged() {
	var members []fsm.Member
	var ship fsm.Membership
	var birth fsm.BirthRecord
	n.machine.look(func(s *fsm.State) { members, ship, birth = s.Members(), s.Membership(), s.Cluster() })
	changed, err := n.roster.adopt(members, ship, n.machine.applied.Load())
	if err != nil {
		n.fatal(fmt.Errorf("disk: %s: %w", n.disk.path(rosterFile), err))
		return
	}
	n.port.cut(changed)
	if err := n.noteBorn(); err != nil {
		n.fatal(err)
	}
	if seats := birth.Seats; birth.Cluster != "" && seats != n.identity.get().Seats {
		if err := n.identity.change(func(id *identity) { id.Seats = seats }); err != nil {
			n.fatal(err)
		}
	}
	poke(n.council.due)
}

// restored is called when the machine was replaced by a snapshot.
func (n *Node) restored(index uint64) {
	n.stats.SnapshotsLoaded.Add(1)
	n.feed.skipTo(index)
	n.waitsRestored()
	n.membersChanged()
	if n.raft.Load() != nil {
		n.cfg.OnMissedEvents()
	}
}
