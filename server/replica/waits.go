package replica

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redfence/redfence/fsm"
)

// Waiting is a command that waits in the machine. Its methods may be called from
// any goroutine.
type Waiting interface {
	// Answer is the command's answer, once it has one: ok is false before.
	Answer() (a fsm.Answer, ok bool)
	// End ends the wait by an entry of the log. It says whether nothing served the
	// command before, and so nothing ever will; if something did, Answer has the
	// answer. After an error nobody can say in time.
	End(ctx context.Context) (unserved bool, err error)
	// Leave says that nobody waits any more for the answer, as when the client is
	// gone. It returns at once; what serves the command meanwhile is lost.
	Leave()
}

// wait is one command of this boot that waits, or may do so soon.
type wait struct {
	node     *Node
	ticket   uint64
	wake     func()        // called once, when there is an answer; it must return soon
	answered chan struct{} // closed then

	// What origin.mu guards.
	answer   fsm.Answer
	id       uint64 // of the origin under which it is known to wait, else 0
	number   uint64 // of the batch that brought it
	restores uint64 // see waits.restores
}

// waits are the commands of this boot that wait, a part of the origin. A wait
// ends with what the machine says of its ticket, from wherever it is heard first:
// the own machine, or the leader's push. Whatever else ends one tells the machine,
// by an entry, or by naming the ticket in the next batch as settled.
type waits struct {
	last     uint64 // ticket
	open     map[uint64]*wait
	settled  []uint64 // to be told with the next batch
	urgent   bool     // one of them may still wait: worth a batch of its own
	restores uint64   // how often the machine was replaced by a snapshot
}

// Block is DoSome for commands of which the last may wait (fsm.Blocking). If it does,
// its answer is fsm.Waits and the Waiting brings the one for the client; else the
// Waiting is nil. Wake is called once there is an answer, perhaps before Block has
// returned: it must return soon.
func (n *Node) Block(ctx context.Context, client fsm.Client, cmds []fsm.Command, share *Share, wake func()) ([]fsm.Answer, Waiting, error) {
	n.describe(&client)
	for i := range cmds {
		if cmds[i].Size() > commandMax {
			return nil, nil, ErrTooLarge
		}
	}
	w := n.origin.beginWait(n, wake)
	last := len(cmds) - 1
	cmds[last].Ticket = w.ticket
	answers, err := n.write(ctx, client, cmds, share)
	if len(answers) == len(cmds) && fsm.IsWaiting(&answers[last]) {
		return answers, w, nil
	}
	// Where its outcome is open it may still begin to wait.
	unsure := errors.Is(err, ErrUnknownOutcome) || err == nil &&
		(len(answers) < len(cmds) || answers[last].Value.Str == fsm.ErrUnknownOutcome.Str)
	n.origin.endWait(w, unsure)
	return answers, nil, err
}

func (w *wait) Answer() (fsm.Answer, bool) {
	select {
	case <-w.answered:
		return w.answer, true
	default:
		return fsm.Answer{}, false
	}
}

func (w *wait) End(ctx context.Context) (unserved bool, err error) {
	answers, err := w.node.Do(ctx, fsm.Client{}, []fsm.Command{{Args: []string{"_unwait", strconv.FormatUint(w.ticket, 10)}}})
	if err == nil && answers[0].Value.Int == 1 {
		w.node.origin.endWait(w, false)
		return true, nil
	}
	limit := time.NewTimer(w.node.cfg.AnswerWait)
	defer limit.Stop()
	if err != nil {
		limit.Stop() // whoever could not be asked brings nothing either
		w.Leave()
		if _, ok := w.Answer(); !ok {
			return false, ErrUnknownOutcome
		}
		return false, nil
	}
	select {
	case <-w.answered: // as a rule it was, by an entry before
		return false, nil
	case <-ctx.Done():
	case <-w.node.stop:
	case <-limit.C:
	}
	w.Leave()
	return false, ErrUnknownOutcome
}

func (w *wait) Leave() { w.node.origin.endWait(w, true) }

func (o *origin) beginWait(n *Node, wake func()) *wait {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waits.last++
	w := &wait{node: n, ticket: o.waits.last, wake: wake, answered: make(chan struct{}), restores: o.waits.restores}
	o.waits.open[w.ticket] = w
	return w
}

