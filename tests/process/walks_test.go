package process_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestPipelinedWalks: promise 8. A few kilobytes that ask for the whole keyspace
// thousands of times neither stop the others nor cost the leader its office.
func TestPipelinedWalks(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	leader := c.Leader()
	term := leader.Info("term")
	for i := range 20 {
		args := []any{"MSET"}
		for j := range 5000 {
			args = append(args, fmt.Sprintf("key:%d:%d", i, j), "v")
		}
		if err := leader.Redis().Do(ctx, args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		conn, err := net.Dial("tcp", leader.Client)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprint(conn, strings.Repeat("KEYS *1*9*\r\n", 1000), strings.Repeat("KEYS *\r\n", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	var worst time.Duration
	for i := range 100 {
		sent := time.Now()
		if err := c.Nodes[i%3].Redis().SetNX(ctx, fmt.Sprintf("good:%d", i), "x", time.Minute).Err(); err != nil {
			t.Errorf("a good client was answered %v", err)
		}
		worst = max(worst, time.Since(sent))
	}
	t.Logf("a good client waited for at most %v", worst)
	if worst > 2*time.Second {
		t.Errorf("a good client waited for %v", worst)
	}
	if now := leader.Info("term"); now != term {
		t.Errorf("the leader was changed: term %s, then %s", term, now)
	}
}
