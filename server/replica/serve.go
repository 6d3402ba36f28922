package replica

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
)

// guest is another node's link at this one: it brings batches and reads, and
// takes results and events away. It is of use while this node leads, and stays
// open while it doesn't.
type guest struct {
	node    *Node
	id      string // of the other node
	out     *outbox
	batches atomic.Int64 // submitted and not answered
	reads   atomic.Int64
	keys    atomic.Bool // it wants KeyChanged events
	listens bool        // it wants events at all; guarded by pushes

	sent     atomic.Uint64 // batches that came from it
	answered atomic.Int64  // when it was last answered, since the start of this node
	prompt   atomic.Bool   // its last batch came soon after that: see linger
}

// guests are the open links of other nodes.
type guests struct {
	mu       sync.Mutex
	all      map[*guest]bool
	byOrigin map[uint64]*guest // who last submitted under an origin
}

func newGuests() *guests {
	return &guests{all: map[*guest]bool{}, byOrigin: map[uint64]*guest{}}
}

func (gs *guests) add(g *guest) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	gs.all[g] = true
}

func (gs *guests) remove(g *guest) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	delete(gs.all, g)
	maps.DeleteFunc(gs.byOrigin, func(_ uint64, owner *guest) bool { return owner == g })
}

func (gs *guests) own(origin uint64, g *guest) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.all[g] {
		gs.byOrigin[origin] = g
	}
}

func (gs *guests) ofOrigin(origin uint64) *guest {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	return gs.byOrigin[origin]
}

// ofNode are the links of a node: an old one may not have broken yet.
func (gs *guests) ofNode(node string) []*guest {
	return slices.DeleteFunc(gs.list(), func(g *guest) bool { return g.id != node })
}

func (gs *guests) list() []*guest {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	return slices.Collect(maps.Keys(gs.all))
}

// host runs the link of another node until it breaks.
func (n *Node) host(conn net.Conn, node string) {
	g := &guest{node: n, id: node, out: newOutbox(conn)}
	n.guests.add(g)
	defer func() {
		n.guests.remove(g)
		g.out.close()
		n.tuneKeyEvents()
	}()
	go g.out.run()
	if t := n.serving.Load(); t != nil {
		g.announce(t)
	}
	r := bufio.NewReaderSize(conn, 64<<10)
	for {
		typ, body, err := readFrame(r, frameMax)
		if err != nil {
			return
		}
		if err := g.handle(typ, body); err != nil {
			n.log.Warn("a link of another node is closed", "node", node, "error", err)
			return
		}
	}
}

func (g *guest) announce(t *term) {
	g.out.send(frameServing, func(b []byte) []byte { return binary.AppendUvarint(b, t.number) })
}

func (g *guest) handle(typ byte, body []byte) error {
	g.node.presence.note(g.id, g.node.clock.counted())
	switch typ {
	case frameAlive:
		return nil
	case frameSubmit:
		return g.submit(body)
	case frameRead:
		return g.read(body)
	case frameOpen:
		return g.open(body)
	case frameInfo:
		return g.info(body)
	}
	return errBadFrame
}

func (g *guest) submit(body []byte) error {
	if len(body) > entryMax {
		return errFrameTooLong
	}
	b, err := fsm.DecodeBatch(body)
	if err != nil {
		return err
	}
	if g.batches.Add(1) > batchesPerLink {
		return errBadFrame // our own nodes never send so many
	}
	g.node.stats.BatchesForwarded.Add(1)
	g.cameBack()
	g.node.guests.own(b.Origin, g)
	t := g.node.serving.Load()
	if t == nil {
		r := remoteBatch{batch: b, from: g}
		r.lost(true)
		return nil
	}
	t.submit(b, g)
	return nil
}

// result sends what became of a batch.
func (g *guest) result(res *fsm.BatchResult) {
	g.settled()
	g.answered.Store(int64(time.Since(g.node.started)))
	size := 0
	for i := range res.Answers {
		size += res.Answers[i].Value.Size()
	}
	if size > frameMax/2 {
		// It can't travel. The machine keeps such a reply as unknown, too.
		short := *res
		short.Answers = make([]fsm.Answer, len(res.Answers))
		for i := range short.Answers {
			short.Answers[i].Value = fsm.ErrUnknownOutcome
		}
		res = &short
	}
	g.out.send(frameResult, func(b []byte) []byte { return appendResult(b, res) })
}

