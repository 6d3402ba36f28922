package compare

import "time"

// Limits and measures of a run, in one place.
const (
	// startWait bounds the start of a process, askWait one question to it.
	startWait = 20 * time.Second
	askWait   = 2 * time.Second
	// ioWait is how long a client waits for a master's answer. Redlock wants it
	// small beside the lease.
	ioWait = 500 * time.Millisecond
	// lease is how long locks of the faults are taken for, workLease those of the speed.
	lease     = 3 * time.Second
	workLease = 8 * time.Second
	// jump is by how much a wall clock is set forward: over a lease.
	jump = 10 * time.Second
	// outage is how long a stopped or cut off node is left so.
	outage = 2 * time.Second
	// calm is what runs before and after a fault that is measured by its gaps.
	calm = time.Second
	// serviceWorkers lock names of their own and one name together while a node is down.
	serviceWorkers = 4
	// retryEvery is how often somebody who waits for a lock asks again.
	retryEvery = 10 * time.Millisecond
)
