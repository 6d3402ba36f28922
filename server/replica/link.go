package replica

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
)

// link is this node's connection to the node that leads. Batches and reads go
// out on it; results come back as soon as the leader has applied them.
type link struct {
	node    *Node
	leader  string
	out     *outbox
	conn    net.Conn
	ready   chan struct{} // the origin may have something to take
	broken  chan struct{}
	serving atomic.Bool
	heard   atomic.Int64      // counted time when the leader last sent anything
	opened  chan openedOrigin // of capacity 1

	mu     sync.Mutex
	lastID uint64
	reads  map[uint64]chan readResult
	asked  time.Duration // counted time when the oldest batch of reads began to wait, if any does
	dead   bool
}

type openedOrigin struct{ boot, id uint64 }

// follower keeps a link to whoever leads.
type follower struct {
	mu   sync.Mutex
	want string // the node that leads; "" if it is this one or nobody knows
	link *link
	wake chan struct{}
}

// follow says who leads. An old link is kept while nobody is known to.
func (f *follower) follow(leader string) {
	f.mu.Lock()
	changed := f.want != leader
	f.want = leader
	l := f.link
	f.mu.Unlock()
	if !changed {
		return
	}
	if l != nil && l.leader != leader {
		l.out.close()
	}
	poke(f.wake)
}

func (f *follower) wanted() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.want
}

func (f *follower) current() *link {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.link
}

func (f *follower) set(l *link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link = l
}

// runLinks dials the leader, and again when the link breaks, until stop.
func (n *Node) runLinks() {
	wait := linkRetryMin
	for {
		leader := n.follower.wanted()
		if leader != "" {
			made, err := n.runLink(leader)
			if err != nil {
				n.log.Debug("no link to the leader", "leader", leader, "error", err)
			}
			if made {
				wait = linkRetryMin
			}
		}
		var retry <-chan time.Time
		if n.follower.wanted() != "" {
			retry = time.After(wait)
			wait = min(2*wait, linkRetryMax)
		}
		select {
		case <-n.stop:
			return
		case <-n.follower.wake:
			wait = linkRetryMin
		case <-retry:
		}
	}
}

// runLink runs one link until it breaks, and says whether it was made at all.
func (n *Node) runLink(leader string) (made bool, err error) {
	ctx, cancel := context.WithTimeout(n.life, controlTimeout)
	defer cancel()
	conn, err := n.port.dial(ctx, kindLink, leader)
	if err != nil {
		return false, err
	}
	n.stats.LinksMade.Add(1)
	l := &link{
		node: n, leader: leader, conn: conn, out: newOutbox(conn),
		ready: make(chan struct{}, 1), broken: make(chan struct{}),
		opened: make(chan openedOrigin, 1), reads: map[uint64]chan readResult{},
	}
	n.follower.set(l)
	defer l.end()
	if n.follower.wanted() != leader {
		return true, nil
	}
	go l.out.run()
	go l.forward()
	l.tellInfo()
	r := bufio.NewReaderSize(conn, 64<<10)
	for {
		typ, body, err := readFrame(r, frameMax)
		l.heard.Store(int64(n.clock.counted()))
		if err == nil {
			err = l.handle(typ, body)
		}
		if err != nil {
			return true, err
		}
	}
}

// end takes the link out of use. What was sent on it may have arrived.
func (l *link) end() {
	l.node.follower.set(nil)
	l.serving.Store(false)
	l.node.origin.unaim(l)
	l.out.close()
	close(l.broken)
	l.mu.Lock()
	l.dead = true
	reads := l.reads
	l.reads = nil
	l.mu.Unlock()
	for _, c := range reads {
		c <- readResult{}
	}
}

// tellInfo tells the leader where this node serves, and what it wants to be told.
func (l *link) tellInfo() {
	info := linkInfo{Member: l.node.ownRecord()}
	l.out.send(frameInfo, func(b []byte) []byte {
		// Looked at where frames get their order: the last one must say how things are.
		info.KeyEvents, info.Listens = l.node.ownKeyEvents.Load(), l.node.listens.Load()
		return appendInfo(b, &info)
	})
}

