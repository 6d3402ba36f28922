package process_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestSharedPortsAsMasters: a client that lists the shared ports of three nodes as
// its masters gets no quorum, and the log and a counter say why and what to list.
func TestSharedPortsAsMasters(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	ask := func(n *process.Node) (ok bool) {
		conn := n.Redis().Conn()
		defer conn.Close()
		if err := conn.ClientSetName(ctx, "worker-7").Err(); err != nil {
			t.Fatal(err)
		}
		ok, err := conn.SetNX(ctx, "L", "tokA", time.Minute).Result()
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	votes := 0
	// A node that is asked in vain once may be asked by a client that lost its reply.
	for _, n := range slices.Concat(c.Nodes, c.Nodes) {
		if ask(n) {
			votes++
		}
	}
	if votes != 1 {
		t.Errorf("%d of 3 shared ports gave one lock", votes)
	}
	seats := c.Nodes[0].Seats[0] + ", " + c.Nodes[1].Seats[1] + ", " + c.Nodes[2].Seats[2]
	for _, n := range c.Nodes[1:] {
		process.Until(t, n.ID+" says so", func() bool {
			ask(n) // as such a client does; the addresses may have been unknown before
			return strings.Contains(n.Log(), "worker-7") && strings.Contains(n.Log(), seats)
		})
		resp, err := http.Get("http://" + n.HTTP + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(body), `redfence_misdirected_locks_total{client="worker-7`) {
			t.Errorf("%s doesn't count it (%v)", n.ID, err)
		}
	}
}

// TestSeatsThroughFailovers: P1, P3 on seats: the majority's token stays the same
// on every port while leaders are killed and a vote runs out and is won again.
func TestSeatsThroughFailovers(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	vote := func(seat int, ttl time.Duration) {
		t.Helper()
		conn := process.NewClient(c.Nodes[seat].Seats[seat])
		defer conn.Close()
		process.Until(t, "seat gives its vote", func() bool {
			ok, err := conn.SetNX(ctx, "L", "tokA", ttl).Result()
			return err == nil && ok
		})
	}
	vote(0, time.Minute)
	vote(1, time.Minute)
	vote(2, 300*time.Millisecond)
	token := func(addr string) (n int64) {
		conn := process.NewClient(addr)
		defer conn.Close()
		process.Until(t, "the token is told", func() bool {
			var err error
			n, err = conn.Do(ctx, "LOCK.TOKEN", "L", "tokA").Int64()
			return err == nil
		})
		return n
	}
	want := token(c.Nodes[0].Client)
	for range 2 {
		leader := c.Leader()
		leader.Kill()
		vote2 := process.NewClient(c.Others(leader)[0].Seats[2])
		process.Until(t, "seat 3 is won again", func() bool {
			ok, err := vote2.SetNX(ctx, "L", "tokA", 300*time.Millisecond).Result()
			return err == nil && ok
		})
		vote2.Close()
		for _, n := range c.Others(leader) {
			for _, addr := range append([]string{n.Client}, n.Seats...) {
				if got := token(addr); got != want {
					t.Errorf("%s says token %d, want %d", addr, got, want)
				}
			}
		}
		leader.Start()
		c.Ready()
	}
}

// TestNumberOfSeats: the cluster's number of seats changes by one command while
// no seat holds anything, and each node then takes as many ports.
func TestNumberOfSeats(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	seat := process.NewClient(c.Nodes[1].Seats[1])
	defer seat.Close()
	if err := seat.SetNX(ctx, "L", "tokA", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	follower := c.Others(c.Leader())[0]
	change := func() error {
		return follower.Redis().Do(ctx, "REDFENCE", "SEATS", "5", "CLIENTS-STOPPED").Err()
	}
	if err := change(); err == nil || !strings.Contains(err.Error(), "holds") {
		t.Errorf("with a vote the change answers %v", err)
	}
	if err := seat.Del(ctx, "L").Err(); err != nil {
		t.Fatal(err)
	}
	if err := change(); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		process.Until(t, n.ID+" knows of it", func() bool { return n.Info("seats") == "5" })
		n.Seats = append(n.Seats, process.FreeAddrs(t, 2)...)
		if err := n.Terminate(); err != nil {
			t.Fatal(err)
		}
		n.Start()
		n.Ready()
	}
	five := process.NewClient(c.Nodes[2].Seats[4])
	defer five.Close()
	if ok, err := five.SetNX(ctx, "L", "tokA", time.Minute).Result(); !ok || err != nil {
		t.Errorf("seat 5 gives no vote: %v", err)
	}
}
