package replica

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// port is where nodes meet: one listener for raft's connections, the links that
// carry batches and results, and the questions of birth and membership. Each
// connection begins with greetings, in which either side says which cluster,
// node and disk it is; what doesn't fit is refused before anything else is read.
//
// It is raft's stream layer: raft's name for a node is its id, and the place to
// dial is looked up at each dial.
type port struct {
	node      *Node
	listener  net.Listener
	greetings chan struct{} // bounds the unknown connections that are greeted at once
	raftConns chan net.Conn
	raftEnds  chan struct{} // closed when raft wants no more connections
	raftOnce  sync.Once

	mu     sync.Mutex
	conns  map[net.Conn]peerID // all that are open
	raftUp bool
	closed bool
}

// peerID is who is at the other end.
type peerID struct{ node, disk string }

var _ raft.StreamLayer = (*port)(nil)

func openPort(n *Node) (*port, error) {
	l, err := n.cfg.Listen(n.cfg.RaftListen)
	if err != nil {
		return nil, fmt.Errorf("raft port %s: %w", n.cfg.RaftListen, err)
	}
	return &port{
		node: n, listener: l,
		greetings: make(chan struct{}, greetingsMax),
		raftConns: make(chan net.Conn),
		raftEnds:  make(chan struct{}),
		conns:     map[net.Conn]peerID{},
	}, nil
}

// serve greets whoever connects, until close.
func (p *port) serve() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			if p.isClosed() {
				return
			}
			p.node.log.Warn("raft port: accept failed", "error", err)
			select {
			case <-time.After(100 * time.Millisecond): // out of file descriptors: don't spin
			case <-p.node.stop:
				return
			}
			continue
		}
		tracked := p.track(conn, peerID{})
		if tracked == nil {
			return
		}
		conn = tracked
		select {
		case p.greetings <- struct{}{}:
			go p.greet(conn)
		default:
			conn.Close()
		}
	}
}

// greet reads the dialer's greeting, answers it, and hands the connection on.
func (p *port) greet(conn net.Conn) {
	conn.SetDeadline(time.Now().Add(helloTimeout))
	theirs, version, err := readGreeting(conn)
	known := false
	defer func() {
		if !known {
			<-p.greetings
		}
	}()
	if err != nil {
		conn.Close()
		return
	}
	code := p.judge(&theirs, version)
	mine := p.introduce(code, "")
	if _, err := conn.Write(appendGreeting(nil, &mine)); err != nil || code != welcomeOK {
		if code != welcomeOK {
			p.refused(conn.RemoteAddr().String(), &theirs, code)
		}
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	if theirs.Code != kindControl { // whoever asks a question stays unknown
		known = true
		<-p.greetings
	}
	p.hand(conn, &theirs)
}

func (p *port) hand(conn net.Conn, theirs *greeting) {
	switch theirs.Code {
	case kindRaft:
		p.name(conn, peerID{theirs.Node, theirs.Disk})
		select {
		case p.raftConns <- conn:
		case <-p.node.stop:
			conn.Close()
		}
	case kindLink:
		p.name(conn, peerID{theirs.Node, theirs.Disk})
		p.node.host(conn, theirs.Node)
	case kindControl:
		p.node.answerControl(conn)
	}
}

func (p *port) introduce(code byte, target string) greeting {
	id := p.node.identity.get()
	return greeting{Code: code, Cluster: id.Cluster, Node: id.Node, Disk: id.Disk, Arch: runtime.GOARCH, Target: target}
}

// judge says what is wrong with a greeting.
func (p *port) judge(g *greeting, version byte) byte {
	id := p.node.identity.get()
	switch {
	case version != wireVersion:
		return welcomeOtherVersion
	case g.Target != "" && g.Target != id.Node:
		return welcomeOtherNode
	case g.Arch != runtime.GOARCH:
		return welcomeOtherArch
	case g.Code == kindControl:
		return welcomeOK // each question says which cluster it means
	case g.Code != kindRaft && g.Code != kindLink:
		return welcomeOtherVersion
	case g.Cluster != id.Cluster:
		return welcomeOtherCluster
	}
	switch p.node.roster.judge(g.Node, g.Disk) {
	case otherDisk:
		return welcomeOtherDisk
	case stranger:
		p.node.askAround()
		return welcomeStranger
	}
	if !p.isRaftUp() {
		return welcomeNotYet
	}
	return welcomeOK
}

func (p *port) refused(from string, g *greeting, code byte) {
	p.node.stats.LinksRefused.Add(1)
	if code == welcomeNotYet {
		return
	}
	p.node.sayOften("refused a connection of another node: "+verdictText[code],
		"from", from, "node", g.Node, "disk", g.Disk, "cluster", g.Cluster)
}

// refusal is the error for a dialer that was refused, or that refuses.
type refusal struct {
	node string
	addr string
	code byte
	mine bool // this node refuses the other
}

func (r *refusal) Error() string {
	if r.mine {
		return fmt.Sprintf("%s is refused: %s", nodeAt(r.node, r.addr), verdictText[r.code])
	}
	return fmt.Sprintf("%s refused this node: %s", nodeAt(r.node, r.addr), verdictText[r.code])
}

// nodeAt names a node in a message; a node that joins knows only an address.
func nodeAt(node, addr string) string {
	if node == "" {
		return "the node at " + addr
	}
	return "node " + node + " at " + addr
}

// dial connects to a node wherever it may be and exchanges greetings.
func (p *port) dial(ctx context.Context, kind byte, node string) (net.Conn, error) {
	addrs := p.node.roster.addresses(node)
	if len(addrs) == 0 {
		return nil, fmt.Errorf("no address of node %s is known", node)
	}
	var errs []error
	for _, addr := range addrs {
		conn, _, err := p.dialAddr(ctx, kind, node, addr)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// dialAddr connects to an address; node is "" if anybody there will do.
func (p *port) dialAddr(ctx context.Context, kind byte, node, addr string) (net.Conn, *greeting, error) {
	conn, err := p.node.cfg.Dial(ctx, addr)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", nodeAt(node, addr), err)
	}
	if conn = p.track(conn, peerID{}); conn == nil {
		return nil, nil, ErrClosed
	}
	limit := time.Now().Add(helloTimeout)
	if at, ok := ctx.Deadline(); ok && at.Before(limit) {
		limit = at
	}
	conn.SetDeadline(limit)
	mine := p.introduce(kind, node)
	theirs, version := greeting{}, byte(0)
	if _, err = conn.Write(appendGreeting(nil, &mine)); err == nil {
		theirs, version, err = readGreeting(conn)
	}
	if err == nil {
		err = p.accepts(&theirs, version, kind, node, addr)
	}
	if err != nil {
		conn.Close()
		var r *refusal
		if errors.As(err, &r) && r.code != welcomeNotYet {
			p.node.sayOften(err.Error())
		}
		return nil, nil, fmt.Errorf("%s: %w", nodeAt(node, addr), err)
	}
	conn.SetDeadline(time.Time{})
	if kind != kindControl {
		p.name(conn, peerID{theirs.Node, theirs.Disk})
	}
	return conn, &theirs, nil
}

// accepts judges the greeting of the node that was dialed.
func (p *port) accepts(g *greeting, version, kind byte, node, addr string) error {
	switch {
	case version != wireVersion:
		return &refusal{node, addr, welcomeOtherVersion, true}
	case g.Code != welcomeOK:
		return &refusal{node, addr, g.Code, false}
	case node != "" && g.Node != node:
		return &refusal{node, addr, welcomeOtherNode, true}
	case kind == kindControl:
		return nil
	case g.Cluster != p.node.identity.get().Cluster:
		return &refusal{node, addr, welcomeOtherCluster, true}
	}
	switch p.node.roster.judge(g.Node, g.Disk) {
	case otherDisk:
		return &refusal{node, addr, welcomeOtherDisk, true}
	case stranger:
		p.node.askAround()
		return &refusal{node, addr, welcomeStranger, true}
	}
	return nil
}

// track remembers a connection, so that it ends with the port. Nil means that
// the port is closed already.
func (p *port) track(conn net.Conn, who peerID) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close()
		return nil
	}
	t := &trackedConn{Conn: conn, port: p}
	p.conns[t] = who
	return t
}

