package server

import (
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/server/replica"
)

// run gathers the commands of a pipeline that go to the machine together, and
// the places of all replies: what the edge answers in between keeps its place.
type run struct {
	read  time.Duration // when the commands were read or a little before, on the server's own clock
	cmds  []fsm.Command
	size  int
	edge  int64 // what the edge's replies in slots take
	slots []slot
	walks func() // ends the turn of a command that visits the whole keyspace
	// blocks says that the last command may wait: nothing comes behind it.
	blocks  bool
	waiting replica.Waiting // it does, since it was sent
	sent    time.Time
}

// slot is the place of one reply.
type slot struct {
	value  reply.Value // if the edge answered
	cmd    int         // else the index of the command
	spec   *fsm.Spec   // of the command; nil if the edge answered
	after  func(fsm.Answer) reply.Value
	silent bool
}

// answer takes the edge's reply to the command at hand.
func (c *session) answer(v reply.Value) {
	silent := c.quiet || c.skipping
	if v.IsError() {
		c.server.stats.words.note(v)
	}
	if len(c.run.slots) > 0 {
		c.run.slots = append(c.run.slots, slot{value: v, silent: silent})
		if c.run.edge += replica.Footprint(&v); c.run.edge > EdgeRepliesMax {
			c.settle()
		}
		return
	}
	if !silent {
		c.w.value(v)
	}
	c.release()
}

// submit adds a command of the machine to the run.
func (c *session) submit(spec *fsm.Spec, args []string) {
	cmd := fsm.Command{Space: c.space, DB: c.db, Args: args}
	var after func(fsm.Answer) reply.Value
	if a, ok := adapters[spec.Name]; ok {
		if v := a.before(c, &cmd); v.IsError() {
			c.answer(v)
			return
		}
		after = func(got fsm.Answer) reply.Value { return a.after(c, &cmd, got.Value) }
	}
	c.trackKeys(spec, args)
	c.add(spec, cmd, c.tellBehind(spec, []queued{{spec, args}}, after))
	if fsm.MayWait(spec, args) {
		c.run.blocks = true
		c.settle()
	}
}

// add puts a command into the run, and sends what is there first if it would
// become too much for one batch.
func (c *session) add(spec *fsm.Spec, cmd fsm.Command, after func(fsm.Answer) reply.Value) {
	size := cmd.Size()
	walks := spec.Has(fsm.Walks)
	if len(c.run.cmds) > 0 && (walks || c.run.size+size > RunBytesMax) {
		c.settle()
	}
	if walks && !c.inExec {
		if !c.server.startWalk() {
			c.answer(errTooBusy)
			return
		}
		// It is answered alone, since making the answer holds up what others wait for.
		c.run.walks = func() { <-c.server.walks }
		defer c.settle()
	}
	c.run.slots = append(c.run.slots, slot{cmd: len(c.run.cmds), spec: spec, after: after, silent: c.quiet || c.skipping})
	c.run.cmds = append(c.run.cmds, cmd)
	c.run.size += size
}

// settle sends the run to the machine, waits for its answers and writes all
// replies that wait for their turn: what there is room for, then the rest.
func (c *session) settle() {
	r := &c.run
	if len(r.slots) == 0 || c.inExec {
		return
	}
	c.release()
	failed := false
	for cmds, slots := r.cmds, r.slots; len(slots) > 0; {
		start := time.Now()
		answers, err := c.send(cmds)
		took := time.Since(start)
		if err == nil && (len(answers) == 0 && len(cmds) > 0 || len(answers) > len(cmds)) {
			c.server.log.Error("the backend answered another number of commands", "asked", len(cmds), "answered", len(answers))
			answers = nil
		}
		done := cmds[:len(answers)]
		if len(answers) == 0 {
			failed, answers, done = true, nil, cmds
		}
		if r.walks != nil {
			r.walks()
			r.walks = nil
		}
		slots = c.writeSlots(slots, len(cmds)-len(done), answers, err, took)
		cmds = cmds[len(done):]
		if len(done) > 0 {
			c.server.slow.note(c, done[0].Args, took)
		}
		c.server.latency.note(c.server.settings.latencyMillis.Load(), done, took, start)
		c.server.metrics.observe(took, len(done))
		c.release()
	}
	c.clearRun(failed)
}

