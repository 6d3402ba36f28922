package server

import (
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/server/replica"
)

var (
	errTimeoutNumber   = reply.Err("ERR timeout is not an integer or out of range")
	errTimeoutNegative = reply.Err("ERR timeout is negative")
	errLocalRange      = reply.Err("ERR value is out of range, must be between 0 and 1")
	errMustBePositive  = reply.Err("ERR value is out of range, must be positive")
)

// wait answers WAIT: how many nodes beside the leader have all that the
// connection has written.
func wait(c *session, args []string) reply.Value {
	wanted, ok := fsm.ParseInt(args[1])
	if !ok {
		return errNotInteger
	}
	timeout, refusal := waitTime(args[2])
	if refusal.IsError() {
		return refusal
	}
	return reply.Integer(int64(c.awaitCopies(wanted, timeout)))
}

// waitaof answers WAITAOF. What is acknowledged is on the leader's disk, and no
// node says that it has something before it has synced it.
func waitaof(c *session, args []string) reply.Value {
	local, ok := fsm.ParseInt(args[1])
	if !ok {
		return errNotInteger
	}
	if local < 0 || local > 1 {
		return errLocalRange
	}
	wanted, ok := fsm.ParseInt(args[2])
	if !ok {
		return errNotInteger
	}
	if wanted < 0 {
		return errMustBePositive
	}
	timeout, refusal := waitTime(args[3])
	if refusal.IsError() {
		return refusal
	}
	return reply.List(reply.Integer(1), reply.Integer(int64(c.awaitCopies(wanted, timeout))))
}

// waitTime reads a timeout in milliseconds. 0 asks for as long as it takes, which
// is WaitMax here, as is all that is longer.
func waitTime(text string) (time.Duration, reply.Value) {
	millis, ok := fsm.ParseInt(text)
	switch {
	case !ok:
		return 0, errTimeoutNumber
	case millis < 0:
		return 0, errTimeoutNegative
	case millis == 0 || millis > WaitMax.Milliseconds():
		return WaitMax, reply.Value{}
	}
	return time.Duration(millis) * time.Millisecond, reply.Value{}
}

// awaitCopies answers how many nodes beside the leader have what was committed
// when it was called, as soon as that is as many as wanted, or when the time is
// up. In a transaction nothing waits.
func (c *session) awaitCopies(wanted int64, timeout time.Duration) int {
	c.settle()
	st := c.server.backend.Status()
	target := st.CommitIndex
	n := copies(&st, target)
	if int64(n) >= wanted || c.inExec {
		return n
	}
	c.flush()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	poll := time.NewTicker(WaitPoll)
	defer poll.Stop()
	for int64(n) < wanted && !c.closing && !c.out.ended() {
		select {
		case <-deadline.C:
			return n
		case <-c.server.ctx.Done():
			return n
		case <-poll.C:
		}
		st = c.server.backend.Status()
		n = max(n, copies(&st, target))
	}
	return n
}

// copies counts the nodes beside the leader that are known to have an entry that
// is committed. All nodes know that it is on a majority of voters; only a leader
// knows of each.
func copies(st *replica.Status, index uint64) int {
	voters, have := 0, 0
	for i := range st.Members {
		m := &st.Members[i]
		if m.Voter {
			voters++
		}
		known := st.Role == replica.RoleLeader && !m.Leader && m.Lag >= 0
		if known && st.LastIndex-min(st.LastIndex, uint64(m.Lag)) >= index {
			have++
		}
	}
	return max(have, voters/2)
}
