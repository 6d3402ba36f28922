package sim

import (
	"context"
	"math/rand/v2"
	"time"
)

// faults breaks things for a while, one after the other, as its seed says.
type faults struct {
	c   *cluster
	rng *rand.Rand
	log []string
}

func (f *faults) run(d time.Duration) {
	end := time.Now().Add(d)
	kinds := []func(*node){f.partition, f.oneWay, f.crash, f.wallJump, f.handover, f.slow, f.reset}
	for time.Now().Before(end) {
		f.rest(500, 2500)
		victim := f.c.nodes[f.rng.IntN(3)]
		if l := f.c.leader(); l != nil && f.rng.IntN(2) == 0 {
			victim = l
		}
		kinds[f.rng.IntN(len(kinds))](victim)
	}
}

func (f *faults) rest(minMillis, maxMillis int) {
	time.Sleep(time.Duration(minMillis+f.rng.IntN(maxMillis-minMillis)) * time.Millisecond)
}

func (f *faults) note(what string, n *node) {
	f.log = append(f.log, stamp(time.Now())+" "+what+" "+n.id)
}

func (f *faults) others(n *node, do func(host string)) {
	for _, o := range f.c.nodes {
		if o != n {
			do(o.host)
		}
	}
}

// partition cuts a node off from the other nodes; clients still reach it.
func (f *faults) partition(n *node) {
	f.note("cut off", n)
	f.others(n, func(host string) { f.c.net.Cut(n.host, host); f.c.net.Cut(host, n.host) })
	f.rest(200, 3000)
	f.others(n, func(host string) { f.c.net.Mend(n.host, host); f.c.net.Mend(host, n.host) })
	f.note("mended", n)
}

// oneWay lets a node hear and not speak, or speak and not hear.
func (f *faults) oneWay(n *node) {
	hears := f.rng.IntN(2) == 0
	f.note("one way", n)
	f.others(n, func(host string) {
		if hears {
			f.c.net.Cut(n.host, host)
		} else {
			f.c.net.Cut(host, n.host)
		}
	})
	f.rest(200, 3000)
	f.others(n, func(host string) { f.c.net.Mend(n.host, host); f.c.net.Mend(host, n.host) })
	f.note("mended", n)
}

func (f *faults) crash(n *node) {
	f.note("crash", n)
	n.crash()
	f.rest(50, 2000)
	n.start()
	f.note("restart", n)
}

// wallJump sets a node's wall clock off by up to an hour.
func (f *faults) wallJump(n *node) {
	jump := time.Duration(f.rng.Int64N(int64(2*time.Hour))) - time.Hour
	n.wallJump.Store(int64(jump))
	f.note("wall clock "+jump.String(), n)
}

func (f *faults) handover(n *node) {
	f.note("handover", n)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// A node that doesn't lead has nothing to hand over.
	_ = n.replica.Handover(ctx)
}

// slow delays what a node hears.
func (f *faults) slow(n *node) {
	f.note("slow", n)
	delay := time.Duration(20+f.rng.IntN(300)) * time.Millisecond
	f.others(n, func(host string) { f.c.net.Delay(host, n.host, delay) })
	f.rest(200, 2000)
	f.others(n, func(host string) { f.c.net.Delay(host, n.host, 500*time.Microsecond) })
	f.note("fast", n)
}

// reset breaks a node's connections to the other nodes, some times in a row: what
// was on the way, a batch or its answer, is lost.
func (f *faults) reset(n *node) {
	f.note("connections reset", n)
	for range 1 + f.rng.IntN(30) {
		f.others(n, func(host string) { f.c.net.Reset(n.host, host) })
		f.rest(1, 60)
	}
}
