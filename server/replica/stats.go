package replica

import "sync/atomic"

// Stats counts what a node has done since it started. Each counter may be read
// at any time.
type Stats struct {
	EntriesProposed  atomic.Uint64
	BytesProposed    atomic.Uint64
	CommandsProposed atomic.Uint64
	Checkpoints      atomic.Uint64
	Expiries         atomic.Uint64 // entries proposed because a lease had run out
	EntriesApplied   atomic.Uint64
	BytesApplied     atomic.Uint64
	BatchesSent      atomic.Uint64 // by this node, resent ones included
	BatchesResent    atomic.Uint64
	BatchesCancelled atomic.Uint64
	BatchesForwarded atomic.Uint64 // received from other nodes
	ReadsLocal       atomic.Uint64
	ReadsForwarded   atomic.Uint64 // sent to the leader
	ReadRounds       atomic.Uint64 // confirmations asked for
	NoLeader         atomic.Uint64 // commands answered so
	UnknownOutcomes  atomic.Uint64
	TooBusy          atomic.Uint64
	EventsPushed     atomic.Uint64 // delivered from the leader's push
	EventsApplied    atomic.Uint64 // delivered from the node's own apply
	TermsLed         atomic.Uint64
	Snapshots        atomic.Uint64
	SnapshotsLoaded  atomic.Uint64
	LinksMade        atomic.Uint64
	LinksRefused     atomic.Uint64
	Faults           atomic.Uint64 // commands that ended in a bug of ours
	QueueCommands    atomic.Int64  // gauge: commands that wait on this node
	QueueBytes       atomic.Int64  // gauge
}
