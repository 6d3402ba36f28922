package bench_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// The same three nodes: all well, one follower stopped, one that runs for half of
// the time.
const (
	wellName    = "redfence-well"
	stoppedName = "redfence-one-stopped"
	slowName    = "redfence-one-slow"
)

var lagNames = []string{wellName, stoppedName, slowName}

// measureLag compares what callers of the leader notice of one follower that is
// stopped or slow.
func measureLag(t *testing.T, r *report, size scale) {
	cluster := process.Start(t, 3)
	leader := cluster.Leader()
	lame := cluster.Others(leader)[0]
	about := system{leader: func() string { return cluster.Leader().ID },
		open: func(workers int) (fleet, error) { return openPlain([]string{leader.Client}, workers), nil }}
	for round := range size.Rounds {
		for _, name := range lagNames {
			about.name = name
			resume := func() {}
			switch name {
			case stoppedName:
				lame.Stop()
				resume = lame.Continue
			case slowName:
				resume = halfTime(lame)
			}
			measureAll(t, r, []system{about}, round, load{workers: lagWorkers, length: size.Length})
			resume()
			// What it missed is not the next run's.
			process.Until(t, "the follower has caught up", func() bool { return applied(t, lame) >= applied(t, leader) })
		}
	}
}

// halfTime stops and continues a node by turns until the answer is called.
func halfTime(n *process.Node) (resume func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer n.Continue()
		tick := time.NewTicker(lagTurn)
		defer tick.Stop()
		for stopped := true; ; stopped = !stopped {
			if stopped {
				n.Stop()
			} else {
				n.Continue()
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return func() { close(stop); <-done }
}

// times is one figure of a system over that of another in the same round.
func (r *report) times(system, peer string, workers int, of func(*run) float64) spread {
	var all []float64
	for _, a := range r.of(system, workers, 0) {
		for _, b := range r.of(peer, workers, 0) {
			if a.Round == b.Round && of(&b) > 0 {
				all = append(all, of(&a)/of(&b))
			}
		}
	}
	return spreadOf(all)
}

func (r *report) lag(b *strings.Builder) {
	p50, p99 := func(x *run) float64 { return x.P50 }, func(x *run) float64 { return x.P99 }
	fmt.Fprintf(b, "\n## One follower that lags\n\nThree nodes, %d workers through the leader. *Stopped* answers nothing; *slow* runs for %v and stands still for %v by turns.\n\n", lagWorkers, lagTurn, lagTurn)
	fmt.Fprintf(b, "| | cycles/s | p50 ms | p99 ms | p50, times well (at most %.1f) | p99, times well (at most %.0f) |\n| --- | --- | --- | --- | --- | --- |\n", lagP50Most, lagP99Most)
	for _, name := range lagNames {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", name, r.figure(name, lagWorkers, 0, (*run).perSecond).show("%.0f"),
			r.figure(name, lagWorkers, 0, p50).show("%.2f"), r.figure(name, lagWorkers, 0, p99).show("%.2f"),
			r.times(name, wellName, lagWorkers, p50).show("%.2f"), r.times(name, wellName, lagWorkers, p99).show("%.2f"))
	}
}
