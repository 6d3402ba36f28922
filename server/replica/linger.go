package replica

import (
	"runtime"
	"time"
)

// Commands of one node tend to split into two crowds: while one is in an entry
// the other gathers for the next, so that each command waits for two commits.
// So before the next entry is made the leader lingers a little for those who were
// just answered, its own callers and other nodes, if they have lately come back at once.

// lingerFor is a guest that is waited for, and how many batches it had sent.
type lingerFor struct {
	guest *guest
	sent  uint64
}

// linger waits until the nodes whose batches have just been answered have sent
// more, but only a fraction of what a commit takes.
func (t *term) linger(f *flight) {
	var wait []lingerFor
	for i := range f.remote {
		if g := f.remote[i].from; g.prompt.Load() && (len(wait) == 0 || wait[len(wait)-1].guest != g) {
			wait = append(wait, lingerFor{g, g.sent.Load()})
		}
	}
	if len(wait) == 0 {
		return
	}
	timer := time.NewTimer(min(time.Since(f.began)/lingerPart, lingerMax))
	defer timer.Stop()
	for _, w := range wait {
		for w.guest.sent.Load() == w.sent {
			select {
			case <-t.wake:
			case <-timer.C:
				return
			case <-t.over:
				return
			}
		}
	}
}

// cameBack notes that the guest has sent a batch, and whether it did soon after its last answer.
func (g *guest) cameBack() {
	g.sent.Add(1)
	g.prompt.Store(time.Since(g.node.started)-time.Duration(g.answered.Load()) < lingerMax)
}

// crowd is how many callers of an origin come and go together. The origin's lock
// guards it.
type crowd struct {
	expect int // those who were answered last, and those who waited then
	hold   int // while it is above 0, fewer callers than that are no reason to wake the term
}

// answers notes that so many are about to be answered while others wait.
func (c *crowd) answers(callers, others int) {
	if c.expect == 0 {
		c.expect = others
	}
	c.expect += callers
}

// wakes takes note of how many callers there are by now, and says whether the term
// should look.
func (c *crowd) wakes(callers int) bool {
	if callers >= c.hold {
		c.hold = 0
	}
	return c.hold == 0
}

// awaitCrowd says how many callers are missing of those that were there when the last
// were answered. Until they are there, or release, new ones wake nobody.
func (o *origin) awaitCrowd() (missing int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	missing = o.crowd.expect - o.callers()
	o.crowd.hold, o.crowd.expect = o.crowd.expect, 0
	if missing <= 0 {
		o.crowd.hold = 0
	}
	return missing
}

// complete says whether the crowd is there.
func (o *origin) complete() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.crowd.hold == 0
}

// release ends the wait for the crowd, and says how many of it are missing. The term
// may be over, and who leads now knows nothing of those that came meanwhile.
func (o *origin) release() (missing int) {
	o.mu.Lock()
	missing = o.crowd.hold - o.callers()
	o.crowd.hold = 0
	signal := o.signal
	o.mu.Unlock()
	signal()
	return missing
}

// lingerHere waits until as many callers of this node wait as there were when the
// flight's were answered. When less than half of them came, it doesn't for a while.
func (t *term) lingerHere(f *flight) {
	o := t.node.origin
	missing := o.awaitCrowd()
	if missing <= 0 {
		return
	}
	if t.passes > 0 {
		t.passes--
		o.release()
		runtime.Gosched() // those just answered may have more: let them put it into the same entry
		return
	}
	timer := time.NewTimer(min(time.Since(f.began), lingerMax))
	defer timer.Stop()
	for !o.complete() {
		select {
		case <-t.wake:
			continue
		case <-timer.C:
		case <-t.over:
		}
		if o.release() > missing/2 {
			t.passes = crowdPasses
		}
	}
}
