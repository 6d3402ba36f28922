// Package sim runs the whole stack, three nodes with unmodified go-redis
// clients, in a bubble of virtual time, under faults that a seed decides.
package sim

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	seed = flag.Uint64("seed", 1, "seed of the first run")
	runs = flag.Int("runs", 200, "how many runs, each with the next seed")
)

func TestMain(m *testing.M) {
	flag.Parse()
	// What the driver logs about nodes that a fault has taken away is no news.
	redis.SetLogger(silence{})
	os.Exit(m.Run())
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// runTime is how long the faults of one run go on, in virtual time.
const runTime = 34 * time.Second

// TestLeasesUnderFaults: promises 1, 2, 3 and 5. No lease ends early, no lock has
// two holders, no token is lowered, whatever breaks meanwhile.
func TestLeasesUnderFaults(t *testing.T) {
	var mu sync.Mutex
	grants, unsure := 0, 0
	for s := *seed; s < *seed+uint64(*runs); s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := oneRun(t, s)
				mu.Lock()
				grants += l.grants
				unsure += l.unsure
				mu.Unlock()
			})
		})
	}
	t.Logf("%d runs, %d grants, %d answers of unknown outcome", *runs, grants, unsure)
	if grants < *runs*20 {
		t.Errorf("%d grants in %d runs: too few to show anything", grants, *runs)
	}
}

func oneRun(t *testing.T, s uint64) *ledger {
	rng := rand.New(rand.NewPCG(s, 0))
	c := newCluster(t, rng)
	c.start()
	defer c.stop()
	l := newLedger()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var conns []*redis.Client
	for i := range 6 {
		conn := c.redis(fmt.Sprintf("10.0.1.%d", i+1), c.nodes[i%3])
		conns = append(conns, conn)
		cl := &client{id: i, redis: conn, rng: rand.New(rand.NewPCG(s, uint64(i+1))), ledger: l, names: 3}
		clients.Go(func() { cl.run(ctx) })
	}
	f := &faults{c: c, rng: rand.New(rand.NewPCG(s, 1000))}
	f.run(runTime)
	c.ready()
	cancel()
	clients.Wait()
	for _, conn := range conns {
		conn.Close()
	}
	if len(l.breaches) > 0 {
		t.Errorf("repeat with: make sim SEED=%d RUNS=1\n%s\nfaults:\n%s", s,
			strings.Join(l.breaches, "\n"), strings.Join(f.log, "\n"))
	}
	return l
}