// writeSlots writes replies up to the first of the left commands that have no
// answer yet, and says which places are still to be filled.
func (c *session) writeSlots(slots []slot, left int, answers []fsm.Answer, err error, took time.Duration) []slot {
	until := len(c.run.cmds) - left
	for i := range slots {
		s := &slots[i]
		if s.spec != nil {
			if s.cmd >= until {
				return slots[i:]
			}
			if c.run.waiting != nil && s.cmd == len(c.run.cmds)-1 {
				answers[0] = c.await()
			}
			s.value = c.outcome(s, answers, err)
			answers = answers[min(1, len(answers)):]
			stat := c.server.stats.of(s.spec)
			stat.ran(took)
			if s.value.IsError() {
				stat.failed.Add(1)
				c.server.stats.words.note(s.value)
			}
		}
		if !s.silent {
			c.w.value(s.value)
		}
		s.value, s.after = reply.Value{}, nil
		if c.w.large() && c.w.spill() != nil {
			c.closing = true
		}
	}
	return nil
}

// release writes what is spelled if it counts as replies that wait, and lets go of
// their room. Only then may the next be made: who waits for room must hold none.
func (c *session) release() {
	if c.replies.Counted() && c.w.flush() != nil {
		c.closing = true
	}
	c.replies.Release()
}

// send sends commands of the run to the machine.
func (c *session) send(cmds []fsm.Command) (answers []fsm.Answer, err error) {
	if !c.run.blocks {
		return c.server.backend.DoSome(c.server.ctx, c.client, cmds, c.replies)
	}
	c.run.sent = time.Now()
	answers, c.run.waiting, err = c.server.backend.Block(c.server.ctx, c.client, cmds, c.replies, c.wake)
	return answers, err
}

// startWalk waits for its turn to visit the whole keyspace, and says whether it came.
func (s *Server) startWalk() bool {
	timer := time.NewTimer(WalkWait)
	defer timer.Stop()
	select {
	case s.walks <- struct{}{}:
		return true
	case <-timer.C:
	case <-s.ctx.Done():
	}
	return false
}

// clearRun makes the run empty and lets go of what it held. After a failure the
// backend may still hold the commands: they are not used again.
func (c *session) clearRun(failed bool) {
	r := &c.run
	clear(r.slots)
	r.slots, r.size, r.edge, r.blocks, r.waiting = r.slots[:0], 0, 0, false, nil
	if failed || cap(r.cmds) > 1024 {
		r.slots, r.cmds = nil, nil
		return
	}
	clear(r.cmds)
	r.cmds = r.cmds[:0]
}

// outcome is the reply to a command of the machine.
func (c *session) outcome(s *slot, answers []fsm.Answer, err error) reply.Value {
	if err != nil {
		return answerFor(err)
	}
	if len(answers) == 0 {
		return errInternal
	}
	got := answers[0]
	if got.Grant > 0 && (c.server.elapsed()-c.run.read).Microseconds() >= got.Grant {
		c.server.stats.lateGrants.Add(1)
		return errLeaseEnded
	}
	if s.after != nil {
		return s.after(got)
	}
	return got.Value
}

// ask executes one command at once, ahead of what is written later, and answers
// what the machine made of it.
func (c *session) ask(db uint8, args ...string) reply.Value {
	c.settle()
	answers, err := c.server.backend.Do(c.server.ctx, c.client, []fsm.Command{{Space: c.space, DB: db, Args: args}})
	switch {
	case err != nil:
		return answerFor(err)
	case len(answers) != 1:
		return errInternal
	}
	return answers[0].Value
}

// adapter stands between a client's command and a row of the machine that is
// called differently.
type adapter struct {
	before func(c *session, cmd *fsm.Command) reply.Value // an error ends it
	after  func(c *session, cmd *fsm.Command, v reply.Value) reply.Value
}
