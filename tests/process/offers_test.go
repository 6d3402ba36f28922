package process_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

// waitFor sends a LOCK.ACQUIRE through a node and returns when it is the nth that
// waits. What it is told comes out of the channel.
func waitFor(t *testing.T, n *process.Node, name, owner string, nth int64) <-chan grantReply {
	t.Helper()
	told := make(chan grantReply, 1)
	conn := process.NewClient(n.Client)
	t.Cleanup(func() { conn.Close() })
	go func() {
		answer, err := conn.Do(context.Background(), "LOCK.ACQUIRE", name, owner, 60_000, "WAIT", 120_000).Int64Slice()
		r := grantReply{err: err, at: time.Now()}
		if err == nil {
			r.token = answer[0]
		}
		told <- r
	}()
	process.Until(t, owner+" waits", func() bool { return waiting(n, name) == nth })
	return told
}

type grantReply struct {
	token int64
	err   error
	at    time.Time
}

// waiting is how many wait for a lock, -1 if that can't be said.
func waiting(n *process.Node, name string) int64 {
	info, err := n.Redis().Do(context.Background(), "LOCK.INFO", name).Result()
	if err != nil {
		return -1
	}
	count, ok := info.(map[any]any)["waiting"].(int64)
	if !ok {
		return -1
	}
	return count
}

// TestCutOffBetweenGrantAndReply: promise 1. A waiter whose node is cut off is offered
// the lock and can't take it: the next has it after the offer's 2 s, and the first is
// never told of a grant, neither while its node is away nor when it is back.
func TestCutOffBetweenGrantAndReply(t *testing.T) {
	c, nw := process.StartApart(t, 3)
	ctx := context.Background()
	leader := c.Leader()
	away, stays := c.Others(leader)[0], c.Others(leader)[1]
	if err := leader.Redis().Do(ctx, "LOCK.ACQUIRE", "door", "holder", 600_000).Err(); err != nil {
		t.Fatal(err)
	}
	first := waitFor(t, away, "door", "first", 1)
	second := waitFor(t, stays, "door", "second", 2)
	nw.Isolate(away, []*process.Node{leader, stays})
	released := time.Now()
	if err := leader.Redis().Do(ctx, "LOCK.RELEASE", "door", "holder").Err(); err != nil {
		t.Fatal(err)
	}
	got := <-second
	took := got.at.Sub(released)
	t.Logf("the second was granted the lock %v after its release", took.Round(time.Millisecond))
	if got.err != nil || took < 1900*time.Millisecond || took > 10*time.Second {
		t.Errorf("the second: %+v after %v, want the lock after 2 s", got, took)
	}
	select {
	case r := <-first:
		t.Errorf("the first was told %+v by a node that is cut off", r)
	default:
	}
	nw.Heal()
	away.Ready()
	r := <-first
	var refused redis.Error
	if !errors.As(r.err, &refused) && !errors.Is(r.err, redis.Nil) {
		t.Errorf("the first, when its node is back: %+v, want an error of the server", r)
	}
	t.Logf("the first was told: %v", r.err)
	if v := leader.Redis().Do(ctx, "LOCK.CHECK", "door", got.token).Val(); v != int64(1) {
		t.Errorf("the second doesn't hold the lock any more: %v", v)
	}
}

// TestWaitingCostsNoEntries: who waits costs no entry of the log. While a lease runs
// there is one a second to keep the machine's time, whether 300 wait or nobody.
func TestWaitingCostsNoEntries(t *testing.T) {
	c := process.Start(t, 3)
	leader := c.Leader()
	if err := leader.Redis().Do(context.Background(), "LOCK.ACQUIRE", "door", "holder", 600_000).Err(); err != nil {
		t.Fatal(err)
	}
	const watched = 3 * time.Second
	entries := func() int {
		before := counter(t, leader, "redfence_entries_applied_total")
		pause(t, watched)
		return counter(t, leader, "redfence_entries_applied_total") - before
	}
	pause(t, 2*time.Second) // a young term has more
	alone := entries()
	for i := range int64(300) {
		waitFor(t, c.Nodes[i%3], "door", fmt.Sprint("w", i), i+1)
	}
	crowded := entries()
	t.Logf("%d entries in %v alone, %d while 300 wait", alone, watched, crowded)
	if crowded > alone+2 || crowded > 8 {
		t.Errorf("%d entries in %v while 300 wait, %d alone", crowded, watched, alone)
	}
}

// counter is one of a node's metrics.
func counter(t *testing.T, n *process.Node, name string) int {
	t.Helper()
	for line := range strings.Lines(metrics(n)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(f)
		}
	}
	t.Fatalf("%s has no metric %s", n.ID, name)
	return 0
}
