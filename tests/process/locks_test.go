package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

// door is a resource that a lock guards. It writes down who came in.
type door struct {
	mu   sync.Mutex
	came []visit
}

type visit struct {
	owner int
	token int64
	moved bool // its connection broke while it waited, so it lined up anew
}

func (d *door) enter(v visit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.came = append(d.came, v)
}

func (d *door) visits() []visit {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.came)
}

// lineUp waits for the lock of a door through a node, goes in and releases it. When
// its node dies it goes on at another one, as the same owner.
func (d *door) lineUp(ctx context.Context, c *process.Cluster, at, owner int) {
	v := visit{owner: owner}
	for conn := c.Nodes[at%3].Redis().Conn(); ctx.Err() == nil; {
		answer, err := conn.Do(ctx, "LOCK.ACQUIRE", "door", owner, 60_000, "WAIT", 120_000).Int64Slice()
		if err == nil {
			v.token = answer[0]
			d.enter(v)
			d.leave(ctx, c, at, owner)
			conn.Close()
			return
		}
		var refused redis.Error
		if !errors.As(err, &refused) {
			v.moved = true
			at++
		}
		conn.Close()
		conn = c.Nodes[at%3].Redis().Conn()
	}
}

// leave releases the lock, asking again until it is told that it has.
func (d *door) leave(ctx context.Context, c *process.Cluster, at, owner int) {
	for ; ctx.Err() == nil; at++ {
		if c.Nodes[at%3].Redis().Do(ctx, "LOCK.RELEASE", "door", owner).Err() == nil {
			return
		}
	}
}

// TestLocksInLineThroughFailovers: promises 1, 3 and 6. 200 wait for a lock on three
// nodes, whose leader is killed three times on the way. All are granted it once, with
// rising tokens, and those whose node lived in the order in which they came.
func TestLocksInLineThroughFailovers(t *testing.T) {
	c := process.Start(t, 3)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	const count, kills = 200, 3
	var d door
	var waiters sync.WaitGroup
	defer waiters.Wait()
	defer cancel()
	if err := c.Nodes[0].Redis().Do(ctx, "LOCK.ACQUIRE", "door", "first", 600_000).Err(); err != nil {
		t.Fatal(err)
	}
	for i := range count {
		waiters.Go(func() { d.lineUp(ctx, c, i, i) })
		process.Until(t, "it waits", func() bool {
			return waiting(c.Nodes[0], "door") == int64(i+1)
		})
	}
	if err := c.Nodes[1].Redis().Do(ctx, "LOCK.RELEASE", "door", "first").Err(); err != nil {
		t.Fatal(err)
	}
	for round := range kills {
		process.Until(t, "more are granted the lock", func() bool { return len(d.visits()) >= count/5*(round+1) })
		leader := c.Leader()
		leader.Kill()
		before := len(d.visits())
		process.Until(t, "the lock is granted after a kill", func() bool { return len(d.visits()) > before })
		leader.Start()
		leader.Ready()
	}
	process.Until(t, "all were granted the lock", func() bool { return len(d.visits()) >= count })
	waiters.Wait()
	d.check(t, count)
}

func (d *door) check(t *testing.T, count int) {
	t.Helper()
	seen, moved, lastStayed, lastToken := map[int]bool{}, 0, -1, int64(0)
	for i, v := range d.visits() {
		if seen[v.owner] {
			t.Errorf("visit %d: %d came in twice", i, v.owner)
		}
		if v.token <= lastToken {
			t.Errorf("visit %d: token %d after %d", i, v.token, lastToken)
		}
		seen[v.owner], lastToken = true, v.token
		if v.moved {
			moved++
			continue
		}
		if v.owner < lastStayed {
			t.Errorf("visit %d: %d came in after %d, who was behind it", i, v.owner, lastStayed)
		}
		lastStayed = v.owner
	}
	t.Logf("%d were granted the lock, %d of them lined up anew when their node died", len(seen), moved)
	if len(seen) != count || moved == count {
		t.Errorf("%d of %d were granted the lock, %d lined up anew", len(seen), count, moved)
	}
}

// TestLockWatchGoesOnElsewhere: who watches locks on a node that dies goes on at
// another one with the place that it has seen.
func TestLockWatchGoesOnElsewhere(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	leader := c.Leader()
	watched, others := c.Others(leader)[0], []*process.Node{leader, c.Others(leader)[1]}
	do := func(args ...any) {
		t.Helper()
		process.Until(t, fmt.Sprint(args...), func() bool { return others[1].Redis().Do(ctx, args...).Err() == nil })
	}
	p := watched.Redis().PSubscribe(ctx, "__lock@0__:*")
	defer p.Close()
	if _, err := p.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	do("LOCK.ACQUIRE", "door", "a", 60_000)
	first, err := p.ReceiveMessage(ctx)
	if err != nil || !strings.HasSuffix(first.Payload, " grant 1 a") {
		t.Fatalf("%v %v", first, err)
	}
	place, _, _ := strings.Cut(first.Payload, " ")
	watched.Kill()
	do("LOCK.RELEASE", "door", "a")
	do("LOCK.ACQUIRE", "door", "b", 60_000)
	var told string
	process.Until(t, "the other node goes on", func() bool {
		told = tellsAfter(t, others[1], place)
		return !strings.HasPrefix(told, "-TRYAGAIN") // it is a moment behind
	})
	if told != "release 1 a, grant 2 b" {
		t.Errorf("the other node tells %q", told)
	}
}

// tellsAfter is what a node tells first of what happened to locks after a place.
func tellsAfter(t *testing.T, n *process.Node, place string) string {
	t.Helper()
	conn, err := net.Dial("tcp", n.Client)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(process.Wait))
	fmt.Fprintf(conn, "LOCK.WATCH * AFTER %s\r\n", place)
	var events []string
	for lines := bufio.NewScanner(conn); len(events) < 2 && lines.Scan(); {
		text := lines.Text()
		if strings.HasPrefix(text, "-") {
			return text
		}
		if _, event, ok := strings.Cut(text, " "); ok {
			events = append(events, event)
		}
	}
	return strings.Join(events, ", ")
}
