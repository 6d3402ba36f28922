package replica

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
)

// origin is this boot of the node as a source of numbered batches. It holds what
// waits, numbers what is sent, and keeps what was sent until its result is
// known. The rules that make a command run exactly once:
//
//   - a number that was sent is never skipped: it is sent again, with the same
//     commands, until its result is known; what nobody waits for any more is sent
//     again as a cancel;
//   - only a batch that certainly is in no log, and in no leader's hands, may
//     lose commands whose callers were told "not executed".
//
// The target is where batches go: a term of this node (term.go), or a link to
// the node that leads (link.go). Only the present target is given batches.
type origin struct {
	mu       sync.Mutex
	cfg      *Config
	stats    *Stats
	costs    *costs
	id       uint64 // 0 while none is open
	next     uint64 // number of the next new batch
	inflight []*batch
	quick    []*part // waits in no batch yet
	costly   []*part // likewise: each runs a script that is costly or unknown
	bulky    []*part // likewise: their replies may be large, and there is no room for such
	waiting  int     // commands in quick, costly and bulky
	bytes    int64   // of them
	target   any
	signal   func()  // tells the target that there may be something to take
	reopen   func()  // asks for a new id
	replies  *Budget // while it has no room, bulky parts wait: see bulky.go
	waits    waits
	crowd    crowd
	isShut   bool
}

// part is what one caller submitted; it is in one batch whole.
type part struct {
	client fsm.Client
	cmds   []fsm.Command
	size   int
	cost   int64        // expected script instructions
	heavy  bool         // it was put off before: it goes as costly scripts do
	bulky  bool         // its replies may be large
	done   chan outcome // of capacity 2
	batch  *batch       // nil while it waits
	quit   bool         // its caller was told that the outcome is unknown

	ctx    context.Context
	began  time.Time
	nudged atomic.Bool // a look is in done
}

// outcome is what a part came to, or only a reason to look.
type outcome struct {
	answers []fsm.Answer
	err     error
	look    bool
}

// batch is one number of the origin.
type batch struct {
	number  uint64
	parts   []*part
	size    int
	sent    bool // to the present target, which owes a result
	exposed bool // a copy of it may be in a log or in a leader's hands
	before  bool // exposed, before it was last sent
	costly  bool // it carries a script that is costly or unknown
	bulky   bool // its replies may be large
	settled []uint64
}

func newOrigin(cfg *Config, stats *Stats, costs *costs) *origin {
	return &origin{
		cfg: cfg, stats: stats, costs: costs, next: 1, signal: func() {}, reopen: func() {},
		replies: NewBudget(RepliesMax), waits: waits{open: map[uint64]*wait{}},
	}
}

// submit puts a part in the queue.
func (o *origin) submit(p *part) error {
	p.size, p.cost = 64, 0
	for i := range p.cmds {
		p.size += p.cmds[i].Size()
		p.cost += o.costs.of(&p.cmds[i])
		p.bulky = p.bulky || o.costs.bulky(&p.cmds[i])
	}
	o.mu.Lock()
	if o.isShut {
		o.mu.Unlock()
		return ErrClosed // nobody would see to it any more
	}
	if o.bytes+int64(p.size) > o.cfg.QueueBytes && o.waiting > 0 || o.waiting+len(p.cmds) > o.cfg.QueueCommands && o.waiting > 0 {
		o.mu.Unlock()
		return ErrTooBusy
	}
	if p.heavy || p.cost >= costlyScript {
		o.costly = append(o.costly, p)
	} else {
		o.quick = append(o.quick, p)
	}
	o.count(p, 1)
	signal := o.signal
	if !o.crowd.wakes(o.callers()) {
		signal = func() {}
	}
	o.mu.Unlock()
	signal()
	return nil
}

// callers is how many wait in no batch yet. The lock is held.
func (o *origin) callers() int { return len(o.quick) + len(o.costly) + len(o.bulky) }

func (o *origin) count(p *part, sign int) {
	o.waiting += sign * len(p.cmds)
	o.bytes += int64(sign * p.size)
	o.stats.QueueCommands.Store(int64(o.waiting))
	o.stats.QueueBytes.Store(o.bytes)
}

// aim makes target the place where batches go; nil is nowhere. All that has no
// result yet is sent again there.
func (o *origin) aim(target any, signal func()) {
	o.mu.Lock()
	if o.target == target {
		o.mu.Unlock()
		return
	}
	o.target, o.signal, o.crowd = target, signal, crowd{}
	if signal == nil {
		o.signal = func() {}
	}
	for _, b := range o.inflight {
		b.sent = false
	}
	signal = o.signal
	o.mu.Unlock()
	signal()
}

