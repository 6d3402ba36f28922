package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Options say how to reach a cluster. Only Addresses must be given.
type Options struct {
	// Addresses are shared ports of any nodes, host:port or unix:/path. The first is
	// asked until it fails. They are alternatives: never list the seat ports.
	Addresses []string
	// Name is shown by LOCK.INFO and CLIENT LIST; empty for none.
	Name               string
	Username, Password string
	// TLS is used for every connection, nil for none.
	TLS *tls.Config
	// DB is the database whose names are meant.
	DB int
	// Dial makes the connections, TLS included; nil for the usual way.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Client speaks to one cluster. It may be used by any number of goroutines.
type Client struct {
	opt   Options
	nodes []*node
	now   func() time.Duration // the clock that leases are counted by

	life context.Context // ends with Close
	end  context.CancelCauseFunc

	mu      sync.Mutex
	current int // the node that is asked first
	busy    int // acquisitions and releases under way, those in the background included
	closed  bool
	idle    chan struct{} // closed when busy comes to 0 after Close
}

// New makes a client of the cluster that the addresses are of: shared ports of
// any of its nodes. Nothing is dialled yet.
func New(addresses ...string) (*Client, error) { return Open(Options{Addresses: addresses}) }

// Open is New with more to say.
func Open(o Options) (*Client, error) {
	if len(o.Addresses) == 0 {
		return nil, errors.New("client: no address of a node was given")
	}
	c := &Client{opt: o, now: elapsed, idle: make(chan struct{})}
	c.life, c.end = context.WithCancelCause(context.Background())
	for _, addr := range o.Addresses {
		if addr == "" || addr == "unix:" {
			return nil, fmt.Errorf("client: %q is no address of a node", addr)
		}
		c.nodes = append(c.nodes, &node{c: c, addr: addr, redis: c.connections(addr, poolSize)})
	}
	return c, nil
}

// Close ends every wait, renewal and Context of this client, waits a few seconds for
// what is being released, and closes the connections. Locks that are still held
// are not released: they run out. It may be called again.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	if c.busy == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	c.end(ErrClosed)
	bound := time.NewTimer(closeMax)
	defer bound.Stop()
	select {
	case <-c.idle:
	case <-bound.C:
	}
	var errs []error
	for _, n := range c.nodes {
		errs = append(errs, n.redis.Close())
	}
	return errors.Join(errs...)
}

// enter begins something that Close waits for; false after Close.
func (c *Client) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.busy++
	return true
}

// exit ends what enter began.
func (c *Client) exit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy--; c.busy == 0 && c.closed {
		close(c.idle)
	}
}

// background runs what cleans up after somebody who no longer waits for it, and may
// go on for closeMax after Close. The caller has entered.
func (c *Client) background(f func(ctx context.Context)) {
	c.mu.Lock()
	c.busy++
	c.mu.Unlock()
	go func() {
		defer c.exit()
		ctx, cancel := context.WithTimeout(context.Background(), cleanUpMax)
		defer cancel()
		stop := context.AfterFunc(c.life, func() {
			bound := time.AfterFunc(closeMax, cancel)
			context.AfterFunc(ctx, func() { bound.Stop() })
		})
		defer stop()
		f(ctx)
	}()
}

// untilClosed is ctx that ends with the client, too.
func (c *Client) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// Do sends one command of any kind, of which the answer doesn't matter when it is
// lost and asked for again: on an error that leaves its fate open it goes to
// another node, until ctx ends. What the server refuses for good is returned as it is.
func (c *Client) Do(ctx context.Context, args ...any) (any, error) {
	ctx, cancel := c.untilClosed(ctx)
	defer cancel()
	a := c.ask(ctx, tryMax, command(args...))
	return a.value, a.err
}
