package client

import "time"

const (
	// DefaultTTL is the lease that is asked for without WithTTL, MinTTL the shortest.
	DefaultTTL = 30 * time.Second
	MinTTL     = 100 * time.Millisecond

	// clockRate is by how much clocks may differ from true time, in thousandths: one
	// for the cluster's and one for ours.
	clockRate = 2

	// A Context ends this long before the lease may be given away, so that who looks
	// at it has time to stop: a part of the ttl, within bounds.
	marginPart = 20
	marginMin  = 5 * time.Millisecond
	marginMax  = time.Second

	// A lease is renewed when a third of it has passed, and is in jeopardy when half has.
	renewPart    = 3
	jeopardyPart = 2

	// A try to reach one node takes a part of the ttl, within bounds, before another
	// node is asked. The upper one leaves a cluster time to elect a leader.
	tryPart = 4
	tryMin  = 200 * time.Millisecond
	tryMax  = 3 * time.Second

	// The pause after every node has been asked in vain doubles from the first to the last.
	pauseFirst = 10 * time.Millisecond
	pauseLast  = 500 * time.Millisecond

	// waitMax is how long one command waits in the queue of a lock; who may wait
	// longer asks again.
	waitMax = time.Hour
	// waitSlack is what a node may take to answer after a wait has run out.
	waitSlack = 10 * time.Second
	// While somebody waits on a node, the node is asked for its health this often,
	// and given up after it has failed for so long.
	probeEvery = time.Second
	probeGrace = 5 * time.Second

	// A grant that is given up is released in the background until the cluster has
	// answered, for at most cleanUpMax. A request whose reply was lost may still be on
	// its way: the release is repeated until strayMax has passed.
	cleanUpMax = 30 * time.Second
	strayEvery = time.Second
	strayMax   = 5 * time.Second
	// closeMax is how long Close waits for what is being released.
	closeMax = 3 * time.Second

	// poolSize is how many commands to one node may be on their way without a new
	// connection; waits have connections of their own.
	poolSize = 32

	dialMax = time.Second

	// NoteMax bounds a note and the value of a candidate, in bytes, as the server does.
	NoteMax = 256
)