// opened sets the id under which batches are numbered from 1.
func (o *origin) opened(id uint64) {
	o.mu.Lock()
	if o.id != 0 || id == 0 {
		o.mu.Unlock()
		return
	}
	o.id, o.next = id, 1
	signal := o.signal
	o.mu.Unlock()
	signal()
}

// isOpen says whether the origin has an id.
func (o *origin) isOpen() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.id != 0
}

// take gives target the next batch to send, nil if there is none or if the next
// one is larger than room. A batch of its own size always fits an empty entry:
// then room is fsm.BatchBytes.
func (o *origin) take(target any, room int) *fsm.Batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.target != target || o.id == 0 {
		return nil
	}
	for _, b := range o.inflight {
		if !b.sent {
			if b.size > room && room < fsm.BatchBytes {
				return nil
			}
			o.stats.BatchesResent.Add(1)
			return o.send(b)
		}
	}
	if len(o.inflight) >= o.cfg.BatchesInFlight {
		return nil
	}
	b := o.gather(room)
	if b == nil && o.waits.urgent {
		b = &batch{number: o.next}
	}
	if b == nil {
		return nil
	}
	b.settled = o.waits.takeSettled()
	o.inflight = append(o.inflight, b)
	o.next++
	return o.send(b)
}

// gather makes a new batch of all quick commands that fit, and one costly one
// if none is in flight: an entry can carry several batches of a node, and what is
// quick should wait for few costly scripts.
func (o *origin) gather(room int) *batch {
	b := &batch{number: o.next}
	budget := int64(scriptBudget)
	crowded := o.replies.spent() || o.replies.half() && slices.ContainsFunc(o.inflight, func(b *batch) bool { return b.bulky })
	o.sortBulky(crowded)
	o.quick = o.fill(b, o.quick, room, &budget)
	busy := slices.ContainsFunc(o.inflight, func(b *batch) bool { return b.costly })
	for len(o.costly) > 0 && !busy {
		p := o.costly[0]
		if crowded && p.bulky {
			break
		}
		p.cost = 0
		for i := range p.cmds {
			p.cost += o.costs.of(&p.cmds[i])
		}
		if !b.fits(p, room) || p.cost > budget && len(b.parts) > 0 && p.cost < costlyScript && !p.heavy {
			break
		}
		o.costly = o.costly[1:]
		o.add(b, p)
		budget -= p.cost
		if p.heavy || p.cost >= costlyScript {
			b.costly = true
			break // known to be quick by now, more of them may come along
		}
	}
	if len(b.parts) == 0 {
		return nil
	}
	return b
}

func (o *origin) fill(b *batch, queue []*part, room int, budget *int64) []*part {
	n := 0
	for n < len(queue) {
		p := queue[n]
		if !b.fits(p, room) || p.cost > *budget {
			break
		}
		*budget -= p.cost
		o.add(b, p)
		n++
	}
	if n == len(queue) {
		clear(queue)
		return queue[:0]
	}
	return queue[n:]
}

func (b *batch) fits(p *part, room int) bool {
	return b.size+p.size <= room || len(b.parts) == 0 && room >= fsm.BatchBytes
}

func (o *origin) add(b *batch, p *part) {
	o.count(p, -1)
	p.batch = b
	b.bulky = b.bulky || p.bulky
	b.parts = append(b.parts, p)
	b.size += p.size
}

// send marks a batch as sent and makes what travels.
func (o *origin) send(b *batch) *fsm.Batch {
	b.sent, b.before, b.exposed = true, b.exposed, true
	o.stats.BatchesSent.Add(1)
	out := &fsm.Batch{Origin: o.id, Number: b.number, Acked: o.inflight[0].number - 1, Settled: b.settled}
	if len(b.parts) > 0 && !slices.ContainsFunc(b.parts, func(p *part) bool { return !p.quit }) {
		out.Cancel = true
		o.stats.BatchesCancelled.Add(1)
		return out
	}
	commands := 0
	for _, p := range b.parts {
		commands += len(p.cmds)
	}
	out.Clients, out.Commands = make([]fsm.Client, 0, len(b.parts)), make([]fsm.Command, 0, commands)
	for _, p := range b.parts {
		out.Clients = append(out.Clients, p.client)
		for i := range p.cmds {
			c := p.cmds[i]
			c.Client = uint32(len(out.Clients) - 1)
			out.Commands = append(out.Commands, c)
		}
	}
	return out
}