func (l *link) handle(typ byte, body []byte) error {
	switch typ {
	case frameServing:
		l.serves()
		return nil
	case frameStopped:
		l.serving.Store(false)
		l.node.origin.unaim(l)
		return nil
	case frameResult:
		res, err := decodeResult(body)
		if err == nil {
			l.node.origin.resolve(&res)
		}
		return err
	case frameWoken:
		w, err := decodeWoken(body)
		if err == nil {
			l.node.origin.woken(&w)
		}
		return err
	case frameLost:
		lost, err := decodeLost(body)
		if err == nil {
			l.node.origin.lost(l, lost.Origin, lost.Number, lost.Certain)
			// The leader may go on leading, so nobody else may wake the sender.
			time.AfterFunc(readRetryWait, func() { poke(l.ready) })
		}
		return err
	case frameAnswer:
		return l.answer(body)
	case frameEvents:
		push, err := decodeEvents(body)
		if err == nil {
			l.node.feed.pushed(&push, l.node.ownKeyEvents.Load())
		}
		return err
	case frameOpened:
		f := fields{b: body}
		o := openedOrigin{f.uint(), f.uint()}
		select {
		case l.opened <- o:
		default: // nobody asked
		}
		return f.end()
	}
	return errBadFrame
}

// serves begins, or begins again in a new term: what has no result is sent anew.
func (l *link) serves() {
	l.serving.Store(true)
	l.node.served.Store(true)
	l.node.origin.unaim(l)
	l.node.origin.aim(l, func() { poke(l.ready) })
	poke(l.node.openDue)
}

// forward sends batches as the origin's window allows. It breaks a link on
// which the leader stays silent: the batches then go again on another one.
func (l *link) forward() {
	ticker := time.NewTicker(linkSilenceMax / 4)
	defer ticker.Stop()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	var waitsFor uint64
	var since time.Duration
	for {
		select {
		case <-l.broken:
			return
		case <-l.ready:
			runtime.Gosched() // those just answered may have more: let them put it into the same batch
			for {
				b := l.node.origin.take(l, fsm.BatchBytes)
				if b == nil {
					break
				}
				l.out.send(frameSubmit, func(buf []byte) []byte { return fsm.AppendBatch(buf, b) })
			}
		case <-alive.C:
			l.out.send(frameAlive, nil)
		case <-ticker.C:
			now := l.node.clock.counted()
			oldest, owed := l.node.origin.pending(l)
			if !owed || oldest != waitsFor {
				waitsFor, since = oldest, now
			}
			if now-since > linkSilenceMax || l.oldestRead(now) > linkSilenceMax && now-time.Duration(l.heard.Load()) > linkSilenceMax {
				l.node.log.Warn("the leader leaves commands unanswered: the link is made anew", "leader", l.leader)
				l.out.close()
			}
		}
	}
}

// oldestRead is for how long reads have waited without a pause.
func (l *link) oldestRead(now time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.reads) == 0 {
		return 0
	}
	return now - l.asked
}

func (l *link) answer(body []byte) error {
	res, err := decodeReadResult(body)
	if err != nil {
		return err
	}
	l.mu.Lock()
	c := l.reads[res.id]
	delete(l.reads, res.id)
	l.mu.Unlock()
	if c != nil {
		c <- res
	}
	return nil
}

// readThere asks the leader for lone reads. It answers as many as there was room
// for on both sides.
func (n *Node) readThere(ctx context.Context, client *fsm.Client, cmds []fsm.Command, share *Share) ([]fsm.Answer, error) {
	l := n.follower.current()
	if l == nil || !l.serving.Load() {
		return nil, errNotLeading
	}
	req := readRequest{client: *client, cmds: cmds}
	c := make(chan readResult, 1)
	l.mu.Lock()
	if l.dead {
		l.mu.Unlock()
		return nil, errNotLeading
	}
	l.lastID++
	req.id = l.lastID
	if len(l.reads) == 0 {
		l.asked = n.clock.counted()
	}
	l.reads[req.id] = c
	l.mu.Unlock()
	n.stats.ReadsForwarded.Add(uint64(len(cmds)))
	l.out.send(frameRead, func(b []byte) []byte { return appendRead(b, &req) })
	select {
	case res := <-c:
		if !res.ok || len(res.answers) == 0 || len(res.answers) > len(cmds) {
			return nil, errNotLeading
		}
		defer share.Trim()
		if size := footprints(res.answers); !share.Add(size) {
			return nil, &noRoomError{size}
		}
		return res.answers, nil
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.reads, req.id)
		l.mu.Unlock()
		return nil, ctx.Err()
	case <-n.stop:
		return nil, ErrClosed
	}
}

// open asks the leader to open an origin for a boot of this node.
func (l *link) open(disk string, boot uint64) uint64 {
	l.out.send(frameOpen, func(b []byte) []byte { return binary.AppendUvarint(appendString(b, disk), boot) })
	timer := time.NewTimer(linkSilenceMax)
	defer timer.Stop()
	for {
		select {
		case o := <-l.opened:
			if o.boot == boot {
				return o.id
			}
		case <-l.broken:
			return 0
		case <-timer.C:
			return 0
		}
	}
}
