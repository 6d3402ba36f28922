package process_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// grant is what a LOCK.ACQUIRE that waited came to.
type grant struct {
	owner string
	token int64
	err   error
}

// lineUp sends a LOCK.ACQUIRE through a node and returns when it waits there. Who
// is granted the lock says so and releases it.
func lineUp(t *testing.T, n *process.Node, name, owner string, grants chan<- grant) {
	t.Helper()
	ctx := context.Background()
	conn := n.Redis().Conn()
	id, err := conn.ClientID(ctx).Result()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer conn.Close()
		answer, err := conn.Do(ctx, "LOCK.ACQUIRE", name, owner, 60_000, "WAIT", 120_000).Int64Slice()
		g := grant{owner: owner, err: err}
		if err == nil {
			g.token = answer[0]
		}
		grants <- g
		for err == nil {
			err = conn.Do(ctx, "LOCK.RELEASE", name, owner).Err()
			if err == nil {
				return
			}
			if strings.HasPrefix(err.Error(), "CLUSTERDOWN") || strings.Contains(err.Error(), "outcome unknown") {
				err = nil // asked again it is answered as it was
			}
		}
	}()
	process.Until(t, "the command waits", func() bool {
		list, err := n.Redis().Do(ctx, "CLIENT", "LIST", "ID", id).Text()
		return err == nil && strings.Contains(list, " flags=b ")
	})
}

// TestLocksInLineThroughAFailover: promises 1, 3 and 6. Those who wait for a lock on
// nodes that survive are granted it once each, in the order in which they came,
// with rising tokens, whatever happens to the leader meanwhile.
func TestLocksInLineThroughAFailover(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	const count = 40
	for round := range 2 {
		leader := c.Leader()
		others := c.Others(leader)
		name := fmt.Sprint("door:", round)
		if err := others[0].Redis().Do(ctx, "LOCK.ACQUIRE", name, "first", 60_000).Err(); err != nil {
			t.Fatal(err)
		}
		grants := make(chan grant, count)
		for i := range count {
			lineUp(t, others[i%2], name, fmt.Sprint("owner", i), grants)
		}
		if err := others[1].Redis().Do(ctx, "LOCK.RELEASE", name, "first").Err(); err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for i := range count {
			if i == count/4 {
				leader.Kill()
			}
			select {
			case g := <-grants:
				if g.err != nil || g.owner != fmt.Sprint("owner", i) || g.token <= last {
					t.Fatalf("grant %d: %+v after token %d", i, g, last)
				}
				last = g.token
			case <-time.After(process.Wait):
				t.Fatalf("nobody is granted the lock after %d of %d", i, count)
			}
		}
		leader.Start()
		leader.Ready()
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
