package fsm

// EntryKind says what an entry is for. The numbers are part of the log's format.
type EntryKind uint8

const (
	// Batches runs commands. With none it is a checkpoint: it moves the clock
	// and ends what is due.
	Batches EntryKind = 1
	// TermStart is a new leader's first entry. It carries no stamp: the leader
	// starts its clock at the machine's once it has applied it.
	TermStart EntryKind = 2
	// OpenOrigin makes a node's boot an origin of batches.
	OpenOrigin EntryKind = 3
	// RecordMember notes what is known of a member: its disk and its addresses.
	RecordMember EntryKind = 4
	// Birth is a cluster's first entry: its id and its number of seats.
	Birth EntryKind = 5
	// LoseWaits ends all that waits for an origin whose node is out of touch with
	// the leader: who waits there may be gone, and nothing must be given to them.
	LoseWaits EntryKind = 6
)

// Stamp is a leader's time. A stamp whose term is not the entry's log term does
// not move the clock: a proposal stamped in one term can be appended in a later one.
type Stamp struct {
	Term uint64
	Now  int64 // microseconds on the lease clock
	Wall int64 // microseconds since 1970 on the leader's wall clock, for those who ask for it
}

// Entry is one entry of the log. What is not deterministic (time, randomness,
// settings of the leader) is settled in it by the leader.
type Entry struct {
	Kind  EntryKind
	Stamp Stamp
	// Seed feeds what scripts and RANDOMKEY draw.
	Seed uint64
	// MemoryMax is the leader's memory limit in bytes as State.Memory counts
	// them; 0 is none.
	MemoryMax uint64
	Batches   []Batch
	Open      Open
	Member    Member
	Birth     BirthRecord
	Lost      uint64 // of LoseWaits: the origin
}

// Open asks for an origin for one boot of a node.
type Open struct {
	Node string
	Disk string // the disk id that the node made with its data directory
	Boot uint64 // fsynced on that disk before use; rises with every start
}

// Member is what the cluster remembers of a node.
type Member struct {
	Node    string
	Disk    string
	Raft    string   // address
	Client  string   // address of the shared port
	Seats   []string // addresses of the seat ports
	HTTP    string
	Version string // of its binary
	Removed bool   // forget the node, its disk and its origins
}

// BirthRecord is what a cluster is born with.
type BirthRecord struct {
	Cluster string // id
	Seats   uint8
}
