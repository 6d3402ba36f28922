package fsm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"github.com/redfence/redfence/fsm/reply"
)

// Waits is what a command answers that begins to wait: its reply comes later, as
// a Woken of its ticket. No command answers a client this.
var Waits = reply.Simple("WAITS")

// IsWaiting says whether an answer is Waits.
func IsWaiting(a *Answer) bool { return a.Value.Kind == Waits.Kind && a.Value.Str == Waits.Str }

// waiter is a command that waits until one of its keys can serve it. It never
// changes, so that a snapshot can keep it.
type waiter struct {
	arrival uint64 // who came first is served first
	origin  uint64
	ticket  uint64 // its number within the origin
	db      *database
	args    []string
	client  Client
	want    want
}

// want is what a blocking command is after.
type want struct {
	keys []string
	kind valueKind // or lockQueue
	// take serves the command from a key that has a value of the kind.
	take func(c *call, key string) reply.Value
	// session is whose lock it is to be, 0 for none.
	session uint64
}

// waiterBytes is what a waiter is taken to cost beside its arguments.
const waiterBytes = 500

func (w *waiter) bytes() int64 { return waitCost(w.args) }

// waitCost is what a waiter with these arguments is counted with: each may be a key, with a queue of its own.
func waitCost(args []string) int64 {
	n := int64(waiterBytes)
	for _, a := range args {
		n += recordBytes + int64(len(a))
	}
	return n
}

// place names a key of any database.
type place struct {
	db  uint16 // database.order
	key string
}

// queueID names the queue of those who wait for a kind of value under a key.
type queueID struct {
	place
	kind valueKind
}

// queue is who waits for one thing, by arrival.
type queue = btree.Map[uint64, *waiter]

// waitedKinds are the kinds of values that somebody can wait for.
var waitedKinds = []valueKind{listKind, zsetKind}

// waiters are all commands that wait. The queues are derived from them.
type waiters struct {
	arrivals uint64 // the last one given
	all      *btree.Map[uint64, *waiter]
	queues   map[queueID]*queue
	kinds    map[valueKind]int // waiters by what they want
	bytes    int64
	// What was brought and not yet looked at, in the order in which it came: by the
	// command at hand, and what an entry had no room to serve. isReady has the same places.
	ready   []place
	isReady map[place]bool
	// What may be had now by who waits for a lock, and who waits with a session.
	freed     []place
	isFreed   map[place]bool
	bySession map[uint64]*queue
	ended     []endedWait // by the command at hand
}

func (ws *waiters) init() {
	ws.all = new(btree.Map[uint64, *waiter])
	ws.queues, ws.kinds, ws.isReady = map[queueID]*queue{}, map[valueKind]int{}, map[place]bool{}
	ws.isFreed, ws.bySession = map[place]bool{}, map[uint64]*queue{}
}

// add puts w at the end of the queues of its keys.
func (ws *waiters) add(w *waiter) {
	ws.all.Set(w.arrival, w)
	ws.bytes += w.bytes()
	ws.kinds[w.want.kind]++
	if id := w.want.session; id != 0 {
		if ws.bySession[id] == nil {
			ws.bySession[id] = new(queue)
		}
		ws.bySession[id].Set(w.arrival, w)
	}
	for _, key := range w.want.keys {
		id := queueID{place{w.db.order, key}, w.want.kind}
		q := ws.queues[id]
		if q == nil {
			q = new(queue)
			ws.queues[id] = q
		}
		q.Set(w.arrival, w)
	}
}

// remove takes w out of its queues. One that is empty goes.
func (ws *waiters) remove(w *waiter) {
	if _, there := ws.all.Delete(w.arrival); !there {
		return
	}
	ws.bytes -= w.bytes()
	ws.kinds[w.want.kind]--
	if q := ws.bySession[w.want.session]; q != nil {
		if q.Delete(w.arrival); q.Len() == 0 {
			delete(ws.bySession, w.want.session)
		}
	}
	for _, key := range w.want.keys {
		id := queueID{place{w.db.order, key}, w.want.kind}
		q := ws.queues[id]
		if q == nil {
			continue // the command names the key twice
		}
		if q.Delete(w.arrival); q.Len() == 0 {
			delete(ws.queues, id)
		}
	}
}

