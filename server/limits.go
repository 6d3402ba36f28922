package server

import (
	"time"

	"github.com/redfence/redfence/fsm"
)

// Limits of one node's edge. Nothing here decides what an entry does: the
// machine's limits are in fsm/limits.go.
const (
	// WalksMax is how many commands that visit the whole keyspace (KEYS, SCAN) a
	// node has under way at once.
	WalksMax = 2
	// WalkWait is how long such a command waits for its turn.
	WalkWait = 5 * time.Second

	// HintEvery is how often the log says at most that a client lists shared ports
	// as masters, and HintClientsMax how many clients are counted by name. Of
	// HintLocksMax locks it is remembered that somebody asked in vain.
	HintEvery      = time.Minute
	HintClientsMax = 32
	HintLocksMax   = 1000

	// InlineMax bounds a command typed by hand, and a line that announces a length.
	InlineMax = 64 << 10
	// BulkAnnouncedMax is the longest argument that may be announced, as in Redis.
	// What is longer than CommandMax is read past and refused.
	BulkAnnouncedMax = 512 << 20
	// UnauthArgsMax, UnauthBulkMax and UnauthBytesMax bound a command before AUTH.
	UnauthArgsMax  = 10
	UnauthBulkMax  = 16 << 10
	UnauthBytesMax = 64 << 10

	// ReadBufferMin is what a connection's input buffer begins with, and
	// ReadBufferKept what it grows to for pipelines, and the most that an idle
	// connection keeps.
	ReadBufferMin  = 4 << 10
	ReadBufferKept = 64 << 10
	// ReadAheadMax is how much is read of a connection while its command waits: to
	// see that the client has gone, and no more than that.
	ReadAheadMax = 256 << 10
	// InputBytesMax bounds what all connections of a node together hold: input
	// beyond ReadBufferKept, until it is executed, and what HeldMax counts. Unfinished
	// commands of many clients can't take the memory.
	InputBytesMax = 128 << 20
	// RequestsMax is how many commands of a pipeline are taken apart at once.
	RequestsMax = 512

	// RunBytesMax is where a pipeline is cut: what one batch gathers.
	RunBytesMax = fsm.BatchBytes
	// HeldMax bounds what a connection makes the node keep: queued and watched
	// in a MULTI, listened to, its name. For all connections together it counts
	// towards InputBytesMax.
	HeldMax = fsm.CommandMax
	// NameMax bounds the name of a connection and of its library.
	NameMax = 4 << 10
	// argBytes and entryBytes are what a kept argument, and a key or channel in a
	// table, is taken to cost beside its text.
	argBytes   = 24
	entryBytes = 128

	// What replies take from when they are made until they are written is bounded by
	// the node's budget (replica.Config.ReplyMemory, replica.RepliesMax by default).
	// EdgeRepliesMax is what a pipeline gathers of the edge's own before it is sent,
	// EdgeExecMax what a MULTI does, and LongAnswersMax how many of the edge's long
	// ones are made at once.
	EdgeRepliesMax = 32 << 10
	EdgeExecMax    = 4 << 20
	LongAnswersMax = 1

	// WriteChunk is how much of the replies is gathered for one write.
	WriteChunk = 32 << 10
	// WriteBufferKept is the most that an idle connection keeps for the next replies.
	WriteBufferKept = 16 << 10
	// UnreadMax and UnreadSoftMax bound what waits for a client that doesn't
	// read: beyond the first its connection is closed at once, beyond the second
	// after UnreadSoftTime.
	UnreadMax      = 64 << 20
	UnreadSoftMax  = 8 << 20
	UnreadSoftTime = time.Minute
	// UnreadTotalMax bounds what waits for all clients of the node together.
	UnreadTotalMax = 256 << 20
	// WriteTimeout is how long a write may make no progress, and PressedTimeout
	// how long while other replies wait for room.
	WriteTimeout   = time.Minute
	PressedTimeout = 5 * time.Second

	// KeepAlive is how long a silent TCP connection is trusted before it is probed.
	KeepAlive = time.Minute
	// DefaultMaxClients is Redis's.
	DefaultMaxClients = 10_000
	// HTTPConnectionsMax bounds the connections of HTTP on all addresses together:
	// what comes beyond waits in the system's queue. HTTPReadTimeout is how long a
	// request may take to arrive, HTTPWriteTimeout its reply to be read, and
	// HTTPIdleTimeout how long a connection may be silent between two.
	HTTPConnectionsMax = 32
	HTTPReadTimeout    = 5 * time.Second
	HTTPWriteTimeout   = 30 * time.Second
	HTTPIdleTimeout    = 20 * time.Second
	// FilesKept is how many file descriptors stay free of Redis clients: for raft,
	// its stores, listeners, and HTTP.
	FilesKept = 64 + HTTPConnectionsMax
	// AcceptBackoffMax is the longest pause after a failed accept.
	AcceptBackoffMax = time.Second

	// ReadingKept is how old a reading of the server's clock may be that says when a
	// command was read.
	ReadingKept = time.Millisecond

	// LockEventsKept and LockEventBytesMax bound the lock events that a node remembers
	// for those who watch locks and come back.
	LockEventsKept    = 10_000
	LockEventBytesMax = 8 << 20

	// CursorsMax bounds the table of SCAN cursors of a node.
	CursorsMax = 65_536
	// CursorBytesMax bounds what its places take.
	CursorBytesMax = 64 << 20
	// TrackedKeysMax bounds the keys that are remembered for caches of clients,
	// TrackedHeldMax and TrackedHeldBytesMax what waits behind one reply.
	TrackedKeysMax      = 1_000_000
	TrackedHeldMax      = 1_000
	TrackedHeldBytesMax = 64 << 10
	// TrackedBytesMax bounds what those keys take, with who has them.
	TrackedBytesMax = 256 << 20
	// TrackedPrefixesMax and TrackedPrefixBytesMax bound the prefixes of one connection.
	TrackedPrefixesMax    = 128
	TrackedPrefixBytesMax = 16 << 10
	// SlowLogMax bounds the slow log's entries, SlowLogArgsMax and
	// SlowLogArgMax what one of them shows of a command.
	SlowLogMax     = 128
	SlowLogArgsMax = 32
	SlowLogArgMax  = 128
	// LatencySamplesMax bounds what is remembered of one kind of latency event.
	LatencySamplesMax = 160

	// WaitMax is the longest that WAIT waits for nodes, whatever it is asked for: a
	// node that is dead never answers. WaitPoll is how often it looks.
	WaitMax  = time.Minute
	WaitPoll = 10 * time.Millisecond

	// ErrorWordsMax and ErrorWordMax bound what errors are counted by.
	ErrorWordsMax = 128
	ErrorWordMax  = 64

	// FarewellTime is how long a Shutdown that may not wait waits for clients to
	// read that their commands were given up.
	FarewellTime = 200 * time.Millisecond
	// ProbeTimeout is how long an answer of /readyz may take.
	ProbeTimeout = time.Second
)
