package replica

import "time"

// Commands of one node tend to split into two crowds: while one is in an entry
// the other gathers for the next, so that each command waits for two commits.
// On the leader that is easily avoided: whoever was just answered is asked once
// more before the next entry is made. For another node the leader lingers a
// little, if that node has lately come back at once.

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
