package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// SharedSpace is the keyspace of the shared port; seat i has keyspace i.
const SharedSpace = 0

// Client says who sent a command, as far as the client told: shown with the
// lock that it took. Each text is cut to ClientTextMax before it enters the log.
type Client struct {
	Name    string // CLIENT SETNAME
	Addr    string // remote address
	Library string // CLIENT SETINFO LIB-NAME and LIB-VER, "name/version"
	Node    string // the node that read the command
}

// describe names a client for people: its name if it has one, its library, its
// host; not its port, which is another with each connection.
func (c *Client) describe() string {
	host := c.Addr
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	parts := make([]string, 0, 3)
	for _, p := range []string{c.Name, c.Library, host} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}

// Command is one command for the machine. Args[0] is its name in lower case.
// The strings of Args must not change while the command is in use.
type Command struct {
	Space  uint8  // SharedSpace or a seat
	DB     uint8  // 0 to Databases-1
	Client uint32 // index into the batch's Clients
	Args   []string
	// Ticket, when not 0, lets a blocking command wait: a number that its origin
	// gives once. The reply is then Waits, and later a Woken with the ticket.
	Ticket uint64
	// Exec, when not nil, makes this the EXEC of a MULTI: its commands run one
	// after the other in one step if no watched key changed. Args is then ["exec"].
	Exec *Exec
}

// Exec is what a MULTI queued.
type Exec struct {
	Watched  []Watched
	Commands []Queued // may be empty
}

// Queued is one command of a MULTI, with the database that was selected for it.
type Queued struct {
	DB   uint8
	Args []string
}

// Watched is a key with the version that WATCH answered for it.
type Watched struct {
	DB      uint8
	Key     string
	Version uint64
}

// Size is about how many bytes of a batch c takes.
func (c *Command) Size() int {
	n := 16 + argsSize(c.Args)
	if c.Exec != nil {
		for i := range c.Exec.Watched {
			n += 16 + len(c.Exec.Watched[i].Key)
		}
		for i := range c.Exec.Commands {
			n += 4 + argsSize(c.Exec.Commands[i].Args)
		}
	}
	return n
}

func argsSize(args []string) int {
	n := 0
	for _, a := range args {
		n += 5 + len(a)
	}
	return n
}

// Answer is what one command came to.
type Answer struct {
	Value reply.Value
	// Grant is the shortest lease in microseconds that the command granted under
	// a condition that forbids (NX), or 0. The node that writes the reply must not
	// answer a grant that has run out meanwhile (promise 2).
	Grant int64
	// Cost is how many script instructions the command spent, for admission.
	Cost int64
}

// Batch is what one origin proposes at once. An origin numbers its batches 1,
// 2, 3, ...; docs/safety.md has the argument for exactly once.
type Batch struct {
	Origin uint64 // as Open answered it
	Number uint64
	// Acked is the number up to which the origin has its replies: the machine
	// forgets those.
	Acked uint64
	// Cancel asks for the kept replies of Number, or else makes sure that it is
	// never executed. Clients and Commands are empty.
	Cancel bool
	// Settled are tickets that the origin is done with: it has their replies, or
	// nobody waits for those any more. Who still waits leaves the queue.
	Settled  []uint64
	Clients  []Client
	Commands []Command
}

// BatchResult is what became of a batch.
type BatchResult struct {
	Origin uint64
	Number uint64
	Status BatchStatus
	// Answers has one for each command, in order; nil unless Status is Done. It
	// is also nil for a cancelled number.
	Answers []Answer
}

// BatchStatus says whether a batch was executed.
type BatchStatus uint8

const (
	// Done: executed now or earlier, exactly once; Answers are true.
	Done BatchStatus = iota
	// Refused: not executed by this entry and nothing changed, because the number
	// is above the next one. A later entry may execute it.
	Refused
	// Closed: not executed by this entry and never will be, because the origin is
	// not open (any more). An earlier entry may have executed it.
	Closed
	// Cancelled: never executed and never will be.
	Cancelled
	// Forgotten: it was executed, but its replies are no longer kept.
	Forgotten
)

// Result is what one entry came to.
type Result struct {
	Index   uint64
	Batches []BatchResult // one for each of the entry's batches, in order
	Events  []Event       // in the order they happened
	Woken   []Woken       // replies to commands that waited, in the order they were served
	// Origin is the id that an Open entry gave, or 0 when it was ignored.
	Origin uint64
	// WallGap is by how many microseconds the leader's wall clock is ahead of
	// (positive) or behind the machine's, when the rule of clock.go held it back.
	WallGap int64
	// Steps is what the entry's commands cost: steps of walks and instructions of scripts.
	Steps int64
	// Faults name commands that ended in a bug of ours; each was undone alike on every replica.
	Faults []string
}
