package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

// queued is a BLPOP on a connection of its own that waits in the cluster.
type queued struct {
	conn *redis.Conn
	got  chan string // of capacity 1: the element, or the error
}

// enqueue sends a BLPOP through a node and returns when it waits there.
func enqueue(t *testing.T, n *process.Node, key string) *queued {
	t.Helper()
	q := &queued{conn: n.Redis().Conn(), got: make(chan string, 1)}
	id, err := q.conn.ClientID(context.Background()).Result()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		pair, err := q.conn.BLPop(context.Background(), 0, key).Result()
		if err != nil {
			q.got <- "error: " + err.Error()
			return
		}
		q.got <- pair[1]
	}()
	process.Until(t, "the command waits", func() bool {
		list, err := n.Redis().Do(context.Background(), "CLIENT", "LIST", "ID", id).Text()
		return err == nil && strings.Contains(list, " flags=b ")
	})
	return q
}

// gets waits for what a command that waits was served.
func (q *queued) gets(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-q.got:
		if got != want {
			t.Errorf("a command that waited got %q, want %q", got, want)
		}
	case <-time.After(process.Wait):
		t.Errorf("a command that waits got nothing, want %q", want)
	}
	q.conn.Close()
}

func push(t *testing.T, n *process.Node, key string, elements ...any) {
	t.Helper()
	process.Until(t, n.ID+" takes what is pushed", func() bool {
		err := n.Redis().RPush(context.Background(), key, elements...).Err()
		if err != nil && !strings.HasPrefix(err.Error(), "CLUSTERDOWN") {
			t.Fatal(err)
		}
		return err == nil
	})
}

// TestWaitersThroughAFailover: promises 6 and 7. Who waits on a node that
// survives is served by a push on another, once and in order, whatever happened
// to the leader in between.
func TestWaitersThroughAFailover(t *testing.T) {
	c := process.Start(t, 3)
	for round := range max(2, *kills/4) {
		leader := c.Leader()
		others := c.Others(leader)
		waits, pushes := others[round%2], others[(round+1)%2]
		key := fmt.Sprint("line:", round)
		first, second := enqueue(t, waits, key), enqueue(t, pushes, key)
		leader.Kill()
		push(t, pushes, key, "a")
		first.gets(t, "a")
		push(t, waits, key, "b", "c")
		second.gets(t, "b")
		if left := waits.Redis().LRange(context.Background(), key, 0, -1).Val(); len(left) != 1 || left[0] != "c" {
			t.Errorf("left is %q, want c", left)
		}
		leader.Start()
		leader.Ready()
	}
}

// TestManyWaitersInOrder: 200 commands that wait on three nodes are served in the
// order in which they came, whichever node is asked to push.
func TestManyWaitersInOrder(t *testing.T) {
	c := process.Start(t, 3)
	const count = 200
	var line []*queued
	for i := range count {
		line = append(line, enqueue(t, c.Nodes[i%3], "line"))
	}
	began := time.Now()
	for i := range count {
		if i%10 == 9 {
			elements := make([]any, 10)
			for j := range elements {
				elements[j] = i - 9 + j
			}
			push(t, c.Nodes[i/10%3], "line", elements...)
		}
	}
	for i, q := range line {
		q.gets(t, fmt.Sprint(i))
	}
	t.Logf("%d were served in %v", count, time.Since(began))
}

// TestWaitersOfAKilledNode: what waits on a node that dies leaves the queue within
// a few seconds; who came behind it is served.
func TestWaitersOfAKilledNode(t *testing.T) {
	c := process.Start(t, 3)
	leader := c.Leader()
	dies, lives := c.Others(leader)[0], c.Others(leader)[1]
	gone := enqueue(t, dies, "line")
	defer gone.conn.Close()
	alive := enqueue(t, lives, "line")
	began := time.Now()
	dies.Kill()
	process.Until(t, "one waits", func() bool { return strings.Contains(metrics(leader), "\nredfence_waiters 1\n") })
	t.Logf("the waits of a killed node ended after %v", time.Since(began))
	push(t, leader, "line", "x")
	alive.gets(t, "x")
}

// metrics is what a node tells of itself.
func metrics(n *process.Node) string {
	resp, err := http.Get("http://" + n.HTTP + "/metrics")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body) // half of it is as good as none
	return string(b)
}

// TestEndOfANodeEndsItsWaits: a node that is told to end answers who waits.
func TestEndOfANodeEndsItsWaits(t *testing.T) {
	c := process.Start(t, 3)
	ends := c.Leader()
	conn, err := net.Dial("tcp", ends.Client)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "BLPOP line 0\r\n")
	process.Until(t, "it waits", func() bool { return ends.Info("blocked_clients") == "1" })
	if err := ends.Terminate(); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(process.Wait))
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); !strings.HasPrefix(line, "-UNBLOCKED ") {
		t.Errorf("the command that waits got %q (%v)", line, err)
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection goes on: %v", err)
	}
	other := c.Others(ends)[0]
	push(t, other, "line", "x")
	if n := other.Redis().LLen(context.Background(), "line").Val(); n != 1 {
		t.Errorf("the list has %d elements, want 1", n)
	}
}