// settled counts a submitted batch as answered; one that was submitted on an
// earlier link counts nothing.
func (g *guest) settled() {
	if g.batches.Add(-1) < 0 {
		g.batches.Add(1)
	}
}

func (g *guest) read(body []byte) error {
	req, err := decodeRead(body)
	if err != nil || !loneReads(req.cmds) {
		return errBadFrame
	}
	if g.reads.Add(1) > readsPerLink {
		return errBadFrame
	}
	go func() {
		defer g.reads.Add(-1)
		g.answer(req)
	}()
	return nil
}

// answer answers another node's reads. What was made counts as replies until the
// link has taken it.
func (g *guest) answer(req *readRequest) {
	ctx, cancel := context.WithTimeout(g.node.life, g.node.cfg.AnswerWait)
	defer cancel()
	share := g.node.replies.Share()
	defer share.Release()
	answers, err := g.node.readHere(ctx, &req.client, req.cmds, share)
	var room *noRoomError
	for errors.As(err, &room) {
		if err = share.Wait(ctx, room.size); err == nil {
			answers, err = g.node.readHere(ctx, &req.client, req.cmds, share)
		}
	}
	res := readResult{id: req.id, ok: err == nil, answers: answers}
	if errors.Is(err, ErrRepliesFull) {
		res.ok, res.answers = true, []fsm.Answer{{Value: errRepliesFull}}
	}
	if share.Counted() && !g.out.await(ctx, linkAnswersMax) {
		res = readResult{id: req.id}
	}
	g.out.send(frameAnswer, func(b []byte) []byte { return appendReadResult(b, &res) })
}

// open opens an origin for the other node's boot.
func (g *guest) open(body []byte) error {
	f := fields{b: body}
	o := fsm.Open{Node: g.id, Disk: f.string(), Boot: f.uint()}
	if err := f.end(); err != nil {
		return err
	}
	go func() {
		id := uint64(0)
		if t := g.node.serving.Load(); t != nil {
			if applied, err := t.order(fsm.Entry{Kind: fsm.OpenOrigin, Open: o}); err == nil {
				id = applied.origin
			}
		}
		g.out.send(frameOpened, func(b []byte) []byte {
			return binary.AppendUvarint(binary.AppendUvarint(b, o.Boot), id)
		})
	}()
	return nil
}

func (g *guest) info(body []byte) error {
	var info linkInfo
	if err := json.Unmarshal(body, &info); err != nil || info.Member.Node != g.id {
		return errBadFrame
	}
	g.keys.Store(info.KeyEvents)
	g.node.tuneKeyEvents()
	g.node.pushes.setListens(g, info.Listens)
	g.node.heard(info.Member)
	return nil
}

// deliver takes what an entry of a size came to, in log order: events to who
// listens, results to who waits for them. Events go first: who is answered has been told.
func (n *Node) deliver(size int, res *fsm.Result, keyEvents bool) {
	prev := n.feed.applied(res.Index, res.Events)
	if len(res.Events) > 0 && n.serving.Load() != nil {
		n.pushes.push(n.guests.list(), eventsPush{prev, res.Index, keyEvents, res.Events}, size)
	}
	for i := range res.Woken {
		n.origin.woken(&res.Woken[i])
		if t := n.serving.Load(); t != nil {
			t.wakeAt(n.guests.ofNode(res.Woken[i].Node), &res.Woken[i])
		}
	}
	for i := range res.Batches {
		b := &res.Batches[i]
		n.origin.resolve(b)
		if g := n.guests.ofOrigin(b.Origin); g != nil {
			g.result(b)
		}
	}
	n.complain(res.Index, res)
}

// wakeAt tells a waiter's node what its command came to. A large reply isn't sent:
// an entry follows, and the node learns by it that it may make the reply itself.
func (t *term) wakeAt(guests []*guest, w *fsm.Woken) {
	if len(guests) > 0 && w.Answer.Value.Size() > wokenPushMax {
		t.owes.Store(true)
		poke(t.wake)
		return
	}
	for _, g := range guests {
		g.out.send(frameWoken, func(b []byte) []byte { return appendWoken(b, w) })
	}
}

// tuneKeyEvents makes KeyChanged events while anybody here or at a link wants them.
func (n *Node) tuneKeyEvents() {
	want := n.ownKeyEvents.Load()
	for _, g := range n.guests.list() {
		want = want || g.keys.Load()
	}
	if want != n.machine.wantKeys.Load() {
		n.machine.setKeyEvents(want)
	}
}
