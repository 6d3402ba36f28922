package fsm

import (
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"github.com/redfence/redfence/fsm/script"
)

// State is the machine. It is not safe for concurrent use, but Read and the
// other methods that say so may run beside one another, never beside Apply.
//
// All that decides an answer is in it: two States that applied the same entries
// are alike byte for byte in their snapshots.
type State struct {
	applied   uint64 // index of the last entry
	clock     clock
	tokens    uint64 // the last fencing token given
	version   uint64 // the last change's number, for WATCH
	memory    int64
	cluster   BirthRecord
	databases []*database
	deadlines *btree.BTreeG[due]
	removed   []uint64 // by bucket: see versionOf
	sessions  sessions
	released  released
	holders   map[Client]*holder
	origins   map[string]*origin // by node
	byID      map[uint64]*origin
	members   map[string]*Member // by node
	voters    Membership
	scripts   scriptCache
	waiters   waiters

	// What one entry needs while it is applied.
	undo      []change
	events    []Event
	woken     []Woken
	faults    []string
	spent     int64 // steps and instructions of its commands so far
	replied   int   // bytes of their replies so far
	served    served
	seed      uint64
	memoryMax uint64
	engine    *script.Engine

	// KeyEvents asks for KeyChanged events. It concerns this node alone and no
	// answer depends on it.
	KeyEvents bool
	// ScriptLog receives redis.log lines, if not nil.
	ScriptLog func(level int, text string)
}

// New is a machine before its first entry.
func New() *State {
	s := &State{
		deadlines: btree.NewBTreeGOptions(dueBefore, btree.Options{NoLocks: true}),
		removed:   make([]uint64, WatchBuckets),
		sessions:  newSessions(),
		released:  newReleased(),
		holders:   map[Client]*holder{},
		origins:   map[string]*origin{},
		byID:      map[uint64]*origin{},
		members:   map[string]*Member{},
		engine:    script.New(),
	}
	s.scripts.init()
	s.waiters.init()
	s.addSpaces(0)
	return s
}

// addSpaces makes the keyspaces of the shared port and of n seats.
func (s *State) addSpaces(n int) {
	for i := len(s.databases); i < (n+1)*Databases; i++ {
		s.databases = append(s.databases, newDatabase(i))
	}
}

// Membership is raft's configuration as the machine was told of it.
type Membership struct {
	Index  uint64
	Voters []string // node ids, sorted
	Others []string // non-voters, sorted
}

// Has says whether a node is a member, with a vote or without.
func (m *Membership) Has(node string) bool {
	return slices.Contains(m.Voters, node) || slices.Contains(m.Others, node)
}

// SetMembership records a configuration entry of the log. Like Apply it is
// called in log order.
func (s *State) SetMembership(m Membership) {
	s.voters = m
	for node := range s.members {
		if !m.Has(node) {
			s.forget(node)
		}
	}
}

// forget drops what is known of a node that is no member any more. Map order
// doesn't matter to what is left.
func (s *State) forget(node string) {
	delete(s.members, node)
	if o := s.origins[node]; o != nil {
		s.loseWaits(o)
		delete(s.byID, o.id)
		delete(s.origins, node)
	}
}

// Applied is the index of the last entry applied.
func (s *State) Applied() uint64 { return s.applied }

// Now is the lease clock in microseconds.
func (s *State) Now() int64 { return s.clock.now }

// Wall is the machine's wall clock in microseconds since 1970.
func (s *State) Wall() int64 { return s.clock.wall }

// Tokens is the last fencing token given.
func (s *State) Tokens() uint64 { return s.tokens }

// Memory is the bytes that records, sessions and kept releases take, as the
// memory limit counts them.
func (s *State) Memory() int64 { return s.memory }

// Scripts counts the scripts in the cache, and the bytes that they take there.
func (s *State) Scripts() (count, bytes int) { return len(s.scripts.bySHA), s.scripts.bytes }

// Cluster is what the cluster was born with; its id is empty before birth.
func (s *State) Cluster() BirthRecord { return s.cluster }

// Membership is the last configuration that the machine was told of.
func (s *State) Membership() Membership { return s.voters }

// Members lists what is known of the members, by node id.
func (s *State) Members() []Member {
	out := make([]Member, 0, len(s.members))
	for _, m := range s.members {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Member) int {
		if a.Node < b.Node {
			return -1
		}
		return 1
	})
	return out
}

// NextDeadline is the lease clock's time at which an entry is due: when the next
// lease ends, or at once if somebody is left to be served. It is false if nothing is.
func (s *State) NextDeadline() (int64, bool) {
	if s.waiters.left() {
		return s.clock.now, true
	}
	d, ok := s.deadlines.Min()
	if x, opened := s.sessions.ends.Min(); opened && (!ok || x.deadline < d.deadline) {
		return x.deadline, true
	}
	return d.deadline, ok
}

// Keys counts the records of a keyspace, all databases together.
func (s *State) Keys(space uint8) int {
	n := 0
	for num := range uint8(Databases) {
		if d := s.db(space, num); d != nil {
			n += d.keys.Len()
		}
	}
	return n
}

// empty says whether no keyspace holds anything, and no session is open.
func (s *State) empty() bool { return len(s.holders) == 0 }

// retainHolder and releaseHolder count the records that a client made, so that
// what is known of it goes when the last of them goes. They count by the
// client, not by the pointer: an undo can bring back a record whose holder was
// dropped and made anew meanwhile.
func (s *State) retainHolder(h *holder) {
	shared := s.holders[h.Client]
	if shared == nil {
		shared = h
		s.holders[h.Client] = h
	}
	shared.records++
}

func (s *State) releaseHolder(h *holder) {
	shared := s.holders[h.Client]
	shared.records--
	if shared.records == 0 {
		delete(s.holders, h.Client)
	}
}

// holderOf finds the shared holder for a client. It counts nothing yet.
func (s *State) holderOf(c *Client) *holder {
	if h := s.holders[*c]; h != nil {
		return h
	}
	return &holder{Client: cloneClient(c)}
}

func cloneClient(c *Client) Client {
	return Client{
		Name: strings.Clone(c.Name), Addr: strings.Clone(c.Addr),
		Library: strings.Clone(c.Library), Node: strings.Clone(c.Node),
	}
}
