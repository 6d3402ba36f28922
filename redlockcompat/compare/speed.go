package compare

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// SpeedRun is one run of lock cycles: workers that lock and unlock names of their own.
type SpeedRun struct {
	System  string  `json:"system"`
	Workers int     `json:"workers"`
	Round   int     `json:"round"`
	Order   int     `json:"order"` // of all runs
	Seconds float64 `json:"seconds"`
	Cycles  int64   `json:"cycles"`
	Failed  int64   `json:"failed"` // locks that were not had at the first try, and releases that failed
	P50     float64 `json:"p50_ms"` // of what an acquire took
	P99     float64 `json:"p99_ms"`
}

// PerSecond is the run's lock cycles a second.
func (r *SpeedRun) PerSecond() float64 { return float64(r.Cycles) / r.Seconds }

// speed runs the workload once.
func (s *system) speed(ctx context.Context, prefix string, workers int, length time.Duration) (*SpeedRun, error) {
	c := s.client(newReach(), workers)
	defer c.close()
	run := &SpeedRun{System: s.name, Workers: workers}
	var cycles, failed atomic.Int64
	var mu sync.Mutex
	took := hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
	var all sync.WaitGroup
	start := make(chan struct{})
	limit, cancel := context.WithCancel(ctx)
	defer cancel()
	for w := range workers {
		all.Go(func() {
			own := hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
			name := fmt.Sprintf("%s:%d", prefix, w)
			// Connections are made before the clock runs.
			if !cycle(ctx, c, name, nil) {
				failed.Add(1)
			}
			<-start
			for limit.Err() == nil {
				if cycle(ctx, c, name, own) {
					cycles.Add(1)
				} else {
					failed.Add(1)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took.Merge(own)
		})
	}
	began := time.Now()
	close(start)
	rest(ctx, length)
	run.Seconds = time.Since(began).Seconds()
	run.Cycles, run.Failed = cycles.Load(), failed.Load()
	cancel()
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	run.P50 = float64(took.ValueAtQuantile(50)) / 1000
	run.P99 = float64(took.ValueAtQuantile(99)) / 1000
	return run, nil
}

// cycle locks and unlocks once, and says whether both went well.
func cycle(ctx context.Context, c *client, name string, took *hdrhistogram.Histogram) bool {
	m := c.mutex(name, workLease)
	began := time.Now()
	if err := m.LockContext(ctx); err != nil {
		return false
	}
	if took != nil {
		// A value over the histogram's minute is impossible: the workload ends before.
		_ = took.RecordValue(max(1, time.Since(began).Microseconds()))
	}
	ok, err := m.UnlockContext(ctx)
	return ok && err == nil
}
