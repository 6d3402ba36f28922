package sim

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Network is a virtual network of hosts. A connection delivers bytes in order
// after its link's delay; a cut link holds them until it is mended, as TCP does
// while it sends again. All of it lives in one synctest bubble.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener
	links     map[link]*linkState
	conns     map[*conn]bool
	port      int
}

type link struct{ from, to string }

type linkState struct {
	cut   bool
	delay time.Duration
}

// NewNetwork is a network in which every link has the same delay.
func NewNetwork() *Network {
	return &Network{listeners: map[string]*listener{}, links: map[link]*linkState{}, conns: map[*conn]bool{}}
}

func (n *Network) state(l link) *linkState {
	s := n.links[l]
	if s == nil {
		s = &linkState{delay: 500 * time.Microsecond}
		n.links[l] = s
	}
	return s
}

// Cut stops what from sends to to; Mend lets it pass, with what was held.
func (n *Network) Cut(from, to string) { n.set(from, to, true) }

// Mend ends a Cut.
func (n *Network) Mend(from, to string) { n.set(from, to, false) }

func (n *Network) set(from, to string, cut bool) {
	n.mu.Lock()
	n.state(link{from, to}).cut = cut
	conns := n.all()
	n.mu.Unlock()
	for _, c := range conns {
		c.in.wake()
	}
}

// Delay sets how long bytes take from one host to another.
func (n *Network) Delay(from, to string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state(link{from, to}).delay = d
}

func (n *Network) cutNow(l link) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state(l).cut
}

func (n *Network) delayOf(l link) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state(l).delay
}

func (n *Network) all() []*conn {
	var out []*conn
	for c := range n.conns {
		out = append(out, c)
	}
	return out
}

// Crash breaks all connections of a host and closes its listeners.
func (n *Network) Crash(host string) {
	n.mu.Lock()
	conns := n.all()
	var ls []*listener
	for _, l := range n.listeners {
		if l.host == host {
			ls = append(ls, l)
		}
	}
	n.mu.Unlock()
	for _, l := range ls {
		l.Close()
	}
	for _, c := range conns {
		if c.local == host || c.remote == host {
			c.reset()
		}
	}
}

// Reset breaks the connections between two hosts; new ones come through.
func (n *Network) Reset(a, b string) {
	n.mu.Lock()
	conns := n.all()
	n.mu.Unlock()
	for _, c := range conns {
		if c.local == a && c.remote == b || c.local == b && c.remote == a {
			c.reset()
		}
	}
}

// Listen opens an address ("host:port") of a host.
func (n *Network) Listen(addr string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[addr] != nil {
		return nil, errors.New("address in use: " + addr)
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	l := &listener{net: n, addr: addr, host: host, queue: make(chan net.Conn, 64), done: make(chan struct{})}
	n.listeners[addr] = l
	return l, nil
}

// Dial connects a host to an address, waiting while the link is cut.
func (n *Network) Dial(from, addr string, timeout time.Duration) (net.Conn, error) {
	deadline := time.Now().Add(timeout)
	for {
		n.mu.Lock()
		l := n.listeners[addr]
		n.mu.Unlock()
		if l == nil {
			time.Sleep(time.Millisecond)
			return nil, errors.New("connection refused: " + addr)
		}
		if !n.cutNow(link{from, l.host}) && !n.cutNow(link{l.host, from}) {
			return n.connect(from, l)
		}
		if !time.Now().Before(deadline) {
			return nil, os.ErrDeadlineExceeded
		}
		time.Sleep(min(20*time.Millisecond, time.Until(deadline)))
	}
}

func (n *Network) connect(from string, l *listener) (net.Conn, error) {
	time.Sleep(n.delayOf(link{from, l.host}))
	n.mu.Lock()
	n.port++
	there := newStream(n, link{from, l.host})
	back := newStream(n, link{l.host, from})
	a := &conn{net: n, local: from, remote: l.host, addr: address(l.addr), port: n.port, in: back, out: there}
	b := &conn{net: n, local: l.host, remote: from, addr: address(fmt.Sprintf("%s:%d", from, n.port)), port: n.port, in: there, out: back}
	n.conns[a], n.conns[b] = true, true
	n.mu.Unlock()
	select {
	case l.queue <- b:
		return a, nil
	case <-l.done:
		a.reset()
		return nil, errors.New("connection refused: " + l.addr)
	}
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

type listener struct {
	net   *Network
	addr  string
	host  string
	queue chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		l.net.mu.Lock()
		if l.net.listeners[l.addr] == l {
			delete(l.net.listeners, l.addr)
		}
		l.net.mu.Unlock()
		close(l.done)
	})
	return nil
}

