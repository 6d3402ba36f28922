package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// node is one address of the cluster.
type node struct {
	c     *Client
	addr  string
	redis *redis.Client

	mu      sync.Mutex
	waiting int           // waits on this node
	down    chan struct{} // closed when the node is given up; nil while nobody waits
}

// connections makes a pool of connections to one node. It never tries again by
// itself: who asks again is decided here.
func (c *Client) connections(addr string, size int) *redis.Client {
	network := "tcp"
	if path, unix := strings.CutPrefix(addr, "unix:"); unix {
		network, addr = "unix", path
	}
	o := &redis.Options{
		Network: network, Addr: addr, ClientName: c.opt.Name, Username: c.opt.Username, Password: c.opt.Password,
		DB: c.opt.DB, TLSConfig: c.opt.TLS, Protocol: 3, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: dialMax, ReadTimeout: -1, WriteTimeout: tryMax, PoolTimeout: tryMax,
		ContextTimeoutEnabled: true, PoolSize: size, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   c.opt.Dial,
	}
	return redis.NewClient(o)
}

// call is a command that may be sent again.
type call func(ctx context.Context, r *redis.Client) (any, error)

func command(args ...any) call {
	return func(ctx context.Context, r *redis.Client) (any, error) { return r.Do(ctx, args...).Result() }
}

// answer is what asking came to. A null is a nil value without an error.
type answer struct {
	value any
	err   error
	sent  time.Duration // when the try began that was answered
	// stray says that a try before it may have been executed, or may yet be.
	stray bool
}

// ask sends a command to one node after the other until one answers or ctx ends.
// A try takes at most as long as given.
func (c *Client) ask(ctx context.Context, try time.Duration, f call) answer {
	return c.askThrough(ctx, func(n *node) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, try)
		defer cancel()
		return await(ctx, func() (any, error) { return f(ctx, n.redis) })
	})
}

// askThrough is ask with a way of its own to ask one node.
func (c *Client) askThrough(ctx context.Context, through func(n *node) (any, error)) answer {
	a := answer{}
	pause := pauseFirst
	for tries := 1; ; tries++ {
		n, at := c.node()
		a.sent = c.now()
		a.value, a.err = through(n)
		switch fateOf(a.err) {
		case answered:
			if errors.Is(a.err, redis.Nil) {
				a.value, a.err = nil, nil
			}
			return a
		case unknown:
			a.stray = true
		}
		if ctx.Err() != nil {
			a.err = gaveUp(ctx, a.err)
			return a
		}
		c.leave(at)
		if tries%len(c.nodes) == 0 {
			rest(ctx, pause/2+rand.N(pause))
			pause = min(2*pause, pauseLast)
		}
	}
}

// await runs f, but returns when ctx ends: the driver looks at deadlines alone.
// What f comes to then is lost.
func await(ctx context.Context, f func() (any, error)) (any, error) {
	type result struct {
		value any
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// node is the one to ask now.
func (c *Client) node() (*node, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[c.current], c.current
}

// leave moves on from a node that failed, unless somebody has already.
func (c *Client) leave(at int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == at {
		c.current = (at + 1) % len(c.nodes)
	}
}

// errNodeDown is what a wait ends with on a node that is given up.
var errNodeDown = errors.New("client: the node is out of touch with the cluster")

// wait sends a command that blocks, on a connection of its own, which is closed
// when ctx ends: so the node learns that nobody waits any more.
func (n *node) wait(ctx context.Context, most time.Duration, f call) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, most+waitSlack)
	defer cancel()
	down, stop := n.watch()
	defer stop()
	r := n.c.connections(n.addr, 1)
	defer r.Close()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-down:
			giveUp(errNodeDown)
		case <-over:
		}
	}()
	return await(ctx, func() (any, error) { return f(ctx, r) })
}

// watch tells when the node can't serve any more: while anybody waits on it, it is
// asked for something that needs the cluster.
func (n *node) watch() (down <-chan struct{}, stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting++; n.down == nil {
		n.down = make(chan struct{})
		go n.probe(n.down)
	}
	d := n.down
	return d, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.waiting--
	}
}

// probe asks until nobody waits or the node has failed for probeGrace.
func (n *node) probe(down chan struct{}) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	well := n.c.now()
	for {
		select {
		case <-tick.C:
		case <-n.c.life.Done():
		}
		if n.unwatched(down) {
			return
		}
		ctx, cancel := context.WithTimeout(n.c.life, probeGrace)
		_, err := await(ctx, func() (any, error) { return n.redis.Exists(ctx, "").Result() })
		cancel()
		if fateOf(err) == answered {
			well = n.c.now()
		} else if n.c.now()-well >= probeGrace {
			n.mu.Lock()
			n.down = nil
			n.mu.Unlock()
			close(down)
			return
		}
	}
}

// unwatched says whether the probe can end.
func (n *node) unwatched(down chan struct{}) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting > 0 && n.c.life.Err() == nil {
		return false
	}
	if n.down == down {
		n.down = nil
	}
	return true
}