// lost says that target has no result for a number: certainly not appended to
// the log, or nobody knows.
func (o *origin) lost(target any, id, number uint64, certain bool) {
	o.mu.Lock()
	if o.target != target || o.id != id {
		o.mu.Unlock()
		return
	}
	for _, b := range o.inflight {
		if b.number == number && b.sent {
			b.sent = false
			if certain {
				b.exposed = b.before
			}
		}
	}
	o.mu.Unlock()
}

// resolve takes a result, from whoever brings it first.
func (o *origin) resolve(res *fsm.BatchResult) {
	o.mu.Lock()
	if res.Origin != o.id || o.id == 0 {
		o.mu.Unlock()
		return
	}
	if res.Status == fsm.Closed {
		o.closed()
		return
	}
	i := slices.IndexFunc(o.inflight, func(b *batch) bool { return b.number == res.Number })
	if i < 0 {
		o.mu.Unlock()
		return
	}
	b := o.inflight[i]
	signal := o.signal
	if res.Status == fsm.Refused {
		// A number before it is missing: all of them go again, in order.
		b.sent = false
		o.mu.Unlock()
		signal()
		return
	}
	o.inflight = slices.Delete(o.inflight, i, i+1)
	o.crowd.answers(len(b.parts), o.callers())
	o.mu.Unlock()
	o.answer(b, res)
	signal()
}

// answer hands the answers of a batch to those who wait for its parts.
func (o *origin) answer(b *batch, res *fsm.BatchResult) {
	answers, known := res.Answers, res.Status == fsm.Done
	for _, p := range b.parts {
		if !known || len(answers) < len(p.cmds) {
			p.done <- outcome{err: ErrUnknownOutcome}
			continue
		}
		for i := range p.cmds {
			if p.cost > 0 {
				o.costs.note(&p.cmds[i], &answers[i])
			}
		}
		o.noteWaits(p, answers, res.Origin, res.Number)
		p.done <- outcome{answers: answers[:len(p.cmds):len(p.cmds)]}
		answers = answers[len(p.cmds):]
	}
}

// closed ends the id: the machine knows it no more. What was sent under it may
// have been executed; what was not is sent under the next. It unlocks o.mu.
func (o *origin) closed() {
	old := o.inflight
	lost := o.waits.lose(o.id)
	o.inflight, o.id = nil, 0
	var unknown, back []*part
	for _, b := range old {
		for _, p := range b.parts {
			if b.exposed {
				unknown = append(unknown, p)
				continue
			}
			p.batch = nil
			o.count(p, 1)
			back = append(back, p)
		}
	}
	o.quick = append(back, o.quick...)
	reopen := o.reopen
	o.mu.Unlock()
	for _, p := range unknown {
		p.done <- outcome{err: ErrUnknownOutcome}
	}
	for _, w := range lost {
		w.wake()
	}
	reopen()
}

// giveUp is called by a part's caller that does not want to wait any longer. It
// says whether the part was certainly not executed and never will be. If not
// and for good, nobody waits for it any more; else it may be asked again later.
func (o *origin) giveUp(p *part, good bool) (certain bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case p.batch == nil:
		if !dequeue(&o.quick, p) && !dequeue(&o.costly, p) && !dequeue(&o.bulky, p) {
			return false // its result is on the way
		}
		o.count(p, -1)
		return true
	case !p.batch.exposed:
		p.batch.parts = slices.DeleteFunc(p.batch.parts, func(x *part) bool { return x == p })
		p.batch.size -= p.size
		return true
	}
	p.quit = p.quit || good
	return false
}

func dequeue(queue *[]*part, p *part) bool {
	i := slices.Index(*queue, p)
	if i < 0 {
		return false
	}
	*queue = slices.Delete(*queue, i, i+1)
	return true
}

// hasTarget says whether batches go anywhere at present.
func (o *origin) hasTarget() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.target != nil && o.id != 0
}

// pending says whether the present target owes results, and since when nothing
// changed: the oldest number and how many there are.
func (o *origin) pending(target any) (oldest uint64, owed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.target != target {
		return 0, false
	}
	for _, b := range o.inflight {
		if b.sent {
			return b.number, true
		}
	}
	return 0, false
}

// unaim takes a target away, if it is the present one.
func (o *origin) unaim(target any) {
	o.mu.Lock()
	if o.target == target {
		o.target, o.signal = nil, func() {}
		for _, b := range o.inflight {
			b.sent = false
		}
	}
	o.mu.Unlock()
}