// lockQueues is a copy of who waits for locks, for reads of a ReadCopy.
func (ws *waiters) lockQueues() map[queueID]*queue {
	if ws.kinds[lockQueue] == 0 {
		return nil
	}
	out := map[queueID]*queue{}
	for id, q := range ws.queues {
		if id.kind == lockQueue {
			out[id] = q.Copy()
		}
	}
	return out
}

// full says whether a command that is counted with so many bytes finds no place
// for one of its keys, or at all.
func (ws *waiters) full(d *database, w *want, bytes int64) bool {
	if ws.all.Len() >= WaitersMax || ws.bytes+bytes > WaitersBytesMax {
		return true
	}
	for _, key := range w.keys {
		if q := ws.queues[queueID{place{d.order, key}, w.kind}]; q != nil && q.Len() >= WaitersKeyMax {
			return true
		}
	}
	return false
}

// left says whether something is there that somebody may be served.
func (ws *waiters) left() bool { return len(ws.ready) > 0 || len(ws.freed) > 0 }

// note remembers that r was put, if anybody waits under its key, and anybody for
// its kind of value: whom its key can serve is looked at when the command has
// ended, and may be a value of another kind by then.
func (ws *waiters) note(d *database, r *record) {
	if ws.kinds[r.kind] == 0 {
		return
	}
	p := place{d.order, r.key}
	if ws.isReady[p] {
		return
	}
	for _, kind := range waitedKinds {
		if ws.queues[queueID{p, kind}] != nil {
			ws.ready = append(ws.ready, p)
			ws.isReady[p] = true
			return
		}
	}
}

// unnote forgets what was noted after the first n.
func (ws *waiters) unnote(n int) {
	for _, p := range ws.ready[n:] {
		delete(ws.isReady, p)
	}
	ws.ready = ws.ready[:n]
}

// Woken is the reply to a command that waited.
type Woken struct {
	Origin uint64
	Node   string // of the origin
	Ticket uint64
	Answer Answer
}

// WaitingOrigin is an origin for which commands wait.
type WaitingOrigin struct {
	ID       uint64
	Node     string
	Commands int
}

// WaitingOrigins lists them by id.
func (s *State) WaitingOrigins() []WaitingOrigin {
	var out []WaitingOrigin
	for _, o := range s.byID {
		if n := o.waiting.Len(); n > 0 {
			out = append(out, WaitingOrigin{o.id, o.node, n})
		}
	}
	slices.SortFunc(out, func(a, b WaitingOrigin) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// waitFor makes the command at hand wait once it has ended well, if its
// connection can wait.
func (c *call) waitFor(w want) reply.Value {
	if _, known := c.origin.waiting.Get(c.ticket); known {
		return errTicketTwice
	}
	bytes := waitCost(c.args)
	switch {
	case bytes > WaiterBytesMax:
		return errWaitTooLarge
	case c.s.waiters.full(c.db, &w, bytes):
		return errWaitFull
	}
	c.waiter = newWaiter(c.spec, c.args, c.client)
	c.waiter.origin, c.waiter.ticket, c.waiter.db = c.origin.id, c.ticket, c.db
	return Waits
}

// newWaiter makes a waiter of a command that is known to be right: it owns its texts.
func newWaiter(spec *Spec, args []string, client *Client) *waiter {
	w := &waiter{client: cloneClient(client), args: make([]string, len(args))}
	for i, a := range args {
		w.args[i] = strings.Clone(a)
	}
	w.want, _ = spec.want(w.args)
	return w
}

// enqueue lets w wait.
func (s *State) enqueue(w *waiter) {
	s.waiters.arrivals++
	w.arrival = s.waiters.arrivals
	s.waiters.add(w)
	s.byID[w.origin].waiting.Set(w.ticket, w)
}

// unwait takes w out of its queues, unserved.
func (s *State) unwait(w *waiter) {
	s.waiters.remove(w)
	s.byID[w.origin].waiting.Delete(w.ticket)
	if w.want.kind == lockQueue {
		for _, name := range w.want.keys {
			s.noteFreed(w.db, name) // who came behind may want less
		}
	}
}

// Waiting counts the commands that wait.
func (s *State) Waiting() int { return s.waiters.all.Len() }

// onSeats says whether anybody waits on a seat port.
func (ws *waiters) onSeats() bool {
	found := false
	ws.all.Scan(func(_ uint64, w *waiter) bool {
		found = w.db.space != SharedSpace
		return !found
	})
	return found
}
