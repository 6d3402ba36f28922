package bench_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
	"github.com/redis/go-redis/v9"
)

// handOver is how long a lock takes from the release to the reply of the next in
// line, beside what one commit takes in the same run: a grant and the taking of the
// offer are two.
type handOver struct {
	Waiters  int       `json:"waiters"`
	Commits  []float64 `json:"commit_ms"`
	HandOver []float64 `json:"hand_over_ms"`
}

// ratio is the median hand-over over the median commit.
func (h *handOver) ratio() float64 {
	commit := spreadOf(h.Commits).median
	if commit == 0 {
		return 0
	}
	return spreadOf(h.HandOver).median / commit
}

// line is a lock and those who wait for it on one node.
type line struct {
	client *redis.Client
	had    chan int // who has been granted it
	failed chan error
}

// queue has worker i wait for the lock.
func (l *line) queue(ctx context.Context, i int) {
	err := l.client.Do(ctx, "LOCK.ACQUIRE", "line", i, time.Minute.Milliseconds(), "WAIT", (2 * time.Minute).Milliseconds()).Err()
	if err != nil {
		l.failed <- fmt.Errorf("worker %d: %w", i, err)
		return
	}
	l.had <- i
}

func (l *line) next() (int, error) {
	select {
	case i := <-l.had:
		return i, nil
	case err := <-l.failed:
		return 0, err
	case <-time.After(hangWait):
		return 0, fmt.Errorf("nobody is granted the lock within %v", hangWait)
	}
}

// settled waits until so many are in line.
func (l *line) settled(ctx context.Context, waiters int) error {
	for end := time.Now().Add(hangWait); time.Now().Before(end); {
		info, err := l.client.Do(ctx, "LOCK.INFO", "line").Result()
		if m, ok := info.(map[any]any); ok && err == nil && m["waiting"] == int64(waiters) {
			return nil
		}
	}
	return fmt.Errorf("not %d in line within %v", waiters, hangWait)
}

// measureHandOvers passes a lock on again and again in lines of each length.
func measureHandOvers(t *testing.T, r *report, size scale) {
	leader := process.Start(t, 3, "--maxclients", strconv.Itoa(lineClients)).Leader()
	for _, waiters := range size.Lines {
		h, err := passOn(leader.Client, waiters, size.HandOvers)
		if err != nil {
			t.Errorf("hand-overs with %d waiters: %v", waiters, err)
			continue
		}
		r.HandOvers = append(r.HandOvers, *h)
	}
}

func passOn(addr string, waiters, times int) (*handOver, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: addr, PoolSize: waiters + 8, MaxRetries: -1, ReadTimeout: 3 * time.Minute, ContextTimeoutEnabled: true})
	defer client.Close()
	l := &line{client, make(chan int, waiters+1), make(chan error, waiters+1)}
	for i := range waiters + 1 {
		go l.queue(ctx, i)
	}
	holder, err := l.next()
	for h := (&handOver{Waiters: waiters}); ; {
		if err == nil {
			err = l.settled(ctx, waiters)
		}
		if err != nil || len(h.HandOver) == times {
			return h, err
		}
		began := time.Now()
		if err = client.Set(ctx, "probe", holder, 0).Err(); err != nil {
			return nil, err
		}
		h.Commits = append(h.Commits, millis(time.Since(began)))
		before := holder
		began = time.Now()
		if err = client.Do(ctx, "LOCK.RELEASE", "line", holder).Err(); err != nil {
			return nil, err
		}
		holder, err = l.next()
		h.HandOver = append(h.HandOver, millis(time.Since(began)))
		go l.queue(ctx, before)
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (r *report) handedOver(b *strings.Builder) {
	b.WriteString("\n## From hand to hand\n\nThree nodes; milliseconds from the release to the reply of the next in line, medians of the passes, beside those of a commit (a SET)\n" +
		"in turn with them. A hand-over is two commits, the release and the taking of the offer: at most " + fmt.Sprint(handOverMost) + " times one is the target.\n\n" +
		"| waiters | passes | commit | hand-over | ratio | at most |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range r.HandOvers {
		h := &r.HandOvers[i]
		met := "met"
		if h.ratio() > handOverMost {
			met = "not met"
		}
		fmt.Fprintf(b, "| %d | %d | %.2f | %.2f | %.2f | %s |\n", h.Waiters, len(h.HandOver), spreadOf(h.Commits).median, spreadOf(h.HandOver).median, h.ratio(), met)
	}
}
