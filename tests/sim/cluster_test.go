package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server"
	"github.com/redfence/redfence/server/replica"
)

// cluster is three nodes on a virtual network, each with a disk that outlives it
// and clocks of its own.
type cluster struct {
	t     *testing.T
	net   *Network
	nodes []*node
}

type node struct {
	c        *cluster
	id       string
	host     string // its address on the network; a name would be looked up outside the bubble
	addr     string // of the shared port
	raft     string
	disk     *replica.Memory
	born     time.Time
	rate     float64      // of its monotonic clock, within a thousandth of 1
	wallJump atomic.Int64 // nanoseconds that its wall clock is off
	rng      *rand.Rand
	replica  *replica.Node // nil while it is down
	server   *server.Server
}

func newCluster(t *testing.T, rng *rand.Rand) *cluster {
	c := &cluster{t: t, net: NewNetwork()}
	for i := range 3 {
		id, host := fmt.Sprintf("n%d", i+1), fmt.Sprintf("10.0.0.%d", i+1)
		c.nodes = append(c.nodes, &node{
			c: c, id: id, host: host, addr: host + ":6379", raft: host + ":7379", disk: replica.NewMemory(),
			born: time.Now(), rate: 1 + (rng.Float64()*2-1)/1000, rng: rand.New(rand.NewPCG(rng.Uint64(), 0)),
		})
	}
	return c
}

func (c *cluster) start() {
	c.t.Helper()
	for _, n := range c.nodes {
		n.start()
	}
	c.ready()
}

// ready waits until every node can serve.
func (c *cluster) ready() {
	c.t.Helper()
	for _, n := range c.nodes {
		c.until(n.id+" is ready", func() bool { return n.replica != nil && n.replica.Ready() == nil })
	}
}

func (c *cluster) until(what string, cond func() bool) {
	c.t.Helper()
	for range 6000 {
		if cond() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("not within a minute: %s", what)
}

func (n *node) start() {
	n.c.t.Helper()
	var peers []replica.Peer
	for _, p := range n.c.nodes {
		peers = append(peers, replica.Peer{ID: p.id, Addr: p.raft})
	}
	r, err := replica.Start(context.Background(), replica.Config{
		NodeID: n.id, RaftListen: n.raft, Cluster: peers, Seats: 3, Held: n.disk,
		Addresses: replica.Addresses{Client: n.addr},
		Listen:    n.c.net.Listen,
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return n.c.net.Dial(n.host, addr, time.Second)
		},
		Mono:  func() time.Duration { return time.Duration(float64(time.Since(n.born)) * n.rate) },
		Wall:  func() int64 { return time.Now().Add(time.Duration(n.wallJump.Load())).UnixMicro() },
		Seed:  n.rng.Uint64,
		Fatal: func(err error) { n.c.t.Errorf("%s can't go on: %v", n.id, err) },
	})
	if err != nil {
		n.c.t.Fatalf("%s: %v", n.id, err)
	}
	s, err := server.New(r, server.Config{NodeID: n.id, Elapsed: func() time.Duration { return time.Since(n.born) }})
	if err != nil {
		n.c.t.Fatal(err)
	}
	ln, err := n.c.net.Listen(n.addr)
	if err != nil {
		n.c.t.Fatal(err)
	}
	go s.Serve(ln, fsm.SharedSpace)
	n.replica, n.server = r, s
}

// crash ends the node without a word to anybody; its disk stays.
func (n *node) crash() {
	n.c.net.Crash(n.host)
	n.shut()
}

func (n *node) shut() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	// A crash has no use for the error of what it breaks off.
	_ = n.server.Shutdown(ctx)
	_ = n.replica.Close()
	n.c.net.Crash(n.host) // what others had open to it ends as when a process ends
	n.replica, n.server = nil, nil
}

func (c *cluster) stop() {
	for _, n := range c.nodes {
		if n.replica != nil {
			n.shut()
		}
	}
	time.Sleep(time.Minute) // go-redis and raft end what they do beside their work
}

// redis is an unmodified go-redis that talks to one node from a host of its own.
func (c *cluster) redis(host string, n *node) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: n.addr, MaxRetries: -1, PoolSize: 2, ReadTimeout: 20 * time.Second, ContextTimeoutEnabled: true,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return c.net.Dial(host, n.addr, 2*time.Second)
		},
	})
}

// leader is the node that serves as one, nil if none does just now.
func (c *cluster) leader() *node {
	for _, n := range c.nodes {
		if n.replica != nil && n.replica.Status().Role == replica.RoleLeader {
			return n
		}
	}
	return nil
}
