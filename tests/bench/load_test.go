package bench_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// run is what one run of one system showed.
type run struct {
	Order   int     `json:"order"` // of all runs
	Round   int     `json:"round"`
	System  string  `json:"system"`
	Workers int     `json:"workers"`
	Rate    float64 `json:"offered_per_second,omitempty"` // 0: each worker goes on at once
	Seconds float64 `json:"seconds"`
	Cycles  int64   `json:"cycles"` // that ended in time
	Failed  int64   `json:"failed"` // acquires and releases that failed
	Error   string  `json:"first_error,omitempty"`
	P50     float64 `json:"acquire_p50_ms"` // from the call to its answer
	P99     float64 `json:"acquire_p99_ms"`
	// The same from when the acquire was due: what a caller waits for who can't wait
	// for the one before. Only where a rate is offered.
	DueP50      float64 `json:"acquire_due_p50_ms,omitempty"`
	DueP99      float64 `json:"acquire_due_p99_ms,omitempty"`
	Refused     int64   `json:"refused,omitempty"` // times a worker was told that another holds the lock, the warm-up included
	LeaderMoved bool    `json:"leader_moved,omitempty"`
}

func (r *run) perSecond() float64 { return float64(r.Cycles) / r.Seconds }

// tally is what one worker counts, or all of them together.
type tally struct {
	cycles, failed int64
	first          error
	took, fromDue  *hdrhistogram.Histogram
}

func newTally() *tally {
	h := func() *hdrhistogram.Histogram {
		return hdrhistogram.New(1, latencyMax.Microseconds(), latencyDigits)
	}
	return &tally{took: h(), fromDue: h()}
}

func (t *tally) add(o *tally) {
	t.cycles += o.cycles
	t.failed += o.failed
	if t.first == nil {
		t.first = o.first
	}
	t.took.Merge(o.took)
	t.fromDue.Merge(o.fromDue)
}

func (t *tally) fail(err error) {
	t.failed++
	if t.first == nil {
		t.first = err
	}
}

func record(h *hdrhistogram.Histogram, d time.Duration) {
	// What is longer than the histogram's end counts as its end.
	_ = h.RecordValue(min(max(1, d.Microseconds()), latencyMax.Microseconds()))
}

// load is a workload: workers that lock and unlock names of their own, or one name.
type load struct {
	workers int
	oneName bool
	rate    float64 // cycles a second of all workers; 0: as fast as each can
	length  time.Duration
	prefix  string
}

// measure runs the workload once. Every worker has done one cycle before the clock runs.
func (l load) measure(ctx context.Context, f fleet) (*run, error) {
	ctx, cancel := context.WithTimeout(ctx, l.length+hangWait)
	defer cancel()
	var mu sync.Mutex
	var warm, all sync.WaitGroup
	var start time.Time
	total := newTally()
	begin := make(chan struct{})
	warm.Add(l.workers)
	for i := range l.workers {
		all.Go(func() {
			own := newTally()
			name := l.prefix
			if !l.oneName {
				name = fmt.Sprintf("%s:%d", l.prefix, i)
			}
			lock := f.worker(i, name)
			cycle(ctx, lock, own, time.Time{})
			warmUp := own.first
			own = newTally()
			if warmUp != nil {
				own.fail(fmt.Errorf("before the clock ran: %w", warmUp))
			}
			warm.Done()
			<-begin
			l.work(ctx, lock, own, i, start)
			mu.Lock()
			defer mu.Unlock()
			total.add(own)
		})
	}
	warm.Wait()
	start = time.Now()
	close(begin)
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the run hung: %w", err)
	}
	return l.result(total), nil
}

func (l load) result(t *tally) *run {
	ms := func(h *hdrhistogram.Histogram, q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }
	r := &run{
		Workers: l.workers, Rate: l.rate, Seconds: l.length.Seconds(), Cycles: t.cycles, Failed: t.failed,
		P50: ms(t.took, 50), P99: ms(t.took, 99),
	}
	if l.rate > 0 {
		r.DueP50, r.DueP99 = ms(t.fromDue, 50), ms(t.fromDue, 99)
	}
	if t.first != nil {
		r.Error = t.first.Error()
	}
	return r
}

// work repeats one worker's cycle until the run ends.
func (l load) work(ctx context.Context, lock locker, own *tally, i int, start time.Time) {
	end := start.Add(l.length)
	if l.rate == 0 {
		for now := start; now.Before(end); {
			ok := cycle(ctx, lock, own, now)
			if now = time.Now(); ok && !now.After(end) {
				own.cycles++
			}
		}
		return
	}
	// The workers' turns are spread evenly, and no answer that is late shifts them.
	period := time.Duration(float64(l.workers) / l.rate * float64(time.Second))
	for due := start.Add(period * time.Duration(i) / time.Duration(l.workers)); due.Before(end); due = due.Add(period) {
		from := due
		if wait := time.Until(due); wait > 0 {
			<-time.After(wait)
			// The timer's own lateness, up to a millisecond, is not the system's.
			from = time.Now()
		}
		if cycle(ctx, lock, own, from) && !time.Now().After(end) {
			own.cycles++
		}
	}
}

// cycle locks and unlocks once and says whether both went well. The latency is
// counted from the call, and from due.
func cycle(ctx context.Context, lock locker, own *tally, due time.Time) bool {
	began := time.Now()
	if err := lock.acquire(ctx); err != nil {
		own.fail(fmt.Errorf("acquire: %w", err))
		return false
	}
	had := time.Now()
	record(own.took, had.Sub(began))
	record(own.fromDue, had.Sub(due))
	if err := lock.release(ctx); err != nil {
		own.fail(fmt.Errorf("release: %w", err))
		return false
	}
	return true
}