// name says who is at the other end of a connection, so that it can be cut when
// that node turns out to have another disk. One that the roster has changed its
// mind about since the greeting is closed at once.
func (p *port) name(conn net.Conn, who peerID) {
	p.mu.Lock()
	p.conns[conn] = who
	p.mu.Unlock()
	if p.node.roster.judge(who.node, who.disk) != sameDisk {
		conn.Close()
	}
}

type trackedConn struct {
	net.Conn
	port *port
}

func (t *trackedConn) Close() error {
	t.port.mu.Lock()
	delete(t.port.conns, t)
	t.port.mu.Unlock()
	return t.Conn.Close()
}

// cut closes the connections of nodes whose disk is not the recorded one any more.
func (p *port) cut(nodes []string) {
	p.mu.Lock()
	var victims []net.Conn
	for conn, who := range p.conns {
		for _, node := range nodes {
			if who.node == node && p.node.roster.judge(who.node, who.disk) != sameDisk {
				victims = append(victims, conn)
			}
		}
	}
	p.mu.Unlock()
	for _, conn := range victims {
		conn.Close()
	}
}

// raftBegins lets raft's connections and links in.
func (p *port) raftBegins() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.raftUp = true
}

func (p *port) isRaftUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raftUp
}

func (p *port) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// close ends the listener and every connection.
func (p *port) close() {
	p.mu.Lock()
	p.closed = true
	conns := p.conns
	p.conns = map[net.Conn]peerID{}
	p.mu.Unlock()
	p.listener.Close()
	for conn := range conns {
		conn.(*trackedConn).Conn.Close()
	}
}

// Accept gives raft its next connection. It is part of raft.StreamLayer.
func (p *port) Accept() (net.Conn, error) {
	select {
	case conn := <-p.raftConns:
		return conn, nil
	case <-p.raftEnds:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It is part of raft.StreamLayer; the listener is closed by Node.Close.
func (p *port) Close() error {
	p.raftOnce.Do(func() { close(p.raftEnds) })
	return nil
}

// Addr is this node's name in raft: its id.
func (p *port) Addr() net.Addr { return nodeAddr(p.node.cfg.NodeID) }

type nodeAddr string

func (nodeAddr) Network() string  { return "redfence" }
func (a nodeAddr) String() string { return string(a) }

// Dial gives raft a connection to a node. It is part of raft.StreamLayer.
func (p *port) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(p.node.life, timeout)
	defer cancel()
	return p.dial(ctx, kindRaft, string(address))
}
