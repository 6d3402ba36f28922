package server

import (
	"bytes"
	"net"
	"sync/atomic"
	"time"
)

// request is one command as it was read. The strings share memory that nobody
// changes any more.
type request struct {
	args    []string // never empty, unless refusal is set
	refusal string   // the error that answers a command that was read past
}

// link is the reading side of a connection: bytes in, bounded, whole commands
// out. Only the connection's own goroutine uses it.
type link struct {
	conn  net.Conn
	frame framer
	buf   []byte // buf[start:end] was read and not given out
	start int
	end   int
	wide  bool // the last read filled the buffer: the next one should be larger

	shared  *atomic.Int64 // bytes that all links hold beyond what an idle one keeps
	charged int64         // of them, for buf
	lent    int64         // of them, for the requests that were given out last
	input   *atomic.Int64 // bytes read by all links

	idle   func() time.Duration // how long a read may wait, 0 for ever
	stop   func() bool          // the server is closing
	timed  bool                 // a deadline is set
	found  []span
	parsed [][]byte // scratch
	fault  error    // found behind the commands that were given out last
}

// span is where a frame lies in the buffer.
type span struct {
	frame
	from, to int
}

// next blocks until at least one whole command was read and answers all that
// came with it. Before AUTH it answers one at a time, since the limits of the
// next depend on it. An error ends the connection; a protocolError is to be
// told to the client.
func (l *link) next(reqs []request) ([]request, error) {
	l.lend(0)
	for {
		if l.fault != nil {
			return nil, l.fault
		}
		l.collect()
		reqs, l.fault = l.parse(reqs)
		if len(reqs) > 0 {
			return reqs, nil
		}
		if l.fault == nil {
			l.fault = l.fill()
		}
	}
}

// collect frames what the buffer holds, as much as is executed together.
func (l *link) collect() {
	l.found = l.found[:0]
	for begin := l.start; l.start < l.end && l.fault == nil; {
		if len(l.found) >= RequestsMax || l.start-begin > ReadBufferKept {
			return
		}
		fr, done, err := l.frame.next(l.buf[l.start:l.end])
		l.start += l.frame.dropped()
		l.fault = err
		if !done {
			return
		}
		l.found = append(l.found, span{fr, l.start, l.start + fr.length})
		l.start += fr.length
		if !l.frame.authenticated {
			return
		}
	}
}

// parse makes requests of what collect found. One copy serves them all.
func (l *link) parse(reqs []request) ([]request, error) {
	if len(l.found) == 0 {
		return reqs, l.fault
	}
	base := l.found[0].from
	raw := l.own(l.buf[base:l.found[len(l.found)-1].to])
	args := 0
	for i := range l.found {
		f := &l.found[i]
		if f.empty {
			continue
		}
		req := request{refusal: f.refusal}
		args += f.args
		text := raw[f.from-base : f.to-base]
		ok := true
		switch {
		case f.refusal != "":
		case f.inline:
			req.args, ok = splitInline(bytes.TrimSuffix(text[:len(text)-1], []byte{'\r'}))
			if !ok {
				return reqs, protocolError("unbalanced quotes in request")
			}
			if len(req.args) == 0 {
				continue
			}
		default:
			req.args, l.parsed, ok = parseCommand(text, l.parsed)
			if !ok {
				return reqs, protocolError("invalid command")
			}
		}
		reqs = append(reqs, req)
	}
	if args > RequestsMax {
		l.lend(l.lent + int64(args*argBytes))
	}
	// An idle connection must not keep its last commands alive.
	clear(l.parsed[:cap(l.parsed)])
	if cap(l.parsed) > 1024 {
		l.parsed = nil
	}
	return reqs, l.fault
}

// own makes bytes of the buffer the requests' own. A large buffer that holds
// nothing else is given away whole, so that a large value isn't there twice.
func (l *link) own(b []byte) []byte {
	if l.start == l.end && len(l.buf) > ReadBufferKept {
		l.lent, l.charged = l.charged, 0
		l.buf, l.start, l.end = nil, 0, 0
		return b
	}
	l.lend(int64(max(0, len(b)-ReadBufferKept)))
	return bytes.Clone(b)
}

// lend changes what is counted for the requests that were given out.
func (l *link) lend(size int64) {
	l.shared.Add(size - l.lent)
	l.lent = size
}

// fill reads once, after making room.
func (l *link) fill() error {
	if err := l.room(); err != nil {
		return err
	}
	d := l.idle()
	if d > 0 {
		l.timed = true
		l.conn.SetReadDeadline(time.Now().Add(d))
	} else if l.timed {
		l.timed = false
		l.conn.SetReadDeadline(time.Time{})
	}
	// Looked at after the deadline was set: a Shutdown that sets one of its own
	// either comes later or is seen here.
	if l.stop() {
		return errClosing
	}
	n, err := l.conn.Read(l.buf[l.end:])
	l.wide = l.end+n == len(l.buf)
	l.end += n
	l.input.Add(int64(n))
	if n > 0 {
		return nil
	}
	return err
}

// ahead reads once what comes behind the commands that were given out, or
// answers at once that as much is there as may be read ahead.
func (l *link) ahead() (full bool, err error) {
	if l.end-l.start >= ReadAheadMax || l.room() != nil {
		return true, nil
	}
	most := min(len(l.buf), l.start+ReadAheadMax)
	n, err := l.conn.Read(l.buf[l.end:most])
	l.end += n
	l.input.Add(int64(n))
	if n > 0 {
		return false, nil
	}
	return false, err
}

// room makes space for at least one byte. The buffer doubles as bytes come;
// one that a long command made large goes when it is empty, one that pipelines
// fill stays.
func (l *link) room() error {
	if l.start == l.end {
		l.start, l.end = 0, 0
		switch {
		case len(l.buf) > ReadBufferKept:
			l.resize(ReadBufferMin)
		case l.wide && len(l.buf) < ReadBufferKept:
			l.resize(min(ReadBufferKept, len(l.buf)*4))
		}
	}
	if l.end < len(l.buf) {
		return nil
	}
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
		return nil
	}
	size := max(ReadBufferMin, len(l.buf)*2)
	if whole := l.frame.whole() + ReadBufferMin; whole > len(l.buf) {
		// A value takes no more than it is long. What grows argument by argument
		// grows by a part of what it has, or each would copy all those before.
		size = min(size, max(whole, len(l.buf)*5/4))
	}
	if size > ReadBufferKept && l.shared.Load()+int64(size-len(l.buf)) > InputBytesMax {
		return protocolError("too many unfinished commands on this server")
	}
	l.resize(size)
	return nil
}

// resize gives the link a buffer of another size, with what is in it.
func (l *link) resize(size int) {
	fresh := make([]byte, size)
	l.end = copy(fresh, l.buf[l.start:l.end])
	l.start = 0
	l.buf = fresh
	charge := int64(max(0, size-ReadBufferKept))
	l.shared.Add(charge - l.charged)
	l.charged = charge
}

// close gives back what the link holds.
func (l *link) close() {
	l.lend(0)
	l.shared.Add(-l.charged)
	l.charged, l.buf, l.start, l.end = 0, nil, 0, 0
}
