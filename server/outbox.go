package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// outbox is the writing side of a connection: one order for the replies of the
// connection's own goroutine and for what others push to it (messages of
// channels). It is safe for concurrent use.
//
// Replies wait for the client: send blocks until they are written, so that a
// client which doesn't read is not read from. Pushes never wait: beyond
// UnreadMax the connection is closed.
type outbox struct {
	mu      sync.Mutex
	changed sync.Cond // pending, writing or err changed
	pending []byte
	queued  int64 // bytes that were ever given to it
	written int64 // bytes of those that are through
	writing bool
	err     error
	softAt  time.Time // since when pending is above UnreadSoftMax

	until   time.Time // the deadline of writes; only who writes uses it
	conn    net.Conn
	output  *atomic.Int64 // bytes written by all connections
	held    *atomic.Int64 // bytes that all outboxes hold, room to grow included
	pressed func() bool   // others wait for room for their replies
}

func newOutbox(conn net.Conn, output, held *atomic.Int64) *outbox {
	o := &outbox{conn: conn, output: output, held: held, pressed: func() bool { return false }}
	o.changed.L = &o.mu
	return o
}

// send writes b behind all that is pending and returns when it is written or
// the connection has failed. It does not keep b.
func (o *outbox) send(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 && !o.writing {
		o.queued += int64(len(b))
		o.write(b)
		return o.err
	}
	o.keep(b)
	for mine := o.queued; o.err == nil && o.written < mine; {
		o.step()
	}
	return o.err
}

// push queues b and returns at once. It answers false if the client is too far
// behind or gone: the connection is then closed.
func (o *outbox) push(b []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return false
	}
	if o.tooSlow(len(b)) {
		o.fail(errTooSlow)
		return false
	}
	o.keep(b)
	o.changed.Broadcast()
	return true
}

// keep queues b. The lock is held.
func (o *outbox) keep(b []byte) {
	if o.err == nil {
		before := cap(o.pending)
		o.pending = append(o.pending, b...)
		o.queued += int64(len(b))
		o.held.Add(int64(cap(o.pending) - before))
	}
}

// tooSlow says whether more must not be queued. When all clients together are
// too far behind, those go that have more waiting than one write takes.
func (o *outbox) tooSlow(more int) bool {
	n := len(o.pending) + more
	if n > WriteChunk && o.held.Load()+int64(more) > UnreadTotalMax {
		return true
	}
	if n <= UnreadSoftMax {
		o.softAt = time.Time{}
		return false
	}
	if o.softAt.IsZero() {
		o.softAt = time.Now()
	}
	return n > UnreadMax || time.Since(o.softAt) > UnreadSoftTime
}

// pump writes what is pushed until the connection ends. A connection that
// listens to channels has one goroutine in it.
func (o *outbox) pump() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil {
		o.step()
	}
}

// step writes what is pending, or waits until there is something or somebody
// else has written. The lock is held.
func (o *outbox) step() {
	if o.writing || len(o.pending) == 0 {
		o.changed.Wait()
		return
	}
	b := o.pending
	o.pending = nil
	o.write(b)
	o.held.Add(-int64(cap(b)))
}

// write writes b without the lock, which is held before and after.
func (o *outbox) write(b []byte) {
	if o.err != nil || len(b) == 0 {
		return
	}
	o.writing = true
	o.mu.Unlock()
	err := o.writeAll(b)
	o.output.Add(int64(len(b)))
	o.mu.Lock()
	o.writing = false
	o.written += int64(len(b))
	if err != nil {
		o.fail(err)
	}
	o.changed.Broadcast()
}

// fail ends the connection. The lock is held.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err = err
		o.conn.Close()
	}
	o.held.Add(-int64(cap(o.pending)))
	o.pending = nil
	o.changed.Broadcast()
}

// unread is how many bytes wait for the client.
func (o *outbox) unread() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending)
}

// ended says that the connection has failed or was closed.
func (o *outbox) ended() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err != nil
}

// close ends the connection, whatever is pending. It may be called more than once.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(net.ErrClosed)
}

// writeAll writes b. A client that reads slowly has WriteTimeout for every step,
// and about PressedTimeout while what it doesn't read keeps others from being answered.
func (o *outbox) writeAll(b []byte) error {
	stuck := time.Now()
	for now := stuck; ; {
		// Setting a deadline costs about as much as a short write: one is good for many.
		if o.until.Sub(now) < PressedTimeout*3/4 {
			o.until = now.Add(PressedTimeout)
			o.conn.SetWriteDeadline(o.until)
		}
		n, err := o.conn.Write(b)
		if err == nil {
			return nil
		}
		now = time.Now()
		if n > 0 {
			stuck = now
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || now.Sub(stuck) >= WriteTimeout || n == 0 && o.pressed() {
			return err
		}
		b = b[n:]
	}
}
