package replica

import (
	"context"
	"time"

	"github.com/redfence/redfence/fsm"
)

// submit sends commands that travel together through the log and waits. Heavy
// are those that were put off before.
func (n *Node) submit(ctx context.Context, client fsm.Client, cmds []fsm.Command, heavy bool) ([]fsm.Answer, error) {
	if n.isClosed() {
		return nil, ErrClosed
	}
	p := newPart(ctx, cmds)
	p.client, p.heavy = client, heavy
	if err := n.origin.submit(p); err != nil {
		return nil, n.counted(err, len(cmds))
	}
	for {
		out := <-p.done
		if !out.look {
			return out.answers, n.counted(out.err, len(cmds))
		}
		if answers, err, ended := n.look(p); ended {
			return answers, err
		}
	}
}

// look is what the caller of a part does when it is nudged: it goes on waiting, or
// gives up.
func (n *Node) look(p *part) (answers []fsm.Answer, err error, ended bool) {
	p.nudged.Store(false)
	certain := ErrTooBusy
	switch waited := time.Since(p.began); {
	case p.ctx.Err() != nil:
		certain = p.ctx.Err()
	case n.isClosed():
		certain = ErrClosed
	case waited < n.cfg.NoLeaderWait:
		return nil, nil, false
	case !n.hasLeader() && n.origin.giveUp(p, false):
		return nil, n.counted(ErrNoLeader, len(p.cmds)), true
	case waited < n.cfg.NoLeaderWait+n.cfg.AnswerWait:
		return nil, nil, false
	case !n.hasLeader():
		certain = ErrNoLeader
	}
	answers, err = n.abandon(p, certain)
	return answers, err, true
}

// abandon ends the wait for a part for good.
func (n *Node) abandon(p *part, certain error) ([]fsm.Answer, error) {
	if n.origin.giveUp(p, true) {
		return nil, n.counted(certain, len(p.cmds))
	}
	for {
		select {
		case out := <-p.done: // it came in this instant
			if out.look {
				continue
			}
			return out.answers, n.counted(out.err, len(p.cmds))
		default:
			return nil, n.counted(ErrUnknownOutcome, len(p.cmds))
		}
	}
}

// oversee nudges the callers that have waited long and those whose context has ended,
// with each step of the clock: a timer and a select for each command were a twentieth
// of a busy leader's time.
func (n *Node) oversee() {
	late := time.Now().Add(-n.cfg.NoLeaderWait)
	n.origin.nudge(func(p *part) bool { return p.began.Before(late) || p.ctx.Err() != nil })
}

// shut takes no more parts, and makes all callers look.
func (o *origin) shut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.isShut = true
	o.nudgeLocked(func(*part) bool { return true })
}

// nudge nudges the callers that are due, of all parts without a result.
func (o *origin) nudge(due func(*part) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.nudgeLocked(due)
}

func (o *origin) nudgeLocked(due func(*part) bool) {
	wake := func(parts []*part) {
		for _, p := range parts {
			if !p.quit && due(p) {
				p.nudge()
			}
		}
	}
	wake(o.quick)
	wake(o.costly)
	wake(o.bulky)
	for _, b := range o.inflight {
		wake(b.parts)
	}
}

// nudge makes the part's caller look whether it should go on waiting.
func (p *part) nudge() {
	if p.nudged.CompareAndSwap(false, true) {
		p.done <- outcome{look: true} // there is room for one beside the result
	}
}

func newPart(ctx context.Context, cmds []fsm.Command) *part {
	return &part{ctx: ctx, cmds: cmds, began: time.Now(), done: make(chan outcome, 2)}
}
