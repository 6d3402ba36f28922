package process_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/linear"
	"github.com/redfence/redfence/tests/internal/process"
)

var (
	faultCount = flag.Int("faults", 8, "how many faults a run under the nemesis has")
	seedFlag   = flag.Uint64("seed", 0, "of a run under the nemesis; 0 takes one from the clock")
)

// nemesis does harm to the nodes of a cluster.
type nemesis struct {
	t   *testing.T
	c   *process.Cluster
	nw  *process.Network
	rng *rand.Rand
	log []string
}

// strike does one kind of harm for a while and ends it.
func (n *nemesis) strike() {
	victim := n.c.Nodes[n.rng.IntN(len(n.c.Nodes))]
	if n.rng.IntN(2) == 0 {
		victim = n.c.Leader()
	}
	others := n.c.Others(victim)
	lasts := 300*time.Millisecond + time.Duration(n.rng.Int64N(int64(2*time.Second)))
	say := func(what string) { n.log = append(n.log, fmt.Sprintf("%s %s for %v", what, victim.ID, lasts)) }
	switch n.rng.IntN(4) {
	case 0:
		say("kill")
		victim.Kill()
		pause(n.t, lasts/2)
		victim.Start()
	case 1:
		say("stop")
		victim.Stop()
		pause(n.t, lasts)
		victim.Continue()
	case 2:
		say("isolate")
		n.nw.Isolate(victim, others)
		pause(n.t, lasts)
		n.nw.Heal()
	case 3:
		say("cut from " + others[0].ID + ":")
		n.nw.Cut(victim.ID, others[0].ID)
		pause(n.t, lasts)
		n.nw.Heal()
	}
	n.c.Ready()
}

// TestNativeLocksUnderNemesis: promises 1, 3 and 6, as Jepsen tested Hazelcast's
// FencedLock and its semaphore: owner-aware, fenced mutexes and a semaphore of 2
// permits, idempotent by owner, on real nodes that are killed, stopped and cut off.
// Some clients wait in line, some release what they don't hold. Porcupine judges.
func TestNativeLocksUnderNemesis(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	c, nw := process.StartApart(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var h linear.History
	var clients sync.WaitGroup
	for i := range 9 {
		conn := process.NewClient(c.Nodes[i%3].Client)
		defer conn.Close()
		rng := rand.New(rand.NewPCG(seed, uint64(i+1)))
		clients.Go(func() { linear.NativeClient(ctx, i, conn, rng, 40*time.Millisecond, &h) })
	}
	n := &nemesis{t: t, c: c, nw: nw, rng: rand.New(rand.NewPCG(seed, 0))}
	for range *faultCount {
		n.strike()
		n.settle(&h)
	}
	cancel()
	clients.Wait()
	grants, unknown := 0, 0
	h.Each(func(in linear.Request, out linear.Answer, _ time.Duration) {
		switch {
		case out.Unknown:
			unknown++
		case in.Op != "release" && out.Text != "":
			grants++
		}
	})
	t.Logf("seed %d: %d grants, %d commands of unknown outcome; %s", seed, grants, unknown, strings.Join(n.log, ", "))
	if grants < 10**faultCount {
		t.Errorf("%d grants in %d faults: too few to judge", grants, *faultCount)
	}
	h.Check(t, linear.Native, fmt.Sprint("nemesis-", seed), fmt.Sprintf("the schedule's seed is %d", seed))
}

// settle waits until locks are granted again after a fault.
func (n *nemesis) settle(h *linear.History) {
	count := func() (grants int) {
		h.Each(func(in linear.Request, out linear.Answer, _ time.Duration) {
			if in.Op != "release" && out.Text != "" && !out.Unknown {
				grants++
			}
		})
		return grants
	}
	before := count()
	process.Until(n.t, "locks are granted again", func() bool { return count() > before+20 })
}
