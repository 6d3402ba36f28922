package replica

import (
	"sync"
	"time"

	"github.com/redfence/redfence/fsm"
)

// presence is when the leader last heard of each other node, in time that the
// leader has counted: one that was stopped has not heard anybody meanwhile either.
type presence struct {
	mu    sync.Mutex
	began time.Duration // of the term
	heard map[string]time.Duration
}

// begin starts a term: nobody has been silent in it yet.
func (p *presence) begin(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began, p.heard = now, map[string]time.Duration{}
}

func (p *presence) note(node string, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.heard != nil {
		p.heard[node] = now
	}
}

// silence is for how long a node has said nothing in this term.
func (p *presence) silence(node string, now time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now - max(p.began, p.heard[node])
}

// endSilentWaits ends the waits of nodes that are out of touch, for as long as
// the term lasts: whoever waits there may be gone, and must not be served in the
// place of somebody who waits elsewhere.
func (n *Node) endSilentWaits(t *term) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.over:
			return
		case <-tick.C:
		}
		var waiting []fsm.WaitingOrigin
		n.machine.look(func(s *fsm.State) { waiting = s.WaitingOrigins() })
		for _, o := range waiting {
			silence := n.presence.silence(o.Node, n.clock.counted())
			if o.Node == n.cfg.NodeID || silence <= waitSilenceMax {
				continue
			}
			n.log.Warn("a node is out of touch: what waits there ends", "of", o.Node, "silent", silence, "commands", o.Commands)
			if _, err := t.order(fsm.Entry{Kind: fsm.LoseWaits, Lost: o.ID}); err != nil {
				n.log.Info("waits of a silent node: trying again", "of", o.Node, "error", err)
			}
		}
	}
}
