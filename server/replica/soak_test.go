package replica

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

var (
	soakSeed = flag.Uint64("seed", 0, "of the faults of TestFaultsOfEveryKind; 0 picks one")
	soakTime = flag.Duration("soak", 4*time.Second, "how long TestFaultsOfEveryKind goes on")
)

const soakCounters = 8

// soak is a cluster on real disks and sockets under load while faults happen.
type soak struct {
	*cluster
	network *switchboard
	rng     *rand.Rand
	counts  [soakCounters]count
	stop    atomic.Bool
	workers sync.WaitGroup

	mu sync.Mutex // of cluster.nodes
}

// TestFaultsOfEveryKind kills, wipes, cuts off and hands over at random while
// every node takes commands: each acknowledged INCR counts once, no read is
// stale, and in the end all machines are alike.
//
//	go test -tags hashicorpmetrics -run FaultsOfEveryKind ./server/replica -seed=7 -soak=1m
func TestFaultsOfEveryKind(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to repeat the faults: -seed=%d", seed)
	s := &soak{network: newSwitchboard(), rng: rand.New(rand.NewPCG(seed, 0))}
	s.cluster = newCluster(t, 3, func(cfg *Config) {
		cfg.Dial = s.network.dialer(cfg.RaftListen)
		cfg.NoLeaderWait, cfg.AnswerWait, cfg.SnapshotBytes = time.Second, 2*time.Second, 200_000
	})
	for i := range 24 {
		s.workers.Add(1)
		go s.write(i)
	}
	for i := range 6 {
		s.workers.Add(1)
		go s.read(i)
	}
	for end := time.Now().Add(*soakTime); time.Now().Before(end) && !t.Failed(); {
		s.fault()
		s.wait(700)
	}
	s.stop.Store(true)
	s.workers.Wait()
	s.check()
}

// node is a node if it runs.
func (s *soak) node(i int) *Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[i%len(s.nodes)]
}

func (s *soak) set(i int, n *Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[i] = n
}

// wait lets up to so many milliseconds pass.
func (s *soak) wait(most int) { <-time.After(time.Duration(s.rng.IntN(most)) * time.Millisecond) }

func (s *soak) fault() {
	i := s.rng.IntN(len(s.nodes))
	switch dice := s.rng.IntN(12); {
	case dice < 4:
		s.restart(i, dice == 0)
	case dice < 7:
		addr := s.cfgs[i].RaftListen
		s.network.cut(addr)
		s.wait(900)
		s.network.heal(addr)
	case dice < 10:
		for _, n := range s.nodes {
			_ = n.Handover(context.Background()) // it may fail while a node is away
		}
	default:
		_ = s.nodes[i].Snapshot() // there may be nothing new
	}
}

// restart kills a node, wipes its disk perhaps, and waits until it has its vote again.
func (s *soak) restart(i int, wipe bool) {
	n := s.nodes[i]
	s.set(i, nil)
	n.port.close()
	if err := n.Close(); err != nil {
		s.t.Error(err)
	}
	if wipe {
		s.wipe(i)
	}
	s.wait(600)
	n = start(s.t, s.cfgs[i])
	s.set(i, n)
	ready(s.t, n)
	eventually(s.t, 20*time.Second, "all vote", func() bool {
		// A node that was just let in knows nobody yet.
		voters := 0
		for _, m := range n.Status().Members {
			if m.Voter {
				voters++
			}
		}
		return voters == len(s.nodes)
	})
}

func (s *soak) write(worker int) {
	defer s.workers.Done()
	c := &s.counts[worker%soakCounters]
	cmds := cmds("incr", fmt.Sprint("c", worker%soakCounters))
	for !s.stop.Load() {
		n := s.node(worker)
		if n == nil {
			<-time.After(5 * time.Millisecond)
			continue
		}
		answers, err := n.Do(context.Background(), fsm.Client{}, cmds)
		switch {
		case err == nil && answers[0].Value.Kind == reply.Int:
			c.acked.Add(1)
		case err == nil || errors.Is(err, ErrUnknownOutcome):
			c.unknown.Add(1)
		default:
			c.refused.Add(1)
			<-time.After(time.Millisecond)
		}
	}
}

// read checks that a read shows what was acknowledged before it was sent, and
// what an earlier read showed.
func (s *soak) read(worker int) {
	defer s.workers.Done()
	var seen [soakCounters]int64
	for !s.stop.Load() {
		n := s.node(worker)
		if n == nil {
			<-time.After(5 * time.Millisecond)
			continue
		}
		k := rand.IntN(soakCounters)
		least := max(s.counts[k].acked.Load(), seen[k])
		answers, err := n.Do(context.Background(), fsm.Client{}, cmds("get", fmt.Sprint("c", k)))
		if err != nil {
			continue
		}
		seen[k], _ = strconv.ParseInt(answers[0].Value.Str, 10, 64)
		if seen[k] < least {
			s.t.Errorf("a stale read through %s: c%d is %d, %d was known before", n.cfg.NodeID, k, seen[k], least)
		}
	}
}

func (s *soak) check() {
	s.ready()
	for k := range soakCounters {
		s.counts[k].check(s.t, do(s.t, s.nodes[k%len(s.nodes)], "incrby", fmt.Sprint("c", k), "0").Int)
	}
	eventually(s.t, 10*time.Second, "equal machines", func() bool {
		i1, h1 := s.nodes[0].StateHash()
		i2, h2 := s.nodes[1].StateHash()
		i3, h3 := s.nodes[2].StateHash()
		return i1 == i2 && i2 == i3 && h1 == h2 && h2 == h3
	})
}
