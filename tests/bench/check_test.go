package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// complete is a report in which each topology and two peers were run.
func complete() *report {
	r := &report{Scale: scale{Rounds: 2, Length: time.Second, OfferedRounds: 1}, NotRun: map[string]string{etcdMutexName: "no etcd here"}}
	add := func(name string, round, workers int, rate float64, cycles int64) {
		r.Runs = append(r.Runs, run{Order: len(r.Runs) + 1, Round: round, System: name, Workers: workers, Rate: rate, Seconds: 1, Cycles: cycles})
	}
	for _, name := range append([]string{redisName, redlock3FsyncName}, topologies...) {
		r.Systems = append(r.Systems, about{name, name, "one"})
		for _, w := range workerCounts {
			add(name, 1, w, 0, 100)
			add(name, 2, w, 0, 300)
		}
		add(name, 1, offeredWorkers, offeredRate, 300)
	}
	r.Held, r.HandOvers = make([]heldLocks, 2), make([]handOver, 3)
	r.Floor.Acquire, r.Idle.Processor = make([]float64, 2*floorBlock), make([]float64, 3)
	r.Tool = make([]toolRun, 3*2*3)
	r.Scale.FloorBlocks, r.Scale.ToolRounds, r.Scale.HeldLocks, r.Scale.Lines = 2, 1, []int{1_000, 100_000}, []int{1, 10, 1_000}
	for _, name := range lagNames {
		add(name, 1, lagWorkers, 0, 100)
		add(name, 2, lagWorkers, 0, 100)
	}
	return r
}

// TestMissingPartIsSaid: nor is one that leaves out what stands beside the cycles.
func TestMissingPartIsSaid(t *testing.T) {
	for name, empty := range map[string]func(*report){
		"held": func(r *report) { r.Held = nil }, "lines": func(r *report) { r.HandOvers = r.HandOvers[1:] }, "acquires": func(r *report) { r.Floor.Acquire = nil },
		"runs": func(r *report) { r.Runs = r.Runs[:len(r.Runs)-1] },
		"idle": func(r *report) { r.Idle.Processor = nil }, "commands": func(r *report) { r.Tool = r.Tool[1:] },
	} {
		r := complete()
		empty(r)
		if m := r.missing(); len(m) != 1 || !strings.HasPrefix(m[0], name) {
			t.Errorf("without %s: %q", name, m)
		}
	}
	r := complete()
	r.Tool, r.NotRun["redis-benchmark"] = nil, "not here"
	if m := r.missing(); len(m) > 0 {
		t.Errorf("redis-benchmark is not here, and that is said: %q", m)
	}
}

// TestMissingTopologyIsSaid: a report that leaves out one way to use Redfence, or one
// of its runs, or has only failures of it, is not a report.
func TestMissingTopologyIsSaid(t *testing.T) {
	if m := complete().missing(); len(m) > 0 {
		t.Fatalf("complete, but %v", m)
	}
	for _, name := range topologies {
		for i := range complete().Runs {
			r := complete()
			if r.Runs[i].System != name {
				continue
			}
			r.Runs[i].Cycles = 0
			if m := r.missing(); len(m) != 1 || !strings.HasPrefix(m[0], name+",") {
				t.Fatalf("run %d of %s had no cycles: %q", i, name, m)
			}
		}
	}
}

// TestRatiosAreOfTheSameRound: a round in which the machine was slow is slow for both.
func TestRatiosAreOfTheSameRound(t *testing.T) {
	r := complete()
	if got := r.ratio(leaderName, redisName, 16); got != (spread{1, 1, 1, 2}) {
		t.Fatalf("both had 100 and 300: %v", got)
	}
	if got := r.ratio(leaderName, etcdMutexName, 16); got.n != 0 || got.show("%.2f") != "-" || verdict(got, 1.5) != "not run" {
		t.Fatalf("etcd was not run: %v", got)
	}
	for _, bound := range []struct {
		at   float64
		want string
	}{{0, "-"}, {1, "met"}, {1.01, "not met"}} {
		if got := verdict(r.ratio(leaderName, redisName, 16), bound.at); got != bound.want {
			t.Errorf("1 against %v: %s", bound.at, got)
		}
	}
}

// TestSpread: the median of an even number lies between the two in the middle.
func TestSpread(t *testing.T) {
	if got := spreadOf([]float64{3, 1, 2}); got != (spread{2, 1, 3, 3}) {
		t.Error(got)
	}
	if got := spreadOf([]float64{4, 1, 2, 3}); got != (spread{2.5, 1, 4, 4}) {
		t.Error(got)
	}
}

// TestReportIsWritten: the JSON holds every run in its order, and the page says what
// was not run and what failed.
func TestReportIsWritten(t *testing.T) {
	r, dir := complete(), t.TempDir()
	r.Runs[3].Failed, r.Runs[3].Error, r.Runs[4].LeaderMoved = 2, "acquire: refused", true
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "runs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Runs) != len(r.Runs) || back.Runs[7] != r.Runs[7] {
		t.Errorf("%d runs came back of %d", len(back.Runs), len(r.Runs))
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"not run: etcd-mutex: no etcd here", "2 failed of 302 (acquire: refused)", "the leader changed",
		"| 16 | redfence-leader / redlock3-fsync | 0.70 | 1.20 | 1.00 (1.00 to 1.00) | met | not met |",
		"200 (100 to 300)",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page doesn't say %q:\n%s", want, page)
		}
	}
}

