package replica

import "time"

// Limits of one node. What decides an entry's outcome is in fsm/limits.go.
const (
	// clockTick is how often the lease clock is stepped, and clockStepMax the most
	// that one step counts: a stopped process loses the rest. Stamps step it, too: the
	// tick matters to a node that nobody asks for anything, where each wake costs.
	clockTick    = 100 * time.Millisecond
	clockStepMax = 200 * time.Millisecond
	// lossWindow is how long a leader may lose more than half of its time.
	lossWindow = 10 * time.Second

	// checkpointEvery keeps the machine's time near the leader's while a lease
	// runs; in the first termYoung of a term checkpoints come each checkpointYoung,
	// because a leader that was lost once may be lost again.
	checkpointEvery = time.Second
	checkpointYoung = 100 * time.Millisecond
	termYoung       = 2 * time.Second

	// diskWriteMax is how long one write may take before the process ends itself:
	// raft's main loop hangs in it while heartbeats go on. diskWriteSlow is when
	// the node stops calling itself ready.
	diskWriteMax  = 5 * time.Second
	diskWriteSlow = 800 * time.Millisecond

	// Defaults of settings (Config says what each is).
	// 200 ms brought elections by itself on two busy cores (stalls of 200 to 375 ms
	// were seen); 300 ms still leaves a failover well below 700 ms.
	defaultHeartbeat       = 300 * time.Millisecond
	defaultNoLeaderWait    = 3 * time.Second
	defaultAnswerWait      = 10 * time.Second
	defaultSnapshotBytes   = 64 << 20
	defaultEntriesInFlight = 1
	defaultBatchesInFlight = 3
	defaultQueueBytes      = 256 << 20
	defaultQueueCommands   = 200_000
	defaultSeats           = 3
	// RepliesMax is Config.ReplyMemory's default: as much as the largest reply takes.
	RepliesMax = 256 << 20

	// entriesPerMessage is what raft sends and applies at once; with entries of 1 MiB
	// a follower's answer still comes within rpcTimeout. More of them go into a message
	// up to messageBytes.
	entriesPerMessage = 16
	messageBytes      = 4 << 20
	rpcTimeout        = 5 * time.Second
	// pushesKept is how many entries' events a leader keeps for a node that begins to
	// listen, of entries of up to pushedEntryMax.
	pushesKept     = 16
	pushedEntryMax = 1 << 20
	// recentEntries of the log are kept in memory, in appends of up to recentBytes.
	recentEntries = 16
	recentBytes   = 2 << 20
	// commitTimeout, at most twice, is how long followers don't learn of the last commit
	// when no entry follows it, and one that came back is not spoken to. What happens is
	// told by the leader; an empty entry follows a reply that it leaves to others
	// (wokenPushMax). A LOCK.WATCH AFTER the last event may hear TRYAGAIN for so long.
	commitTimeout = 500 * time.Millisecond
	// beatsPerTimeout is how many heartbeats a leader sends in the followers' timeout:
	// a stall of two thirds of it goes unnoticed. They go out with the clock's ticks, to
	// all followers at once: raft's own pace, ten to twenty, each by a timer of its own,
	// was 150 wakes a second of an idle node. raftsTimeout is how many times the followers'
	// timeout raft's leader is given, so that it sends heartbeats of its own, each 0.35 to 0.7 of
	// theirs, only where the ticks bring none: while its main loop hangs in a slow disk.
	beatsPerTimeout = 3
	raftsTimeout    = 3.5
	// stepsPerByte is how many steps (fsm.Result.Steps) weigh as much as a byte of
	// log when a snapshot is due: 64 MiB stand for some 5 s of them.
	stepsPerByte = 8
	// commandSteps is what a command costs beside its steps: a short one in the log
	// takes longer than its bytes let expect.
	commandSteps = 512
	// replayBytes is how much of the log a starting node has read and not yet applied.
	replayBytes = 128 << 20
	// lightRead is what a lone read may cost under the machine's lock, some 2 ms;
	// one that costs more is answered from a copy. heavyReads is how many of those a
	// leader answers at once: its processors have the log to serve, too.
	lightRead  = 1 << 18
	heavyReads = 1

	// ReplyFree is what one caller's replies may take without being counted towards
	// Config.ReplyMemory. replyRun is how much is made of a caller's replies before
	// those are written, and replyWait how long a reply waits until there is room.
	ReplyFree = 16 << 10
	replyRun  = 1 << 20
	replyWait = 5 * time.Second
	// valueBytes and answerBytes are what a reply.Value takes beside its text, and
	// an fsm.Answer beside its Value.
	valueBytes  = 64
	answerBytes = 16

	// trailingMin to trailingMax entries, by their weight, stay in the log behind a
	// snapshot, so that a node that was away for a moment needs no snapshot.
	trailingMin       = 64
	trailingMax       = 10_000
	snapshotsKept     = 2
	logSegmentBytes   = 16 << 20
	snapshotRetryWait = 5 * time.Second

	// costlyScript is from how many instructions on a script is admitted one a
	// batch, and scriptBudget how many the others of a batch may take together.
	costlyScript     = 50_000
	scriptBudget     = 500_000
	costTableEntries = 10_000

	// A leader lingers for other nodes' next batches for at most a part of what the
	// last commit took, and never longer than lingerMax.
	lingerPart = 5
	// For its own node's callers it lingers for as long as a commit takes, at most
	// lingerMax; not for crowdPasses entries when less than half of them came.
	crowdPasses = 4
	lingerMax   = 500 * time.Microsecond

	// readRetryWait is how long a read waits before it asks the next leader.
	readRetryWait = 20 * time.Millisecond

	// Between nodes: how long a greeting may take and how long it may be, how many
	// unknown connections are greeted at once, the longest message, and how much
	// may wait for a slow reader before the connection is given up.
	helloTimeout   = 5 * time.Second
	helloMax       = 4 << 10
	greetingsMax   = 64
	controlMax     = 256 << 10
	frameMax       = 256 << 20
	linkBacklogMax = 512 << 20
	// linkAnswersMax is how much may wait for a node before the answers to its reads
	// wait, too, which counts them as replies.
	linkAnswersMax = 16 << 20
	linkWriteMax   = 10 * time.Second
	// linkSilenceMax is how long a leader may leave a batch unanswered before the
	// link to it is taken for broken and everything is sent again.
	linkSilenceMax = 4 * time.Second
	linkRetryMin   = 20 * time.Millisecond
	linkRetryMax   = 250 * time.Millisecond
	// entryMax is the largest batch that the leader takes from another node, safely
	// below the 64 MiB that the log takes; commandMax is the largest command.
	entryMax   = 48 << 20
	commandMax = 40 << 20
	// aliveEvery is how often a node keeps in touch with the leader, and waitSilenceMax
	// how long it may be silent until what waits there ends.
	aliveEvery     = 500 * time.Millisecond
	waitSilenceMax = 2 * time.Second
	// wokenPushMax is up to which size the leader pushes the reply to a command that
	// waited. The waiter's node makes a larger one itself when it learns of the commit,
	// by the next entry: it is in its memory, and would be copied for each of those who wait.
	wokenPushMax = 64 << 10
	// settledPerBatch bounds the tickets that a batch says are settled.
	settledPerBatch = 10_000
	// batchesPerLink bounds what a node may have waiting at the leader.
	batchesPerLink = 64
	readsPerLink   = 100_000

	// A node that waits to be born or let in asks again so often, and how long one question may take.
	birthRetry     = 300 * time.Millisecond
	controlTimeout = 3 * time.Second
	// memberTick is how often a leader looks whether a member has caught up;
	// caughtUpWithin is how near its log must be to get its vote.
	memberTick     = 200 * time.Millisecond
	caughtUpWithin = 100
	// aliveWithin is how recently a member must have answered to count as alive.
	aliveWithin = 2 * time.Second

	handoverTimeout = 2 * time.Second
	wallGapLogEvery = time.Minute
	wallGapLogged   = time.Second
)