func (l *listener) Addr() net.Addr { return address(l.addr) }

// conn is one end of a connection.
type conn struct {
	net           *Network
	local, remote string
	addr          net.Addr
	port          int
	in, out       *stream
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }

func (c *conn) Close() error {
	c.in.shut(net.ErrClosed, io.ErrClosedPipe)
	c.out.shut(io.EOF, net.ErrClosed)
	c.net.mu.Lock()
	delete(c.net.conns, c)
	c.net.mu.Unlock()
	return nil
}

func (c *conn) reset() {
	broken := errors.New("connection reset by peer")
	c.in.shut(broken, broken)
	c.out.shut(broken, broken)
	c.net.mu.Lock()
	delete(c.net.conns, c)
	c.net.mu.Unlock()
}

func (c *conn) LocalAddr() net.Addr                { return address(c.local + ":0") }
func (c *conn) RemoteAddr() net.Addr               { return c.addr }
func (c *conn) SetReadDeadline(t time.Time) error  { c.in.setDeadline(t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { return nil }
func (c *conn) SetDeadline(t time.Time) error      { return c.SetReadDeadline(t) }

// stream is one direction of a connection.
type stream struct {
	net  *Network
	link link

	mu       sync.Mutex
	chunks   []chunk
	readErr  error // after the chunks
	writeErr error
	deadline time.Time
	changed  chan struct{} // closed at the next change
}

type chunk struct {
	at time.Time
	b  []byte
}

func newStream(n *Network, l link) *stream {
	return &stream{net: n, link: l, changed: make(chan struct{})}
}

func (s *stream) wake() {
	s.mu.Lock()
	s.broadcast()
	s.mu.Unlock()
}

func (s *stream) broadcast() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) shut(readErr, writeErr error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The end that the other side has announced may still wait behind a cut link;
	// whoever closes his own side waits for nothing.
	if s.readErr == nil || s.readErr == io.EOF {
		s.readErr = readErr
	}
	if s.writeErr == nil {
		s.writeErr = writeErr
	}
	s.broadcast()
}

func (s *stream) setDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	s.broadcast()
}

func (s *stream) write(p []byte) (int, error) {
	at := time.Now().Add(s.net.delayOf(s.link))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writeErr != nil {
		return 0, s.writeErr
	}
	s.chunks = append(s.chunks, chunk{at, append([]byte(nil), p...)})
	s.broadcast()
	return len(p), nil
}

func (s *stream) read(p []byte) (int, error) {
	for {
		n, err, wait, changed := s.poll(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		if wait < 0 {
			<-changed
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// poll reads what has arrived, or says how long to wait (negative: until changed).
func (s *stream) poll(p []byte) (int, error, time.Duration, chan struct{}) {
	cut := s.net.cutNow(s.link)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	wait := time.Duration(-1)
	if len(s.chunks) > 0 && !cut {
		c := &s.chunks[0]
		if !now.Before(c.at) {
			n := copy(p, c.b)
			if c.b = c.b[n:]; len(c.b) == 0 {
				s.chunks = s.chunks[1:]
			}
			return n, nil, 0, nil
		}
		wait = c.at.Sub(now)
	} else if len(s.chunks) == 0 && s.readErr != nil {
		return 0, s.readErr, 0, nil
	} else if s.readErr != nil && s.readErr != io.EOF {
		return 0, s.readErr, 0, nil
	}
	if !s.deadline.IsZero() {
		left := s.deadline.Sub(now)
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded, 0, nil
		}
		if wait < 0 || left < wait {
			wait = left
		}
	}
	return 0, nil, wait, s.changed
}
