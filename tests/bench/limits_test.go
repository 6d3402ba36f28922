package bench_test

import "time"

// What a run measures, in one place.
const (
	// lease is how long each lock is taken for; it never runs out in a cycle.
	lease = 10 * time.Second
	// ioWait bounds one exchange with a server, hangWait what a run may take beyond its length.
	ioWait   = 5 * time.Second
	hangWait = 30 * time.Second
	// offeredRate is the cycles a second that are asked of every system alike where
	// a rate is offered: below what the slowest of them can do with offeredWorkers.
	offeredRate    = 300
	offeredWorkers = 64
	// contendedWorkers want one name. Those who can't wait in line ask again every
	// retryEvery, more or less; those who can wait for queueWait, less than ioWait.
	contendedWorkers = 64
	retryEvery       = 10 * time.Millisecond
	queueWait        = 4 * time.Second
	// What a held lock is like, how many are set at once, and who locks beside them.
	heldNameBytes  = 40
	heldValueBytes = 20
	heldBatch      = 1000
	heldWorkers    = 16
	// lineClients are as many connections as the longest line takes, and some.
	lineClients = 15_000
	// While snapshots are measured one is due after so much log.
	snapshotBytes = 2 << 20
	// What callers may notice of a follower that is stopped, or stops and runs for
	// lagTurn each, in times of p50 and p99.
	lagWorkers = 16
	lagTurn    = 100 * time.Millisecond
	lagP50Most = 1.2
	lagP99Most = 2.0
	// handOverMost is what a hand-over may take, in commits; floorMost what an acquire
	// may take, in its floor; floorBlock how many are measured before it is the other's turn.
	handOverMost = 2.5
	floorMost    = 1.25
	floorBlock   = 50
	// redis-benchmark has toolClients clients that use toolNames names; toolFirst
	// commands tell how many take as long as is wanted.
	toolClients = 64
	toolNames   = 1_000_000
	toolFirst   = 10_000
	// toolHeld is how many names the release script is run over.
	toolHeld = 100_000
	// What three nodes are to do with redis-benchmark at least: commands a
	// second at -P 16, and reads as a part of bare redcon's.
	toolSetLeast     = 100_000
	toolReleaseLeast = 40_000
	toolReadLeast    = 0.6
	// An idle cluster is watched for idleLength after idleSettle, then so many
	// connections are opened.
	idleSettle      = 3 * time.Second
	idleLength      = 10 * time.Second
	idleConnections = 5_000
	// latencyMax is the longest latency that is told apart, with latencyDigits digits.
	latencyMax    = time.Minute
	latencyDigits = 3
)

// workerCounts are the numbers of workers that lock at once.
var workerCounts = []int{1, 16, 64, 256}

// scale is how long and how often.
type scale struct {
	Rounds        int           `json:"rounds"`
	Length        time.Duration `json:"length_ns"` // of one run
	OfferedRounds int           `json:"offered_rounds"`
	Contended     int           `json:"contended_rounds"`
	Held          int           `json:"held_rounds"`
	HeldLocks     []int         `json:"held_locks"` // that nodes hold, few first
	Snapshots     time.Duration `json:"snapshots_length_ns"`
	HandOvers     int           `json:"hand_overs"`
	Lines         []int         `json:"lines"` // how many wait for a lock that goes from hand to hand
	FloorBlocks   int           `json:"floor_blocks"`
	ToolRounds    int           `json:"tool_rounds"`
	ToolLength    time.Duration `json:"tool_length_ns"`
}

var (
	fullScale  = scale{Rounds: 5, Length: 3 * time.Second, OfferedRounds: 3, Contended: 3, Held: 3, HeldLocks: []int{1_000, 100_000, 2_000_000}, Snapshots: 20 * time.Second, HandOvers: 1000, Lines: []int{1, 10, 1_000, 10_000}, FloorBlocks: 40, ToolRounds: 3, ToolLength: 2 * time.Second}
	quickScale = scale{Rounds: 2, Length: 700 * time.Millisecond, OfferedRounds: 1, Contended: 1, Held: 2, HeldLocks: []int{1_000, 100_000}, Snapshots: 3 * time.Second, HandOvers: 200, Lines: []int{1, 10, 1_000}, FloorBlocks: 8, ToolRounds: 1, ToolLength: 500 * time.Millisecond}
)
