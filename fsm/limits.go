package fsm

import "github.com/redfence/redfence/fsm/script"

// Limits of the machine. Everything here decides what an entry does, so it is
// alike on every replica: a change of a number is a change of the format
// version. What only one node needs to know (connections, buffers, time-outs)
// is in server/limits.go and server/replica/limits.go.
const (
	// Databases is how many database numbers each keyspace has, as Redis by default.
	Databases = 16
	// SeatsMax bounds the seats of a cluster: Redlock asks for an odd few.
	SeatsMax = 15

	KeyMax   = 1 << 20 // bytes of a key
	ValueMax = 8 << 20 // bytes of a string value
	// ElementsMax and ObjectBytesMax bound one hash, list, set or sorted set, its
	// bytes as the memory limit counts them: what visits all of it stays short.
	ElementsMax    = 1 << 20
	ObjectBytesMax = 256 << 20
	CommandMax     = 16 << 20 // bytes of one command's arguments together, also of a whole MULTI
	ArgsMax        = 1 << 20  // arguments of one command

	// ExpirePerEntry bounds what one entry ends: a million leases that run out in
	// one instant must not hold up the next grant. The rest counts as gone meanwhile.
	ExpirePerEntry = 10_000

	// KeptNumbers and KeptBytes bound the replies kept for an origin that asks
	// again; KeptReplyMax is the size over which a reply is kept as outcome unknown.
	KeptNumbers  = 64
	KeptBytes    = 16 << 20
	KeptReplyMax = 1 << 20

	// WaitersMax bounds the commands that wait, and WaitersKeyMax those that wait for
	// one key. WaitersBytesMax bounds what they are counted with together, and
	// WaiterBytesMax one of them.
	WaitersMax      = 200_000
	WaitersKeyMax   = 100_000
	WaitersBytesMax = 256 << 20
	WaiterBytesMax  = 1 << 20
	// ServedMax bounds how many of the commands that wait one entry serves, and
	// ServedStepsMax and ServedRepliesMax what that costs, counted as other commands
	// are, for whom half is left: one push may serve all who wait for a key, each with
	// the same large element. The rest stays in line, for the entries that follow.
	ServedMax        = 4_000
	ServedStepsMax   = EntryStepsMax / 2
	ServedRepliesMax = EntryRepliesMax / 2
	// KeptWoken bounds the replies to waits that are kept for an origin, beside
	// KeptBytes.
	KeptWoken = 10_000

	// ReplyMax bounds one command's reply as reply.Value.Size counts it: the same
	// large value may be asked for a million times in one command.
	ReplyMax = 64 << 20

	// BatchBytes is how much a batch gathers; a larger single command is a batch of its own.
	BatchBytes = 1 << 20

	// WatchBuckets is how many buckets remember when a key was last removed, so
	// that WATCH notices a key that came and went without one record a name.
	WatchBuckets = 4096

	// MatchStepsMax bounds what one text and a glob pattern may cost, KeysStepsMax
	// what the walks of one command, script or MULTI may, over keys or elements: a
	// pattern of many parts takes time that grows with the product of the lengths,
	// and a command may name a large value many times.
	MatchStepsMax = 1 << 24
	KeysStepsMax  = 1 << 27

	// EntryStepsMax bounds what the commands of one entry cost together, as steps of
	// walks and instructions of scripts, some 10 ns each: an entry is applied whole,
	// whatever else waits. Once so much is spent, a command that takes more than
	// SmallSteps is put off to another entry (see ErrPutOff), so that one entry costs
	// at most EntryStepsMax, one costly command, and SmallSteps for each other one.
	EntryStepsMax = 1 << 25
	SmallSteps    = 1 << 11

	// EntryRepliesMax bounds the replies of one entry likewise, as reply.Value.Size
	// counts them: once they are so much, a command whose reply is larger than
	// SmallReply is put off. They are all in memory before the first is written.
	EntryRepliesMax = 16 << 20
	SmallReply      = 1 << 10

	// ExecInstructionsMax is how many script instructions the commands of one MULTI
	// may spend together: some 40 ms of every replica's time.
	ExecInstructionsMax = 4_000_000

	// ClientTextMax bounds each of a client's name, address and library.
	ClientTextMax = 256

	// LeaseMillisMax bounds the lease that a native lock or a session asks for: ten
	// years. LockDelayMax bounds the delay after it, in milliseconds: an hour.
	LeaseMillisMax = 315_360_000_000
	LockDelayMax   = 3_600_000
	// NoteMax bounds a lock's note and a session's name, OwnerMax the owner of a
	// native lock, in bytes.
	NoteMax  = 256
	OwnerMax = 64 << 10
	// OwnerShown is how many bytes of an owner an event shows.
	OwnerShown = 256
	// OfferKept is for how many microseconds a lock is offered to one who has waited.
	OfferKept = 2_000_000
	// WaitersShown is how many of those who wait for a lock LOCK.INFO lists.
	WaitersShown = 100
	// PermitsMax bounds the permits of one semaphore, HoldersMax the holders of one name.
	PermitsMax = 1 << 20
	HoldersMax = 1 << 20
	// LockNamesMax bounds the names of one LOCK.ACQUIREALL, PageMax what one LOCK.LIST
	// or SESSION.LIST looks at.
	LockNamesMax = 1024
	PageMax      = 10_000
	// SessionLocksMax bounds the locks of one session, SessionsMax the sessions.
	SessionLocksMax = 10_000
	SessionsMax     = 1 << 20
	// ReleaseKept is for how many microseconds a release is remembered in case its
	// owner asks again; ReleasesMax and ReleasesBytesMax bound how many are.
	ReleaseKept      = 60_000_000
	ReleasesMax      = 100_000
	ReleasesBytesMax = 64 << 20

	// ScriptCacheEntries and ScriptCacheBytes bound the replicated script cache.
	ScriptCacheEntries = 10_000
	ScriptCacheBytes   = 32 << 20
)

// ScriptLimits bound every script; part of the replicated state by its version.
var scriptLimits = script.DefaultLimits()