// slowLock takes its time, and stalls once.
type slowLock struct {
	takes time.Duration
	calls int
	stall map[int]time.Duration // by call
	err   error
}

func (l *slowLock) acquire(context.Context) error {
	l.calls++
	time.Sleep(l.takes + l.stall[l.calls])
	return l.err
}
func (l *slowLock) release(context.Context) error { return nil }

func (l *slowLock) worker(int, string) locker { return l }
func (l *slowLock) close()                    {}

// TestOfferedRateCountsTheStall: one stall of a second at 10 cycles a second is one
// long acquire by its own measure, and ten for those who were due.
func TestOfferedRateCountsTheStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &slowLock{takes: time.Millisecond, stall: map[int]time.Duration{12: time.Second}}
		r, err := load{workers: 1, rate: 10, length: 5 * time.Second, prefix: "x"}.measure(t.Context(), lock)
		if err != nil {
			t.Fatal(err)
		}
		if r.Cycles != 50 || r.Failed != 0 {
			t.Errorf("%d cycles, %d failed, want 50 and 0", r.Cycles, r.Failed)
		}
		if r.P50 > 1.1 || r.P99 < 900 || r.DueP99 < 900 {
			t.Errorf("p50 %v, p99 %v, from due %v", r.P50, r.P99, r.DueP99)
		}
		// The stall hid ten turns; from due the acquire after it waited 0.9 s, then 0.8 s, ...
		if r.DueP50 > 1.1 {
			t.Errorf("p50 from due %v", r.DueP50)
		}
		lock = &slowLock{takes: 150 * time.Millisecond}
		r, err = load{workers: 1, rate: 10, length: 3 * time.Second, prefix: "x"}.measure(t.Context(), lock)
		if err != nil {
			t.Fatal(err)
		}
		if r.P99 > 151 || r.DueP99 < 1000 {
			t.Errorf("a lock that is slower than the rate: p99 %v, from due %v", r.P99, r.DueP99)
		}
	})
}

// TestLoadCountsWhatEndsInTime: cycles that end after the run are not of it, and
// failures are counted with their first error.
func TestLoadCountsWhatEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := load{workers: 1, length: time.Second, prefix: "x"}.measure(t.Context(), &slowLock{takes: 300 * time.Millisecond})
		if err != nil || r.Cycles != 3 || r.Failed != 0 {
			t.Errorf("%+v, %v, want 3 cycles", r, err)
		}
		r, err = load{workers: 1, length: time.Second, prefix: "x"}.measure(t.Context(), &slowLock{takes: 300 * time.Millisecond, err: errNotHad})
		if err != nil || r.Cycles != 0 || r.Failed != 5 || !strings.Contains(r.Error, errNotHad.Error()) {
			t.Errorf("%+v, %v, want 5 failures, one of them before the clock ran", r, err)
		}
	})
}

// TestHungRunIsAnError: a system that no longer answers does not give a figure.
func TestHungRunIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := (load{workers: 1, length: time.Second, prefix: "x"}).measure(t.Context(), &slowLock{takes: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// shyLock refuses some times before it grants.
type shyLock struct {
	slowLock
	refuses int
}

func (l *shyLock) acquire(context.Context) error {
	l.refuses--
	if l.refuses >= 0 {
		return errNotHad
	}
	return l.err
}

func (l *shyLock) worker(int, string) locker { return l }

// TestSpinningAsksUntilItHas: a refusal is asked again and counted, another error is not.
func TestSpinningAsksUntilItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &spinningFleet{fleet: &shyLock{refuses: 7}}
		if err := f.worker(0, "x").acquire(t.Context()); err != nil || f.refused.Load() != 7 {
			t.Errorf("%v after %d refusals, want 7", err, f.refused.Load())
		}
		f = &spinningFleet{fleet: &shyLock{slowLock: slowLock{err: errLost}, refuses: 2}}
		if err := f.worker(0, "x").acquire(t.Context()); !errors.Is(err, errLost) || f.refused.Load() != 2 {
			t.Errorf("%v after %d refusals, want the lock's own error after 2", err, f.refused.Load())
		}
	})
}

// TestToolsLineIsRead: the command in redis-benchmark's line may hold quotes and commas.
func TestToolsLineIsRead(t *testing.T) {
	const out = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"EVAL if redis.call("get",KEYS[1]) == "1","2" then","294117.62","3.166","0.520","3.375","5.407","5.999","6.287"
`
	got, err := parseTool(out, 16)
	if err != nil || got.PerSecond != 294117.62 || got.P50 != 3.375 || got.P99 != 5.999 || got.Pipeline != 16 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseTool("ERR something\n", 1); err == nil {
		t.Error("a line without figures was read")
	}
}
