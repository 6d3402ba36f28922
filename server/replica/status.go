package replica

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

var errRepliesFull = reply.Err("TRYAGAIN replies wait for clients to read them: not executed")

// Roles of a node.
const (
	RoleStarting  = "starting" // waits to be born or let in
	RoleFollower  = "follower"
	RoleCandidate = "candidate"
	RoleLeader    = "leader"
)

// Status is what a node knows of itself and its cluster, without asking anybody.
type Status struct {
	Node    string
	Role    string
	Leader  string // node id; "" if none is known
	Term    uint64
	Cluster string // id
	Version string
	Uptime  time.Duration

	LastIndex    uint64 // in the log
	CommitIndex  uint64
	AppliedIndex uint64

	Members []MemberStatus // by node id

	Seats                uint8
	Tokens               uint64      // the last fencing token given
	Keys                 []int       // records of each keyspace, all databases; 0 is the shared port's
	Counts               []fsm.Count // what INFO and metrics show of the machine
	Memory               int64       // bytes of records as fsm counts them
	Waiting              int         // commands of all nodes that wait
	Scripts, ScriptBytes int         // in the script cache, and what they take there
	LeaseNow             int64       // the machine's time in microseconds
	LostTime             time.Duration
	DiskBusy             time.Duration // how long the longest running write has run
}

// MemberStatus is what is known of one member.
type MemberStatus struct {
	Node    string
	Voter   bool
	Leader  bool
	Raft    string
	Client  string
	Seats   []string
	HTTP    string
	Version string
	// Lag is how many entries the member's log is behind, and Heard how long ago it
	// answered: only a leader knows, elsewhere both are -1.
	Lag   int64
	Heard time.Duration
}

// Status is what this node knows. It blocks only for other readers of the machine.
func (n *Node) Status() Status {
	id := n.identity.get()
	s := Status{
		Node: id.Node, Role: RoleStarting, Cluster: id.Cluster, Seats: id.Seats, Version: n.cfg.Version,
		Uptime: time.Since(n.started), LostTime: n.clock.lostTime(), AppliedIndex: n.machine.applied.Load(),
	}
	_, s.DiskBusy = n.watch.oldest()
	var records []fsm.Member
	n.machine.look(func(m *fsm.State) {
		records = m.Members()
		s.Tokens, s.Memory, s.LeaseNow = m.Tokens(), m.Memory(), m.Now()
		s.Counts, s.Waiting = m.Counts(), m.Waiting()
		s.Scripts, s.ScriptBytes = m.Scripts()
		for space := range m.Cluster().Seats + 1 {
			s.Keys = append(s.Keys, m.Keys(space))
		}
	})
	r := n.raft.Load()
	if r == nil {
		return s
	}
	s.Role = strings.ToLower(r.State().String())
	s.Leader, s.Term = n.leader(), r.CurrentTerm()
	s.LastIndex, s.CommitIndex = r.LastIndex(), r.CommitIndex()
	for _, server := range r.GetConfiguration().Configuration().Servers {
		s.Members = append(s.Members, n.memberStatus(server, records, &s))
	}
	slices.SortFunc(s.Members, func(a, b MemberStatus) int { return strings.Compare(a.Node, b.Node) })
	return s
}

func (n *Node) memberStatus(server raft.Server, records []fsm.Member, s *Status) MemberStatus {
	m := MemberStatus{Node: string(server.ID), Voter: server.Suffrage == raft.Voter, Lag: -1, Heard: -1}
	m.Leader = m.Node == s.Leader
	if a := n.roster.addresses(m.Node); len(a) > 0 {
		m.Raft = a[0]
	}
	for i := range records {
		if rec := &records[i]; rec.Node == m.Node {
			m.Raft, m.Client, m.Seats, m.HTTP, m.Version = rec.Raft, rec.Client, rec.Seats, rec.HTTP, rec.Version
		}
	}
	switch {
	case m.Node == n.cfg.NodeID:
		m.Lag, m.Heard = 0, 0
		if s.CommitIndex > s.AppliedIndex {
			m.Lag = int64(s.CommitIndex - s.AppliedIndex)
		}
	case s.Role == RoleLeader:
		if p, ok := n.progress.of(m.Node, s.Term); ok {
			m.Lag, m.Heard = max(0, int64(s.LastIndex)-int64(p.index)), time.Since(p.answered)
		}
	}
	return m
}

// hasLeader says whether commands go anywhere at present.
func (n *Node) hasLeader() bool { return n.origin.hasTarget() }

// Ready is nil if the node can serve within a second, else it says why not.
func (n *Node) Ready() error {
	if failed := n.failed.Load(); failed != nil {
		return *failed
	}
	what, busy := n.watch.oldest()
	switch {
	case n.isClosed():
		return ErrClosed
	case n.raft.Load() == nil:
		return errors.New("waits to be born or let into the cluster")
	case n.Loading():
		return errors.New("replays its log")
	case busy > diskWriteSlow:
		return fmt.Errorf("the disk is slow: %s has taken %v", what, busy.Round(time.Millisecond))
	case n.leader() == "":
		return errors.New("no leader")
	case !n.hasRoute():
		return errors.New("the leader does not serve yet, or can't be reached")
	}
	return nil
}

// Loading says whether the node is restoring a snapshot, or replaying its log
// under a leader that is known. Without a leader it is not loading but without one.
func (n *Node) Loading() bool {
	return n.restoring.Load() || !n.served.Load() && n.leader() != "" && !n.hasRoute()
}

// Stats are the node's counters.
func (n *Node) Stats() *Stats { return &n.stats }

// RaftAddr is where this node's raft port listens.
func (n *Node) RaftAddr() string { return n.port.listener.Addr().String() }

// SetKeyEvents says whether this node's subscribers want KeyChanged events.
func (n *Node) SetKeyEvents(on bool) {
	n.ownKeyEvents.Store(on)
	n.tuneKeyEvents()
	if l := n.follower.current(); l != nil {
		l.tellInfo()
	}
}

// SetListens says whether anybody on this node listens to events, as is taken for
// granted with Config.OnEvents. While nobody does, they come when this node's own
// machine has made them, up to 100 ms later, and may come behind the reply to the
// command that made them. It returns at once.
func (n *Node) SetListens(on bool) {
	if n.listens.Swap(on) == on {
		return
	}
	if l := n.follower.current(); l != nil {
		l.tellInfo()
	}
}

// Snapshot takes a snapshot now, for operators and tests.
func (n *Node) Snapshot() error {
	return n.snapshot()
}
