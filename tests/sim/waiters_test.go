package sim

import (
	"context"
	"errors"
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

// conveyor is a list of numbers: what was pushed to it, and what those who waited
// were given.
type conveyor struct {
	mu       sync.Mutex
	pushed   map[int]bool // acknowledged; false is of unknown outcome
	taken    map[int]int  // by which consumer
	unsure   int          // waits that may have been given something nobody saw
	waited   int          // waits that ended with nothing
	lost     int          // numbers that nobody saw
	breaches []string
}

func (v *conveyor) breach(format string, args ...any) {
	v.breaches = append(v.breaches, stamp(time.Now())+" "+fmt.Sprintf(format, args...))
}

// produce pushes rising numbers through any node until the run ends.
func (v *conveyor) produce(ctx context.Context, conns []*redis.Client, rng *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		v.mu.Lock()
		v.pushed[n] = false
		v.mu.Unlock()
		err := conns[rng.IntN(len(conns))].RPush(ctx, "line", n).Err()
		v.mu.Lock()
		switch {
		case err == nil:
			v.pushed[n] = true
		case linear.NotExecuted(err):
			delete(v.pushed, n)
		}
		v.mu.Unlock()
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
}

// consume waits through one node, again and again.
func (v *conveyor) consume(ctx context.Context, id int, conn *redis.Client, rng *rand.Rand) {
	last := -1
	for ctx.Err() == nil {
		limit := time.Duration(100+rng.IntN(3000)) * time.Millisecond
		pair, err := conn.BLPop(ctx, limit, "none", "line").Result()
		v.mu.Lock()
		switch {
		case err == nil:
			last = v.take(id, pair, last)
		case errors.Is(err, redis.Nil), linear.NotExecuted(err), strings.HasPrefix(err.Error(), "WAITLOST"):
			v.waited++
		default:
			v.unsure++
		}
		v.mu.Unlock()
		if err != nil {
			time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		}
	}
}

// take notes what a consumer was given. The lock is held.
func (v *conveyor) take(id int, pair []string, last int) int {
	n, err := strconv.Atoi(pair[1])
	sure, known := v.pushed[n]
	before, twice := v.taken[n]
	switch {
	case err != nil || !known || pair[0] != "line":
		v.breach("consumer %d was given %q, which nobody has pushed", id, pair)
	case twice:
		v.breach("%d was given to consumer %d after consumer %d", n, id, before)
	}
	v.taken[n] = id
	if !sure {
		return last // it may have been pushed late
	}
	if n < last {
		v.breach("consumer %d was given %d after %d", id, n, last)
	}
	return max(n, last)
}

// settle compares what was pushed with what was given and what is left.
func (v *conveyor) settle(left []string) {
	there := map[int]bool{}
	for _, text := range left {
		n, err := strconv.Atoi(text)
		if _, twice := v.taken[n]; err != nil || twice || there[n] {
			v.breach("%q is in the list, and was given to a consumer or is there twice", text)
		}
		there[n] = true
	}
	var lost []int
	for n, sure := range v.pushed {
		if _, taken := v.taken[n]; sure && !taken && !there[n] {
			lost = append(lost, n)
		}
	}
	v.lost = len(lost)
	if len(lost) > v.unsure {
		v.breach("%d were pushed and are nowhere, and %d waits were left without an answer: %v", len(lost), v.unsure, lost)
	}
}

// TestWaitersUnderFaults: promises 1, 6 and 7. What is pushed is given to one who
// waits, once, in order, or it is still there, whatever breaks meanwhile; only a
// wait without an answer can have taken something along.
func TestWaitersUnderFaults(t *testing.T) {
	taken, waited, unsure, lost := 0, 0, 0, 0
	for s := *seed; s < *seed+uint64(max(1, *runs/4)); s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := waitersRun(t, s)
				taken, waited, unsure, lost = taken+len(v.taken), waited+v.waited, unsure+v.unsure, lost+v.lost
			})
		})
	}
	t.Logf("%d were given, %d waits ended with nothing, %d without an answer, %d were lost to those", taken, waited, unsure, lost)
	if taken < 20*max(1, *runs/4) || waited == 0 {
		t.Error("too little to show anything")
	}
}

func waitersRun(t *testing.T, s uint64) *conveyor {
	c := newCluster(t, rand.New(rand.NewPCG(s, 11)))
	c.start()
	defer c.stop()
	v := &conveyor{pushed: map[int]bool{}, taken: map[int]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var conns, pushers []*redis.Client
	for i := range 6 {
		conn := c.redis(fmt.Sprintf("10.0.1.%d", i+1), c.nodes[i%3])
		conns = append(conns, conn)
		clients.Go(func() { v.consume(ctx, i, conn, rand.New(rand.NewPCG(s, uint64(i+1)))) })
	}
	for i, n := range c.nodes {
		pushers = append(pushers, c.redis(fmt.Sprintf("10.0.2.%d", i+1), n))
	}
	clients.Go(func() { v.produce(ctx, pushers, rand.New(rand.NewPCG(s, 100))) })
	f := &faults{c: c, rng: rand.New(rand.NewPCG(s, 1000))}
	f.run(runTime / 2)
	c.ready()
	cancel()
	clients.Wait()
	for _, conn := range conns {
		conn.Close()
	}
	c.until("nobody waits", func() bool {
		for _, n := range c.nodes {
			if n.replica.Status().Waiting > 0 {
				return false
			}
		}
		return true
	})
	var left []string
	c.until("what is left is read", func() bool {
		// The pool may have a connection to a node that crashed.
		var err error
		left, err = pushers[0].LRange(t.Context(), "line", 0, -1).Result()
		return err == nil
	})
	v.settle(left)
	for _, conn := range pushers {
		conn.Close()
	}
	if len(v.breaches) > 0 {
		t.Errorf("repeat with: make sim SEED=%d RUNS=1\n%s\nfaults:\n%s", s, strings.Join(v.breaches, "\n"), strings.Join(f.log, "\n"))
	}
	return v
}
