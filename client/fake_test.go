package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func init() { redis.SetLogger(silence{}) }

// silence drops what the driver says of nodes that a test has killed.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// cluster stands for one in tests of the client's timing: exclusive locks, one
// state behind all nodes, and faults on demand. Its leases end exactly on time.
type cluster struct {
	t     *testing.T
	nodes map[string]*fakeNode

	mu     sync.Mutex
	tokens int64
	locks  map[string]*fakeLock
	lines  map[string][]*fakeWaiter
	counts map[string]int // commands executed
	log    []string
	// refuse, if set, answers instead of the command; "" lets it pass.
	refuse func(node string, args []string) string
	// swallow, if set, says that the command is executed and its reply lost.
	swallow func(node string, args []string) bool
}

type fakeLock struct {
	owner string
	token int64
	until time.Time
}

type fakeWaiter struct {
	owner  string
	ttl    time.Duration
	served chan string
}

type fakeNode struct {
	addr  string
	mu    sync.Mutex
	conns map[net.Conn]bool
	down  bool
	hung  chan struct{} // closed when the node goes on; nil while it runs
}

func newCluster(t *testing.T, addrs ...string) *cluster {
	c := &cluster{
		t: t, nodes: map[string]*fakeNode{}, locks: map[string]*fakeLock{},
		lines: map[string][]*fakeWaiter{}, counts: map[string]int{},
	}
	for _, a := range addrs {
		c.nodes[a] = &fakeNode{addr: a, conns: map[net.Conn]bool{}}
	}
	return c
}

// client is one whose clock is the bubble's.
func (c *cluster) client(addrs ...string) *Client {
	c.t.Helper()
	cl, err := Open(Options{Addresses: addrs, Dial: c.dial})
	if err != nil {
		c.t.Fatal(err)
	}
	began := time.Now()
	cl.now = func() time.Duration { return time.Since(began) }
	return cl
}

func (c *cluster) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n := c.nodes[addr]
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	near, far := net.Pipe()
	n.conns[far] = true
	go c.serve(n, far)
	return near, nil
}

func (n *fakeNode) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
	for conn := range n.conns {
		conn.Close()
	}
	clear(n.conns)
}

func (n *fakeNode) start() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}

func (n *fakeNode) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hung = make(chan struct{})
}

func (n *fakeNode) cont() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.hung)
	n.hung = nil
}

func (n *fakeNode) pass() {
	n.mu.Lock()
	hung := n.hung
	n.mu.Unlock()
	if hung != nil {
		<-hung
	}
}

func (c *cluster) serve(n *fakeNode, conn net.Conn) {
	defer conn.Close()
	in := make(chan []string)
	go func() {
		defer close(in)
		r := bufio.NewReader(conn)
		for {
			args, err := readCommand(r)
			if err != nil {
				return
			}
			in <- args
		}
	}()
	for args := range in {
		n.pass()
		reply := ""
		if c.refuse != nil {
			reply = c.refuse(n.addr, args)
		}
		if reply == "" {
			if reply = c.run(n, args, in); reply == "" {
				return
			}
		}
		n.pass()
		if c.swallow != nil && c.swallow(n.addr, args) {
			return
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			break
		}
	}
	for range in {
	}
}

func readCommand(r *bufio.Reader) ([]string, error) {
	number := func() (int, error) {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	n, err := number()
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := number()
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

// run executes a command: "" if the connection is to be closed.
func (c *cluster) run(n *fakeNode, args []string, in chan []string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := strings.ToUpper(args[0])
	c.counts[name]++
	c.log = append(c.log, fmt.Sprintf("%s %s", n.addr, strings.Join(args, " ")))
	switch name {
	case "HELLO":
		return "%1\r\n+proto\r\n:3\r\n"
	case "CLIENT", "SELECT":
		return "+OK\r\n"
	case "EXISTS":
		return ":0\r\n"
	case "LOCK.ACQUIRE":
		return c.acquire(args, in)
	case "LOCK.EXTEND":
		if l := c.held(args[1]); l != nil && l.owner == args[2] {
			l.until = time.Now().Add(millisOf(args[3]))
			return ":1\r\n"
		}
		return ":0\r\n"
	case "LOCK.RELEASE":
		if l := c.held(args[1]); l != nil && l.owner == args[2] {
			delete(c.locks, args[1])
			c.next(args[1])
			return ":1\r\n"
		}
		return ":0\r\n"
	case "LOCK.CANCEL":
		return c.leave(args[1], args[2])
	case "LOCK.CHECK":
		if l := c.held(args[1]); l != nil && strconv.FormatInt(l.token, 10) == args[2] {
			return ":1\r\n"
		}
		return ":0\r\n"
	}
	return "-ERR unknown command '" + args[0] + "'\r\n"
}

func millisOf(text string) time.Duration {
	n, _ := strconv.Atoi(text)
	return time.Duration(n) * time.Millisecond
}

func (c *cluster) held(name string) *fakeLock {
	l := c.locks[name]
	if l != nil && !time.Now().Before(l.until) {
		delete(c.locks, name)
		return nil
	}
	return l
}

func (c *cluster) grant(name, owner string, ttl time.Duration) string {
	l := c.held(name)
	until := time.Now().Add(ttl)
	switch {
	case l == nil:
		c.tokens++
		l = &fakeLock{owner: owner, token: c.tokens, until: until}
		c.locks[name] = l
	case l.owner == owner && until.After(l.until):
		l.until = until
	case l.owner != owner:
		return ""
	}
	time.AfterFunc(time.Until(l.until), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.next(name)
	})
	return fmt.Sprintf("*2\r\n:%d\r\n:%d\r\n", l.token, ttl.Milliseconds())
}

func (c *cluster) acquire(args []string, in chan []string) string {
	ttl := millisOf(args[3])
	if reply := c.grant(args[1], args[2], ttl); reply != "" {
		return reply
	}
	if len(args) < 6 || strings.ToUpper(args[4]) != "WAIT" {
		return "_\r\n"
	}
	w := &fakeWaiter{owner: args[2], ttl: ttl, served: make(chan string, 1)}
	c.lines[args[1]] = append(c.lines[args[1]], w)
	c.mu.Unlock()
	defer c.mu.Lock()
	timer := time.NewTimer(millisOf(args[5]))
	defer timer.Stop()
	select {
	case reply := <-w.served:
		return reply
	case <-timer.C:
	case <-in: // the client has gone
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(args[1], args[2])
	return "_\r\n"
}

func (c *cluster) leave(name, owner string) string {
	for i, w := range c.lines[name] {
		if w.owner == owner {
			c.lines[name] = append(c.lines[name][:i:i], c.lines[name][i+1:]...)
			w.served <- "_\r\n"
			return ":1\r\n"
		}
	}
	return ":0\r\n"
}

// next serves the line of a free name.
func (c *cluster) next(name string) {
	if c.held(name) != nil || len(c.lines[name]) == 0 {
		return
	}
	w := c.lines[name][0]
	c.lines[name] = c.lines[name][1:]
	w.served <- c.grant(name, w.owner, w.ttl)
}

// holder is the owner of a lock, "" without one.
func (c *cluster) holder(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.held(name); l != nil {
		return l.owner
	}
	return ""
}

func (c *cluster) count(command string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[command]
}

func (c *cluster) waitingFor(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lines[name])
}

// take ends a lock behind its holder's back.
func (c *cluster) take(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.locks, name)
	c.next(name)
}

func (c *cluster) until(name string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.held(name); l != nil {
		return l.until
	}
	return time.Time{}
}
