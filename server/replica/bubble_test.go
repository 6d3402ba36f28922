package replica

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// pipes is a network inside a bubble of virtual time.
type pipes struct {
	mu     sync.Mutex
	listen map[string]*pipeListener
}

type pipeListener struct {
	net    *pipes
	addr   string
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{listen: map[string]*pipeListener{}} }

func (p *pipes) Listen(addr string) (net.Listener, error) {
	l := &pipeListener{net: p, addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listen[addr] = l
	return l, nil
}

func (p *pipes) Dial(ctx context.Context, addr string) (net.Conn, error) {
	p.mu.Lock()
	l := p.listen[addr]
	p.mu.Unlock()
	if l == nil {
		return nil, errors.New("connection refused")
	}
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return nodeAddr(l.addr) }

// inBubble runs f with a cluster in virtual time, on disks in memory.
func inBubble(t *testing.T, size int, change func(*Config), f func(t *testing.T, nodes []*Node)) {
	synctest.Test(t, func(t *testing.T) {
		network := newPipes()
		var line []Peer
		for _, id := range []string{"n1", "n2", "n3"}[:size] {
			line = append(line, Peer{id, id})
		}
		var nodes []*Node
		for _, p := range line {
			cfg := testConfig(t, p.ID, "")
			cfg.Held, cfg.Cluster, cfg.RaftListen = NewMemory(), line, p.Addr
			cfg.Heartbeat = 200 * time.Millisecond
			cfg.Listen, cfg.Dial = network.Listen, network.Dial
			if change != nil {
				change(&cfg)
			}
			n, err := Start(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, n)
		}
		for _, n := range nodes {
			ready(t, n)
		}
		f(t, nodes)
		for _, n := range nodes {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func entries(n *Node) uint64 { return n.stats.EntriesProposed.Load() }

func TestIdleClusterWritesNothing(t *testing.T) {
	inBubble(t, 3, nil, func(t *testing.T, nodes []*Node) {
		do(t, nodes[0], "set", "for", "ever")
		<-time.After(5 * time.Second)
		sum := func() (n uint64) {
			for _, x := range nodes {
				n += entries(x)
			}
			return n
		}
		before := sum()
		<-time.After(10 * time.Minute)
		if wrote := sum() - before; wrote != 0 {
			t.Fatalf("%d entries in ten idle minutes", wrote)
		}
	})
}

// TestHeartbeatsLeaveRoomForAStall: a leader may stand still for more than half of
// the followers' timeout, whatever that is, and stays the leader.
func TestHeartbeatsLeaveRoomForAStall(t *testing.T) {
	for _, timeout := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, time.Second} {
		inBubble(t, 3, func(cfg *Config) { cfg.Heartbeat = timeout }, func(t *testing.T, nodes []*Node) {
			worst := time.Duration(0)
			for range 5000 {
				<-time.After(timeout / 50)
				for _, n := range nodes {
					if r := n.raft.Load(); r.State() == raft.Follower {
						worst = max(worst, time.Since(r.LastContact()))
					}
				}
			}
			if worst > timeout*2/5 {
				t.Errorf("%v passed between heartbeats; followers ask for votes after %v", worst, timeout)
			}
			for _, n := range nodes {
				if term := n.raft.Load().CurrentTerm(); term > 3 {
					t.Errorf("term %d", term)
				}
			}
		})
	}
}

func TestCheckpointsWhileALeaseRuns(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, nodes []*Node) {
		<-time.After(3 * time.Second)
		do(t, nodes[0], "set", "k", "v", "px", "60000")
		before := entries(nodes[0])
		<-time.After(20 * time.Second)
		if wrote := entries(nodes[0]) - before; wrote < 19 || wrote > 21 {
			t.Fatalf("%d checkpoints in 20 s, want one a second", wrote)
		}
	})
}

func TestYoungTermChecksInOften(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, nodes []*Node) {
		do(t, nodes[0], "set", "k", "v", "px", "60000")
		before := entries(nodes[0])
		<-time.After(time.Second)
		if wrote := entries(nodes[0]) - before; wrote < 8 || wrote > 11 {
			t.Fatalf("%d checkpoints in the first second, want about ten", wrote)
		}
	})
}

// A lease ends at its time, by an entry, without anybody asking.
func TestLeaseEndsByItself(t *testing.T) {
	var mu sync.Mutex
	var expired []time.Time
	inBubble(t, 3, func(cfg *Config) {
		cfg.KeyEvents = true
		cfg.OnEvents = func(events []fsm.Event) {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range events {
				if e.Name == "expired" && e.Key == "k" {
					expired = append(expired, time.Now())
				}
			}
		}
	}, func(t *testing.T, nodes []*Node) {
		began := time.Now()
		do(t, nodes[1], "set", "k", "v", "px", "1500")
		<-time.After(1490 * time.Millisecond)
		wantReply(t, do(t, nodes[2], "get", "k"), reply.String("v"))
		<-time.After(20 * time.Millisecond)
		wantReply(t, do(t, nodes[2], "get", "k"), reply.Null)
		<-time.After(time.Second)
		mu.Lock()
		defer mu.Unlock()
		if len(expired) != 3 {
			t.Fatalf("%d nodes heard of it, want each once", len(expired))
		}
		for _, at := range expired {
			if took := at.Sub(began); took < 1500*time.Millisecond || took > 1520*time.Millisecond {
				t.Errorf("heard after %v", took)
			}
		}
	})
}

// A leader that is starved for more than half of ten seconds gives leadership away.
func TestStarvedLeaderHandsOver(t *testing.T) {
	began := time.Now()
	var starving atomic.Pointer[string]
	inBubble(t, 3, func(cfg *Config) {
		id := cfg.NodeID
		last, shown := time.Duration(0), time.Duration(0)
		var mu sync.Mutex
		cfg.Mono = func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			now := time.Since(began)
			passed := now - last
			if who := starving.Load(); who != nil && *who == id {
				passed *= 10 // it gets a tenth of the steps that it should
			}
			last, shown = now, shown+passed
			return shown
		}
	}, func(t *testing.T, nodes []*Node) {
		var leader *Node
		for _, n := range nodes {
			if n.serving.Load() != nil {
				leader = n
			}
		}
		starving.Store(&leader.cfg.NodeID)
		eventually(t, 15*time.Second, "another leads", func() bool { return leader.serving.Load() == nil })
		if leader.Status().LostTime < time.Second {
			t.Errorf("only %v were lost", leader.Status().LostTime)
		}
		wantReply(t, do(t, leader, "incr", "c"), reply.Integer(1))
	})
}
