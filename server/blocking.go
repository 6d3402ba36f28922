package server

import (
	"errors"
	"math"
	"os"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/server/replica"
)

// What ends a wait without its being served.
var (
	errUnblocked = reply.Err("UNBLOCKED client unblocked via CLIENT UNBLOCK")
	errDemoted   = reply.Err("UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)")
)

// blockedState is what other goroutines see and change of a connection whose
// command waits. The session's lock guards it.
type blockedState struct {
	waits  bool
	reason *reply.Value  // what CLIENT UNBLOCK wants answered
	woken  chan struct{} // of capacity 1: something has changed
}

// wake makes a connection whose command waits look what has changed: it reads
// meanwhile, and a deadline in the past ends that. It may be called from anywhere.
func (c *session) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wakeLocked()
}

func (c *session) wakeLocked() {
	if !c.blocked.waits {
		return // a deadline would end what is read next
	}
	c.link.conn.SetReadDeadline(time.Unix(1, 0))
	select {
	case c.blocked.woken <- struct{}{}:
	default:
	}
}

// unblock ends the wait of a connection from another one. It answers false if nothing waits.
func (c *session) unblock(answer reply.Value) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.blocked.waits || c.blocked.reason != nil {
		return false
	}
	c.blocked.reason = &answer
	c.wakeLocked()
	return true
}

// setWaits says whether the connection's command waits.
func (c *session) setWaits(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocked.waits == yes {
		return
	}
	c.blocked.waits, c.blocked.reason = yes, nil
	if yes {
		c.server.blocked.Add(1)
		return
	}
	c.server.blocked.Add(-1)
	c.link.conn.SetReadDeadline(time.Time{})
	c.link.timed = true
	select {
	case <-c.blocked.woken:
	default:
	}
}

func (c *session) unblockReason() *reply.Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocked.reason
}

// await waits for the answer to the run's last command. What came before it is
// answered first. The connection goes on being read, into a bounded buffer, so
// that its end is seen.
func (c *session) await() fsm.Answer {
	c.flush()
	c.replies.Release()
	if c.track != nil {
		c.server.trackers.release(c)
	}
	cmd := &c.run.cmds[len(c.run.cmds)-1]
	a := c.awaitAnswer(c.run.waiting, cmd.Args)
	if fsm.IsOffered(&a) {
		a = c.takeOffered(cmd)
	}
	return c.withRoom(a)
}

// withRoom waits until the node has room for the reply to a wait: many may be
// served the same large element at once, which is there once until their replies are
// spelled. What was taken can't be given back, so that without room its outcome is
// unknown to the client.
func (c *session) withRoom(a fsm.Answer) fsm.Answer {
	size := replica.Footprint(&a.Value)
	if c.replies.Add(size) {
		return a
	}
	defer c.replies.Trim()
	if err := c.replies.Wait(c.server.ctx, size); err != nil {
		return fsm.Answer{Value: fsm.ErrUnknownOutcome}
	}
	c.replies.Force(size)
	return a
}

func (c *session) awaitAnswer(w replica.Waiting, args []string) fsm.Answer {
	c.setWaits(true)
	defer c.setWaits(false)
	due, timed := dueTime(args, c.run.sent)
	if timed {
		timer := time.AfterFunc(time.Until(due), c.wake)
		defer timer.Stop()
	}
	for {
		// The deadline first: whoever changes what is looked at then sets it anew.
		c.link.conn.SetReadDeadline(time.Time{})
		if a, ok := w.Answer(); ok {
			return a
		}
		reason := c.unblockReason()
		switch {
		case c.closing || c.out.ended():
			return c.leave(w)
		case reason != nil:
			return c.endWait(w, *reason)
		case c.server.closing.Load():
			return c.endWait(w, errDemoted)
		case timed && !time.Now().Before(due):
			return c.endWait(w, reply.NullArray)
		}
		err := c.readAhead()
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return c.leave(w)
		}
	}
}

// dueTime is when a command that was sent at a given time has waited for long enough.
func dueTime(args []string, sent time.Time) (due time.Time, timed bool) {
	millis := fsm.Timeout(args)
	if millis == 0 || millis > math.MaxInt64/int64(time.Millisecond) {
		return due, false
	}
	return sent.Add(time.Duration(millis) * time.Millisecond), true
}

// leave gives up a wait whose client is gone.
func (c *session) leave(w replica.Waiting) fsm.Answer {
	w.Leave()
	c.closing = true
	return fsm.Answer{Value: fsm.ErrUnknownOutcome}
}

// endWait ends a wait by an entry: v is answered if nothing served the command
// before that.
func (c *session) endWait(w replica.Waiting, v reply.Value) fsm.Answer {
	c.setWaits(false)
	unserved, err := w.End(c.server.ctx)
	if err == nil && unserved {
		return fsm.Answer{Value: v}
	}
	if a, ok := w.Answer(); ok {
		return a
	}
	return fsm.Answer{Value: fsm.ErrUnknownOutcome}
}

// readAhead reads once behind the command that waits, or waits to be woken while
// as much as may be read ahead is there.
func (c *session) readAhead() error {
	full, err := c.link.ahead()
	if full {
		<-c.blocked.woken
	}
	return err
}

// takeOffered takes the lock that was offered to the command that waited: by an
// entry, which starts the lease. Its time counts from here on.
func (c *session) takeOffered(cmd *fsm.Command) fsm.Answer {
	sent := c.server.elapsed()
	answers, err := c.server.backend.Do(c.server.ctx, c.client, []fsm.Command{{Space: cmd.Space, DB: cmd.DB, Args: fsm.TakeArgs(cmd.Args)}})
	switch {
	case err != nil:
		return fsm.Answer{Value: answerFor(err)}
	case len(answers) != 1:
		return fsm.Answer{Value: errInternal}
	}
	a := answers[0]
	if a.Grant > 0 && (c.server.elapsed()-sent).Microseconds() >= a.Grant {
		c.server.stats.lateGrants.Add(1)
		return fsm.Answer{Value: errLeaseEnded}
	}
	a.Grant = 0
	return a
}
