package replica

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A connection between nodes begins with a greeting from the node that dialed
// and one from the node that answered (docs/format.md): magic, version of this
// protocol, a byte (what the connection is for, or the verdict), the length of
// what follows in two bytes, and texts of at most 255 bytes with their length before them.
const (
	wireMagic   = "RFNC"
	wireVersion = 3
)

// What a connection is for.
const (
	kindRaft    byte = 1 // raft's own messages
	kindLink    byte = 2 // batches, reads, results, events: frames of link_wire.go
	kindControl byte = 3 // birth and membership: one question, one answer
)

// Verdicts on a greeting.
const (
	welcomeOK byte = iota
	welcomeOtherCluster
	welcomeOtherNode // somebody else lives at this address now
	welcomeOtherDisk // the id is known with another disk
	welcomeStranger
	welcomeNotYet // this node has no data, or has not begun
	welcomeOtherArch
	welcomeOtherVersion
)

var verdictText = map[byte]string{
	welcomeOtherCluster: "it belongs to another cluster",
	welcomeOtherNode:    "it is another node",
	welcomeOtherDisk:    "the node is known with another disk",
	welcomeStranger:     "the node is not a member",
	welcomeNotYet:       "it has not begun yet",
	welcomeOtherArch:    "it runs on another processor architecture",
	welcomeOtherVersion: "it speaks another version of the protocol between nodes",
}

// greeting is either side's first message.
type greeting struct {
	Code    byte // kind, or verdict
	Cluster string
	Node    string
	Disk    string
	Arch    string
	Target  string // the node that the dialer wants; "" is whoever answers
}

var errBadGreeting = errors.New("not a greeting of a Redfence node")

func appendGreeting(b []byte, g *greeting) []byte {
	b = append(b, wireMagic...)
	b = append(b, wireVersion, g.Code, 0, 0)
	start := len(b)
	for _, s := range []string{g.Cluster, g.Node, g.Disk, g.Arch, g.Target} {
		s = s[:min(len(s), 255)]
		b = append(append(b, byte(len(s))), s...)
	}
	binary.BigEndian.PutUint16(b[start-2:], uint16(len(b)-start))
	return b
}

// readGreeting reads one greeting. The version is that of the sender; the rest
// is only read if it is ours.
func readGreeting(r io.Reader) (g greeting, version byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return g, 0, err
	}
	if string(head[:4]) != wireMagic {
		return g, 0, errBadGreeting
	}
	g.Code, version = head[5], head[4]
	n := int(binary.BigEndian.Uint16(head[6:]))
	if n > helloMax {
		return g, version, errBadGreeting
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return g, version, err
	}
	if version != wireVersion {
		return g, version, nil
	}
	for _, field := range []*string{&g.Cluster, &g.Node, &g.Disk, &g.Arch, &g.Target} {
		if len(body) == 0 || len(body) < 1+int(body[0]) {
			return g, version, errBadGreeting
		}
		*field, body = string(body[1:1+body[0]]), body[1+body[0]:]
	}
	if len(body) != 0 {
		return g, version, errBadGreeting
	}
	return g, version, nil
}

// A frame is four bytes of length, one of type, and the length's bytes.
const frameHead = 5

var errFrameTooLong = errors.New("frame is longer than the limit")

// readFrame reads a frame of at most limit bytes. Memory is taken as bytes
// arrive, never by the announced length alone.
func readFrame(r *bufio.Reader, limit int) (typ byte, body []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:4]))
	if n > int64(limit) {
		return 0, nil, fmt.Errorf("%w: %d bytes", errFrameTooLong, n)
	}
	if n <= 64<<10 {
		body = make([]byte, n)
		_, err = io.ReadFull(r, body)
		return head[4], body, err
	}
	var buf bytes.Buffer
	if _, err := io.CopyN(&buf, r, n); err != nil {
		return 0, nil, err
	}
	return head[4], buf.Bytes(), nil
}

// appendFrame appends a frame whose body fill appends.
func appendFrame(b []byte, typ byte, fill func([]byte) []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, typ)
	if fill != nil {
		b = fill(b)
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-frameHead))
	return b
}

// outbox writes frames to a connection in the order they were put in, without
// making the sender wait for the network. A reader that is too slow loses the connection.
type outbox struct {
	mu      sync.Mutex
	pending []byte
	closed  bool
	taken   chan struct{} // closed when pending is taken to be written; nil if nobody waits
	wake    chan struct{}
	conn    net.Conn
}

func newOutbox(conn net.Conn) *outbox {
	return &outbox{conn: conn, wake: make(chan struct{}, 1)}
}

// await waits until no more than size bytes are pending, and says whether that came.
func (o *outbox) await(ctx context.Context, size int) bool {
	for {
		o.mu.Lock()
		if o.closed || len(o.pending) <= size {
			o.mu.Unlock()
			return true
		}
		if o.taken == nil {
			o.taken = make(chan struct{})
		}
		taken := o.taken
		o.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return false
		}
	}
}

// take empties pending. The lock is held.
func (o *outbox) take(instead []byte) []byte {
	b := o.pending
	o.pending = instead
	if o.taken != nil {
		close(o.taken)
		o.taken = nil
	}
	return b
}

// send puts a frame in. After close it does nothing.
func (o *outbox) send(typ byte, fill func([]byte) []byte) {
	o.mu.Lock()
	if !o.closed {
		o.pending = appendFrame(o.pending, typ, fill)
	}
	full := len(o.pending) > linkBacklogMax
	o.mu.Unlock()
	if full {
		o.close()
		return
	}
	poke(o.wake)
}

// close ends the connection and the writing.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.take(nil)
	o.mu.Unlock()
	o.conn.Close()
	poke(o.wake)
}

// run writes until the connection or the outbox is closed.
func (o *outbox) run() {
	var buf []byte
	for range o.wake {
		o.mu.Lock()
		buf = o.take(buf[:0])
		closed := o.closed
		o.mu.Unlock()
		if closed {
			return
		}
		if len(buf) == 0 {
			continue
		}
		o.conn.SetWriteDeadline(time.Now().Add(linkWriteMax))
		if _, err := o.conn.Write(buf); err != nil {
			o.close()
			return
		}
		if cap(buf) > 1<<20 {
			buf = nil // a burst must not hold its memory for ever
		}
	}
}

// poke wakes whoever waits on a channel of capacity 1.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
