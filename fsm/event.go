package fsm

// EventKind says what happened.
type EventKind uint8

const (
	// Published: a message for the subscribers of Channel.
	Published EventKind = iota + 1
	// KeyChanged: a keyspace event Name ("set", "del", "expired", ...) of Key.
	KeyChanged
	// Flushed: all keys of a database went at once, without an event for each.
	// Made like KeyChanged only while somebody asks for those.
	Flushed
	// QuorumAsked: on the shared port, somebody asked one node for a lock that
	// another node gave to the same value: Name is who asked, Payload the node asked
	// now, Key the lock. A client that lists several nodes as masters does that.
	QuorumAsked
	// LockChanged: something happened to a name, whichever command made it a lock, on
	// the shared port or by a majority of the seats: Name is what ("grant", "release", "expire", "break", "ask", "free",
	// "flush" of all names), Key the lock, Owner and Token whose grant, Payload who
	// asked or broke it, through which Node.
	LockChanged
)

// lockClass is the class of the keyspace events "lock.grant" and so on, the one
// that Redis has for types of modules.
const lockClass = 'd'

// Event is something that subscribers are told about. Events are made alike on
// every replica, but they are not part of the state.
type Event struct {
	Kind    EventKind
	Space   uint8
	DB      uint8
	Class   byte   // of a KeyChanged: the letter of notify-keyspace-events (g, $, x, n, ...)
	Name    string // of a KeyChanged
	Key     string // or the Channel of a Published
	Payload string
	Owner   string // of a LockChanged, at most OwnerShown bytes of it
	Token   uint64 // of a LockChanged
	Node    string // of a LockChanged: where an ask or a break came from
	Place   Place  // of a LockChanged
}

// Place is where a LockChanged stands in the log: the index of its entry, and its
// number among the entry's. It is the same on every node, and rises.
type Place struct {
	Index  uint64
	Number uint64
}

// Before says whether p comes before q.
func (p Place) Before(q Place) bool {
	return p.Index < q.Index || p.Index == q.Index && p.Number < q.Number
}

// SetPlaces gives the lock events of one entry their places. An event that is
// sent to another node is numbered there again.
func SetPlaces(events []Event, index uint64) {
	n := uint64(0)
	for i := range events {
		if events[i].Kind == LockChanged {
			n++
			events[i].Place = Place{index, n}
		}
	}
}
