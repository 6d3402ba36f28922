package replica

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// cluster is a few nodes of one process over TCP on the loopback.
type cluster struct {
	t     *testing.T
	cfgs  []Config
	nodes []*Node // nil while stopped
}

// lastPort is the port that freeAddr gave last. Below the system's own range no
// outgoing connection takes a port from a node that is between two starts.
var lastPort = 10_000 + rand.IntN(10_000)

// freeAddr is a loopback address that nobody listens on. It gives none twice.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 10_000 {
		lastPort++
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", lastPort)); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no free port")
	return ""
}

// newCluster starts size nodes named n1, n2, ... and waits until all are ready.
func newCluster(t *testing.T, size int, change ...func(*Config)) *cluster {
	t.Helper()
	c := planCluster(t, size, change...)
	for i := range c.nodes {
		c.start(i)
	}
	c.ready()
	return c
}

func planCluster(t *testing.T, size int, change ...func(*Config)) *cluster {
	t.Helper()
	c := &cluster{t: t, nodes: make([]*Node, size)}
	var line []Peer
	for i := range size {
		line = append(line, Peer{ID: fmt.Sprintf("n%d", i+1), Addr: freeAddr(t)})
	}
	for i := range size {
		cfg := testConfig(t, line[i].ID, t.TempDir())
		cfg.RaftListen, cfg.Cluster = line[i].Addr, line
		for _, f := range change {
			f(&cfg)
		}
		c.cfgs = append(c.cfgs, cfg)
	}
	return c
}

func (c *cluster) start(i int) *Node {
	c.t.Helper()
	c.nodes[i] = start(c.t, c.cfgs[i])
	return c.nodes[i]
}

func (c *cluster) stop(i int) {
	c.t.Helper()
	if err := c.nodes[i].Close(); err != nil {
		c.t.Fatalf("close %s: %v", c.cfgs[i].NodeID, err)
	}
	c.nodes[i] = nil
}

// ready waits until every running node is.
func (c *cluster) ready() {
	c.t.Helper()
	for _, n := range c.nodes {
		if n != nil {
			ready(c.t, n)
		}
	}
}

// leader waits for a node that leads and serves.
func (c *cluster) leader() int {
	c.t.Helper()
	found := -1
	eventually(c.t, 10*time.Second, "a leader", func() bool {
		for i, n := range c.nodes {
			if n != nil && n.serving.Load() != nil {
				found = i
				return true
			}
		}
		return false
	})
	return found
}

// another is a running node that is none of these.
func (c *cluster) another(not ...int) int {
	c.t.Helper()
next:
	for i, n := range c.nodes {
		if n == nil {
			continue
		}
		for _, x := range not {
			if x == i {
				continue next
			}
		}
		return i
	}
	c.t.Fatal("no other node runs")
	return -1
}

func TestThreeNodesServeEverywhere(t *testing.T) {
	c := newCluster(t, 3)
	for i, n := range c.nodes {
		key := fmt.Sprint("k", i)
		wantReply(t, do(t, n, "set", key, "v", "nx", "px", "60000"), reply.OK)
		for _, other := range c.nodes {
			wantReply(t, do(t, other, "get", key), reply.String("v"))
			wantReply(t, do(t, other, "set", key, "w", "nx"), reply.Null)
		}
	}
	eventually(t, 5*time.Second, "equal machines", func() bool {
		i1, h1 := c.nodes[0].StateHash()
		i2, h2 := c.nodes[1].StateHash()
		i3, h3 := c.nodes[2].StateHash()
		return i1 == i2 && i2 == i3 && h1 == h2 && h2 == h3
	})
}

func TestLeaderStopsAndTheOthersGoOn(t *testing.T) {
	c := newCluster(t, 3)
	first := c.leader()
	do(t, c.nodes[first], "set", "k", "v", "px", "60000")
	c.stop(first)
	other := c.nodes[c.another(first)]
	wantReply(t, do(t, other, "get", "k"), reply.String("v"))
	wantReply(t, do(t, other, "incr", "c"), reply.Integer(1))
	c.start(first)
	c.ready()
	wantReply(t, do(t, c.nodes[first], "incr", "c"), reply.Integer(2))
}

func TestHandover(t *testing.T) {
	c := newCluster(t, 3)
	first := c.leader()
	began := time.Now()
	if err := c.nodes[first].Handover(context.Background()); err != nil {
		t.Fatal(err)
	}
	wantReply(t, do(t, c.nodes[first], "incr", "c"), reply.Integer(1))
	if took := time.Since(began); took > 2*time.Second {
		t.Fatalf("handover and a command took %v", took)
	}
	if c.leader() == first {
		t.Fatal("it leads again at once")
	}
}

func TestNoLeaderIsSaidInTime(t *testing.T) {
	c := newCluster(t, 3, func(cfg *Config) { cfg.NoLeaderWait = 700 * time.Millisecond })
	l := c.leader()
	for i := range c.nodes {
		if i != l {
			c.stop(i)
		}
	}
	eventually(t, 5*time.Second, "not ready", func() bool { return c.nodes[l].Ready() != nil })
	for _, name := range []string{"get", "incr"} {
		began := time.Now()
		_, err := c.nodes[l].Do(t.Context(), fsm.Client{}, []fsm.Command{command(name, "k")})
		if err != ErrNoLeader {
			t.Fatalf("%s: got %v, want %v", name, err, ErrNoLeader)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Fatalf("%s: it took %v", name, took)
		}
	}
}

// kill stops a node without a word: its connections break first.
func (c *cluster) kill(i int) {
	c.t.Helper()
	c.nodes[i].port.close()
	c.stop(i)
}
