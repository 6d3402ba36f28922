package bench_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"testing"
	"time"
)

// parts are what a report is made of, in the order in which they are measured.
var parts = []struct {
	name    string
	measure func(*testing.T, *report, scale)
}{
	{"cycles", measureCycles}, {"handover", measureHandOvers}, {"floor", measureFloor}, {"tool", measureTool},
	{"idle", func(t *testing.T, r *report, _ scale) { measureIdle(t, r) }}, {"lag", measureLag}, {"held", measureHeld},
}

// TestLockCycles measures all parts, or those that -part names.
func TestLockCycles(t *testing.T) {
	if *outFlag == "" {
		t.Skip("make bench measures: say -out")
	}
	size := fullScale
	if *quickFlag {
		size = quickScale
	}
	known := *partFlag == ""
	for _, p := range parts {
		known = known || p.name == *partFlag
	}
	if !known {
		t.Fatalf("-part %s: there is none of that name", *partFlag)
	}
	r := &report{Began: time.Now(), Scale: size, Machine: thisMachine(), NotRun: map[string]string{}}
	for _, p := range parts {
		if *partFlag == "" || p.name == *partFlag {
			p.measure(t, r, size)
		}
	}
	r.Ended, r.LoadAfter = time.Now(), loadAverage()
	if err := r.write(*outFlag); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(os.Stdout, "\n%s\nwritten to %s\n", r.markdown(), *outFlag)
	if *partFlag != "" {
		return
	}
	for _, m := range r.missing() {
		t.Error(m)
	}
}

// measureCycles measures every system in turn, at each number of workers, round
// after round, so that whatever else the machine does meets all of them.
func measureCycles(t *testing.T, r *report, size scale) {
	all, notRun := systems(t)
	maps.Copy(r.NotRun, notRun)
	var own, contended []system
	for _, s := range all {
		if a := (about{s.name, s.title, s.durable}); s.contended {
			contended, r.Contended = append(contended, s), append(r.Contended, a)
		} else {
			own, r.Systems = append(own, s), append(r.Systems, a)
		}
	}
	for round := range size.Rounds {
		for _, workers := range workerCounts {
			measureAll(t, r, own, round, load{workers: workers, length: size.Length})
		}
	}
	for round := range size.OfferedRounds {
		measureAll(t, r, own, round, load{workers: offeredWorkers, rate: offeredRate, length: size.Length})
	}
	for round := range size.Contended {
		measureAll(t, r, contended, round, load{workers: contendedWorkers, oneName: true, length: size.Length})
	}
}

// measureAll runs one load on each system. One that fails is missed in the report;
// the others are measured all the same.
func measureAll(t *testing.T, r *report, all []system, round int, l load) {
	for _, s := range all {
		l.prefix = fmt.Sprintf("bench:%d", len(r.Runs)+1)
		got, err := s.once(context.Background(), l)
		if err != nil {
			t.Error(err)
			continue
		}
		got.Round, got.Order = round+1, len(r.Runs)+1
		r.Runs = append(r.Runs, *got)
		t.Logf("round %d, %3d workers, %-18s %8.0f cycles/s, p50 %.2f ms, %d failed", got.Round, l.workers, s.name, got.perSecond(), got.P50, got.Failed)
	}
}
