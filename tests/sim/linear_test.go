package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/linear"
)

// TestLinearizableUnderFaults: promises 1, 4, 5 and 6, judged by porcupine.
func TestLinearizableUnderFaults(t *testing.T) {
	var known, unknown int
	for s := *seed; s < *seed+uint64(max(1, *runs/4)); s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			var h linear.History
			var f *faults
			synctest.Test(t, func(t *testing.T) { f = linearRun(t, s, linearClient, &h) })
			h.Each(func(_ linear.Request, out linear.Answer, _ time.Duration) {
				if out.Unknown {
					unknown++
				} else {
					known++
				}
			})
			h.Check(t, linear.Lock, fmt.Sprint("sim-", s), f.again(s))
		})
	}
	t.Logf("%d commands of known and %d of unknown outcome", known, unknown)
	if known == 0 {
		t.Error("nothing was done")
	}
}

// worker is one client of a run, until ctx ends.
type worker func(ctx context.Context, id int, conn *redis.Client, rng *rand.Rand, h *linear.History)

func linearRun(t *testing.T, s uint64, work worker, h *linear.History) *faults {
	rng := rand.New(rand.NewPCG(s, 7))
	c := newCluster(t, rng)
	c.start()
	defer c.stop()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var conns []*redis.Client
	for i := range 6 {
		conn := c.redis(fmt.Sprintf("10.0.1.%d", i+1), c.nodes[i%3])
		conns = append(conns, conn)
		own := rand.New(rand.NewPCG(s, uint64(i+1)))
		clients.Go(func() { work(ctx, i, conn, own, h) })
	}
	f := &faults{c: c, rng: rand.New(rand.NewPCG(s, 1000))}
	f.run(runTime / 2)
	c.ready()
	cancel()
	clients.Wait()
	for _, conn := range conns {
		conn.Close()
	}
	return f
}

func linearClient(ctx context.Context, id int, conn *redis.Client, rng *rand.Rand, h *linear.History) {
	held := map[string]string{}
	for round := 0; ctx.Err() == nil; round++ {
		key := fmt.Sprintf("k%d", rng.IntN(3))
		value := fmt.Sprintf("c%d-%d", id, round)
		switch {
		case held[key] != "":
			value = held[key]
			out := h.Do(id, linear.Request{Key: key, Op: "free", Value: value}, func() (string, error) {
				n, err := conn.Eval(ctx, releaseScript, []string{key}, value).Int()
				return strconv.Itoa(n), err
			})
			if !out.Unknown {
				delete(held, key)
			}
		case rng.IntN(2) == 0:
			h.Do(id, linear.Request{Key: key, Op: "look"}, func() (string, error) { return conn.Get(ctx, key).Result() })
		default:
			out := h.Do(id, linear.Request{Key: key, Op: "take", Value: value}, func() (string, error) {
				return conn.Do(ctx, "SET", key, value, "NX").Text()
			})
			if out.Unknown || out.Text == "OK" {
				held[key] = value
			}
		}
		select {
		case <-time.After(time.Duration(rng.IntN(40)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// again says how to run a seed again, and what happened in it.
func (f *faults) again(seed uint64) string {
	return fmt.Sprintf("repeat with: make sim SEED=%d RUNS=1\nfaults:\n%s", seed, strings.Join(f.log, "\n"))
}