// endWait forgets a wait. If it may still wait in the machine, that is told.
func (o *origin) endWait(w *wait, tell bool) {
	o.mu.Lock()
	_, open := o.waits.open[w.ticket]
	delete(o.waits.open, w.ticket)
	tell = tell && open
	if tell {
		o.waits.settled = append(o.waits.settled, w.ticket)
		o.waits.urgent = true
	}
	signal := o.signal
	o.mu.Unlock()
	if tell {
		signal()
	}
}

// woken takes what the machine says of a ticket, from whoever brings it first.
func (o *origin) woken(x *fsm.Woken) {
	o.mu.Lock()
	if x.Origin != o.id || o.id == 0 {
		o.mu.Unlock()
		return
	}
	w := o.waits.answer(x.Ticket, x.Answer)
	if w != nil {
		o.waits.settled = append(o.waits.settled, x.Ticket)
	}
	o.mu.Unlock()
	if w != nil {
		w.wake()
	}
}

// answer ends a wait with its answer. It returns the wait that is to be woken,
// without the lock, or nil. The lock is held.
func (ws *waits) answer(ticket uint64, a fsm.Answer) *wait {
	w := ws.open[ticket]
	if w == nil {
		return nil
	}
	delete(ws.open, ticket)
	w.answer = a
	close(w.answered)
	return w
}

// noteWaits remembers which commands of a part wait now, under an origin's id. If the
// machine was replaced since they were sent, they may have been served in what
// the snapshot stands for.
func (o *origin) noteWaits(p *part, answers []fsm.Answer, id, number uint64) {
	for i := range p.cmds {
		if p.cmds[i].Ticket == 0 || !fsm.IsWaiting(&answers[i]) {
			continue
		}
		o.mu.Lock()
		w := o.waits.open[p.cmds[i].Ticket]
		look := false
		if w != nil {
			w.id, w.number = id, number
			look = w.restores != o.waits.restores
			if o.id != id {
				w = o.waits.answer(w.ticket, fsm.Answer{Value: fsm.ErrUnknownOutcome})
			}
		}
		gone := o.id != id
		o.mu.Unlock()
		switch {
		case w == nil:
		case gone:
			w.wake()
		case look:
			w.node.settleFate(w)
		}
	}
}

// lose ends what waits under an id that is closed: what became of it is not
// known here. It returns whom to wake without the lock, which is held.
func (ws *waits) lose(id uint64) (lost []*wait) {
	for ticket, w := range ws.open {
		if w.id == id {
			lost = append(lost, ws.answer(ticket, fsm.Answer{Value: fsm.ErrUnknownOutcome}))
		}
	}
	ws.settled, ws.urgent = nil, false
	return lost
}

// takeSettled is what the next batch tells.
func (ws *waits) takeSettled() []uint64 {
	out := ws.settled
	if len(out) > settledPerBatch {
		out = out[:settledPerBatch:settledPerBatch]
	}
	ws.settled = ws.settled[len(out):]
	ws.urgent = ws.urgent && len(ws.settled) > 0
	return out
}

// waitsRestored looks up in a machine that came from a snapshot what became of
// those who wait here: entries that woke them may be behind it.
func (n *Node) waitsRestored() {
	o := n.origin
	o.mu.Lock()
	o.waits.restores++
	var look []*wait
	for _, w := range o.waits.open {
		if w.id != 0 {
			look = append(look, w)
		}
	}
	o.mu.Unlock()
	for _, w := range look {
		n.settleFate(w)
	}
}

// settleFate answers a wait that the machine says is over.
func (n *Node) settleFate(w *wait) {
	n.origin.mu.Lock()
	id, number := w.id, w.number
	n.origin.mu.Unlock()
	var fate fsm.Fate
	var a fsm.Answer
	n.machine.look(func(s *fsm.State) { fate, a = s.Fate(id, number, w.ticket) })
	switch fate {
	case fsm.FateWaits, fsm.FateAhead:
		return
	case fsm.FateUnknown:
		a = fsm.Answer{Value: fsm.ErrUnknownOutcome}
	}
	n.origin.woken(&fsm.Woken{Origin: id, Ticket: w.ticket, Answer: a})
}
