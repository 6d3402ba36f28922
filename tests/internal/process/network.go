package process

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Network carries what the nodes of a cluster say to one another, through a relay in
// front of each, and can cut nodes off from each other. Clients don't go through it.
type Network struct {
	mu    sync.Mutex
	cuts  map[[2]string]bool     // unordered pairs, the lesser id first
	conns map[net.Conn][2]string // both sides of what is relayed
}

// StartApart is Start for nodes that a Network connects.
func StartApart(tb testing.TB, n int, flags ...string) (*Cluster, *Network) {
	tb.Helper()
	nw := &Network{cuts: map[[2]string]bool{}, conns: map[net.Conn][2]string{}}
	c := plan(tb, n, func(node *Node) string { return nw.relay(tb, node) }, flags...)
	for _, node := range c.Nodes {
		node.Start()
	}
	c.Ready()
	return c, nw
}

func pair(a, b string) [2]string {
	if a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}

// Cut cuts two nodes off from each other: their connections break, and new ones do.
func (nw *Network) Cut(a, b string) {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	nw.cuts[pair(a, b)] = true
	for conn, ends := range nw.conns {
		if ends == pair(a, b) {
			conn.Close()
		}
	}
}

// Isolate cuts a node off from others.
func (nw *Network) Isolate(n *Node, others []*Node) {
	for _, other := range others {
		nw.Cut(n.ID, other.ID)
	}
}

// Heal ends all cuts.
func (nw *Network) Heal() {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	clear(nw.cuts)
}

// enter lets a relayed connection between two nodes be, unless they are cut off.
func (nw *Network) enter(ends [2]string, conns ...net.Conn) bool {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	if nw.cuts[ends] {
		return false
	}
	for _, conn := range conns {
		nw.conns[conn] = ends
	}
	return true
}

func (nw *Network) leave(conns ...net.Conn) {
	nw.mu.Lock()
	defer nw.mu.Unlock()
	for _, conn := range conns {
		delete(nw.conns, conn)
		conn.Close()
	}
}

// relay listens in front of a node and answers the address.
func (nw *Network) relay(tb testing.TB, node *Node) string {
	tb.Helper()
	l, err := net.Listen("tcp", FreeAddrs(tb, 1)[0])
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go nw.carry(conn, node)
		}
	}()
	return l.Addr().String()
}

func (nw *Network) carry(from net.Conn, node *Node) {
	defer from.Close()
	from.SetReadDeadline(time.Now().Add(5 * time.Second))
	said, sender := greeting(from)
	from.SetReadDeadline(time.Time{})
	ends := pair(sender, node.ID)
	if sender == "" || !nw.enter(ends) {
		return
	}
	to, err := net.Dial("tcp", node.Raft)
	if err != nil {
		return
	}
	defer nw.leave(from, to)
	if !nw.enter(ends, from, to) {
		return
	}
	if _, err := to.Write(said); err != nil {
		return
	}
	go func() {
		io.Copy(from, to)
		from.Close()
	}()
	io.Copy(to, from)
}

// greeting reads what a node says first, and who it is (docs/format.md).
func greeting(r io.Reader) (said []byte, node string) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil || !bytes.HasPrefix(head, []byte("RFNC")) {
		return nil, ""
	}
	body := make([]byte, binary.BigEndian.Uint16(head[6:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, ""
	}
	rest := body[1+int(body[0]):] // behind the cluster's id
	return append(head, body...), string(rest[1 : 1+int(rest[0])])
}
