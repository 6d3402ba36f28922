package process_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// residentMax is what a node may take at most in these tests: its records, some
// 40 MB, what limits.go allows with little room for replies, and on top the three
// transactions of 80 MB each that may be in flight; twice over, since garbage is
// collected when as much again was made. From heapMax on it is collected at once, so
// that what a node really holds is measured, and not how far a busy machine lags.
const (
	residentMax = 1200 << 20
	heapMax     = "700MiB"
)

// guard kills a node that takes more than residentMax, so that the machine of the
// test stays whole, and answers what each took at most when it is stopped.
func guard(t *testing.T, c *process.Cluster) (stop func() []int) {
	quit, done := make(chan struct{}), make(chan struct{})
	most := make([]int, len(c.Nodes))
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			for i, n := range c.Nodes {
				most[i] = max(most[i], int(n.Resident()))
				if most[i] > residentMax {
					t.Errorf("node %s took %d MB", n.ID, most[i]>>20)
					syscall.Kill(n.PID(), syscall.SIGKILL)
					return
				}
			}
		}
	}()
	return func() []int {
		close(quit)
		<-done
		return most
	}
}

// greed is what clients send that ask for much and read nothing.
type greed struct {
	name    string
	clients int
	text    string
	seconds int // for how long they stay
}

func resp(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

func greeds() []greed {
	hgetall := resp("HGETALL", "h")
	return []greed{
		{"one pipeline of HGETALL", 1, strings.Repeat(hgetall, 200), 3},
		{"HGETALL of many", 100, hgetall, 3},
		{"LRANGE", 20, strings.Repeat(resp("LRANGE", "l", "0", "-1"), 50), 3},
		{"GET", 50, strings.Repeat(resp("GET", "big"), 50), 2},
		{"MGET", 20, strings.Repeat(resp("MGET", "big", "big", "big", "big", "big"), 20), 3},
		{"KEYS", 20, strings.Repeat(resp("KEYS", "*"), 50), 3},
		{"behind a write", 60, strings.Repeat(resp("SET", "x", "1")+hgetall, 20), 3},
		{"EVAL", 20, strings.Repeat(resp("EVAL", "return string.rep('x', 4000000)", "0"), 50), 3},
		{"MULTI", 30, "MULTI\r\n" + strings.Repeat(hgetall, 8) + "EXEC\r\n", 3},
		{"CLIENT LIST", 500, strings.Repeat("CLIENT LIST\r\n", 100), 3},
		{"CLIENT LIST in a MULTI", 100, "MULTI\r\n" + strings.Repeat("CLIENT LIST\r\n", 1000) + "EXEC\r\n", 3},
		{"half of a value", 300, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$8388608\r\n" + strings.Repeat("x", 4<<20), 2},
	}
}

// TestGreedyClients: promise 8. Whatever is asked for and not read, or begun and not
// finished, a node takes no more memory than it says, and serves the others.
func TestGreedyClients(t *testing.T) {
	t.Setenv("GOMEMLIMIT", heapMax)
	c := process.Start(t, 3, "--reply-memory", "64mb")
	fillLarge(t, c.Leader())
	for i, g := range greeds() {
		roles := []string{"leader", "follower"}
		if *kills < 100 { // each kind at one of them, and in a soak at both
			roles = roles[i%2 : i%2+1]
		}
		for _, role := range roles {
			t.Run(g.name+" at the "+role, func(t *testing.T) {
				n := c.Leader()
				if role == "follower" {
					n = c.Others(n)[0]
				}
				g.run(t, c, n)
			})
			if t.Failed() {
				return
			}
		}
	}
	for _, n := range c.Nodes {
		fields, err := n.Redis().HGetAll(context.Background(), "h").Result()
		if err != nil || len(fields) != 50_000 {
			t.Errorf("a client that reads got %d fields afterwards, %v", len(fields), err)
		}
	}
}

// fillLarge makes what greedy clients ask for.
func fillLarge(t *testing.T, n *process.Node) {
	t.Helper()
	conn, ctx := n.Redis(), context.Background()
	for i := range 10 {
		hash, list, keys := []any{"HSET", "h"}, []any{"RPUSH", "l"}, []any{"MSET"}
		for j := range 5000 {
			name := fmt.Sprintf("%d:%d", i, j)
			hash, list, keys = append(hash, name, strings.Repeat("v", 40)), append(list, name, name), append(keys, "key:"+name, "")
		}
		for _, args := range [][]any{hash, list, keys} {
			if err := conn.Do(ctx, args...).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := conn.Set(ctx, "big", strings.Repeat("x", 4<<20), 0).Err(); err != nil {
		t.Fatal(err)
	}
}

// run lets the greedy clients do their worst at n while good ones are served.
func (g *greed) run(t *testing.T, c *process.Cluster, n *process.Node) {
	stop := guard(t, c)
	var conns []net.Conn
	for range g.clients {
		conn, err := net.Dial("tcp", n.Client)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		go io.WriteString(conn, g.text) // it may be stopped or refused: so be it
	}
	var worst time.Duration
	until := time.Now().Add(time.Duration(g.seconds) * time.Second)
	for i := 0; time.Now().Before(until) && !t.Failed(); i++ {
		sent := time.Now()
		served(t, n, fmt.Sprintf("good:%s:%d", t.Name(), i))
		worst = max(worst, time.Since(sent))
	}
	for i, most := range stop() {
		t.Logf("%s took %d MB", c.Nodes[i].ID, most>>20)
	}
	t.Logf("a good client waited for at most %v", worst)
}

// served takes a lock and reads it. On a busy machine the greed of many may cost
// the leader its office, so it asks again, as clients do, for as long as they would.
func served(t *testing.T, n *process.Node, key string) {
	t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < 10*time.Second; {
		if err = n.Redis().SetNX(context.Background(), key, "x", time.Minute).Err(); err != nil {
			continue
		}
		var v string
		if v, err = n.Redis().Get(context.Background(), key).Result(); err == nil && v == "x" {
			return
		}
	}
	t.Errorf("a good client was not served: %v", err)
}

// TestWaitersForOneLargeElement: promise 8. Many who wait for one large element and
// move it on to the next all get it, and neither their node nor one without a
// client takes the memory for all of their replies at once, nor a restart that
// applies it again.
func TestWaitersForOneLargeElement(t *testing.T) {
	const waiting, large = 150, 8 << 20
	t.Setenv("GOMEMLIMIT", heapMax)
	c := process.Start(t, 3, "--reply-memory", "64mb")
	leader := c.Leader()
	at, idle := c.Others(leader)[0], c.Others(leader)[1]
	conns := make([]net.Conn, waiting)
	for i := range conns {
		conn, err := net.Dial("tcp", at.Client)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, resp("BLMOVE", "q", "q", "LEFT", "RIGHT", "0"))
		conns[i] = conn
	}
	process.Until(t, "all wait", func() bool { return at.Info("blocked_clients") == fmt.Sprint(waiting) })
	stop := sync.OnceValue(guard(t, c))
	defer stop()
	if err := leader.Redis().RPush(context.Background(), "q", strings.Repeat("x", large)).Err(); err != nil {
		t.Fatal(err)
	}
	want := int64(len(fmt.Sprintf("$%d\r\n", large)) + large + 2)
	var readers sync.WaitGroup
	for i, conn := range conns {
		readers.Go(func() {
			conn.SetReadDeadline(time.Now().Add(process.Wait))
			if n, err := io.CopyN(io.Discard, conn, want); err != nil {
				t.Errorf("client %d read %d bytes of its reply: %v", i, n, err)
			}
		})
	}
	readers.Wait()
	if n, err := leader.Redis().LLen(context.Background(), "q").Result(); n != 1 || err != nil {
		t.Errorf("the list has %d elements, %v", n, err)
	}
	stop()
	for _, n := range c.Nodes {
		checkPeak(t, n)
	}
	idle.Kill()
	idle.Start()
	idle.Ready()
	checkPeak(t, idle)
}

// oneElementMax is what a node may have taken at most in TestWaitersForOneLargeElement:
// the element in a few copies of the log and the network, and its share of replies.
const oneElementMax = 300 << 20

func checkPeak(t *testing.T, n *process.Node) {
	t.Helper()
	took := peak(n)
	t.Logf("%s took %d MB", n.ID, took>>20)
	if took > oneElementMax {
		t.Errorf("%s took %d MB", n.ID, took>>20)
	}
}

// peak is how much memory a node has had at most since it was started.
func peak(n *process.Node) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
	_, line, _ := strings.Cut(string(b), "VmHWM:")
	kb := 0
	fmt.Sscan(line, &kb)
	return kb << 10
}
