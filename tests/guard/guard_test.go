// The race detector allocates, too.
//go:build !race

package guard

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server"
	"github.com/redfence/redfence/server/replica"
)

var record = flag.Bool("record", false, "write down what was counted as the new baseline")

const baselineFile = "baseline.json"

// slack and spare are what is taken for noise: what the node does by itself meanwhile
// allocates, too. One more allocation in a read is more than that.
const (
	slack = 1.02
	spare = 0.5
)

// cost is what one command allocates.
type cost struct {
	Allocations float64 `json:"allocations"`
	Bytes       float64 `json:"bytes"`
}

// node serves on one connection, over a real log on disk.
func node(t *testing.T) net.Conn {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	var s *server.Server
	n, err := replica.Start(context.Background(), replica.Config{
		NodeID: "n1", Dir: t.TempDir(), RaftListen: "127.0.0.1:0", Log: log, Fatal: func(err error) { t.Error(err) },
		OnEvents: func(events []fsm.Event) {
			if s != nil {
				s.Events(events)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); n.Ready() != nil; {
		if time.Now().After(end) {
			t.Fatal(n.Ready())
		}
		runtime.Gosched()
	}
	if s, err = server.New(n, server.Config{NodeID: "n1", Log: log}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l, fsm.SharedSpace)
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		s.Shutdown(context.Background())
		n.Close()
	})
	return conn
}

func resp(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

// count is what each of so many exchanges allocates, on both sides of the log. What
// is sent and expected is there beforehand.
func count(t *testing.T, conn net.Conn, times int, request, reply string) cost {
	t.Helper()
	got := make([]byte, len(reply))
	once := func() {
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != reply {
			t.Fatalf("%q answered %q, %v", request, got, err)
		}
	}
	for range times / 10 {
		once()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		once()
	}
	runtime.ReadMemStats(&after)
	return cost{float64(after.Mallocs-before.Mallocs) / float64(times), float64(after.TotalAlloc-before.TotalAlloc) / float64(times)}
}

// TestAllocationsOfACommand: a lock's cycle, a pipeline of them, and a read allocate
// no more than they did.
func TestAllocationsOfACommand(t *testing.T) {
	conn := node(t)
	const release = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
	io.WriteString(conn, resp("SCRIPT", "LOAD", release))
	loaded := make([]byte, len("$40\r\n\r\n")+40)
	if _, err := io.ReadFull(conn, loaded); err != nil || !strings.HasPrefix(string(loaded), "$40\r\n") {
		t.Fatalf("%q %v", loaded, err)
	}
	sha := string(loaded[5:45])
	take, free := resp("SET", "lock:1", "owner-1", "NX", "PX", "30000"), resp("EVALSHA", sha, "1", "lock:1", "owner-1")
	seen := map[string]cost{
		"acquire and release":      count(t, conn, 1500, take+free, "+OK\r\n:1\r\n"),
		"16 of them in a pipeline": count(t, conn, 500, strings.Repeat(take+free, 16), strings.Repeat("+OK\r\n:1\r\n", 16)),
		"read":                     count(t, conn, 5000, resp("GET", "nothing"), "$-1\r\n"),
		"answered by the node":     count(t, conn, 1500, resp("PING"), "+PONG\r\n"),
	}
	if *record {
		write(t, seen)
	}
	var was map[string]cost
	data, err := os.ReadFile(baselineFile)
	if err == nil {
		err = json.Unmarshal(data, &was)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, now := range seen {
		t.Logf("%-26s %7.1f allocations and %8.0f bytes, baseline %7.1f and %8.0f", name, now.Allocations, now.Bytes, was[name].Allocations, was[name].Bytes)
		if now.Allocations > was[name].Allocations*slack+spare {
			t.Errorf("%s: %.1f allocations, the baseline has %.1f", name, now.Allocations, was[name].Allocations)
		}
		if now.Bytes > was[name].Bytes*(1+5*(slack-1))+200 {
			t.Errorf("%s: %.0f bytes, the baseline has %.0f", name, now.Bytes, was[name].Bytes)
		}
	}
}

func write(t *testing.T, seen map[string]cost) {
	t.Helper()
	data, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = os.WriteFile(baselineFile, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
