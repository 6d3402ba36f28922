package replica

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// testLog writes a node's lines to the test, as long as the test runs.
type testLog struct {
	mu   sync.Mutex
	t    *testing.T
	done bool
}

func (w *testLog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.t.Log(string(p[:len(p)-1]))
	}
	return len(p), nil
}

func logTo(t *testing.T) *slog.Logger {
	w := &testLog{t: t}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done = true
	})
	level := slog.LevelInfo
	if os.Getenv("REPLICA_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// testConfig is a node that is quick to elect itself.
func testConfig(t *testing.T, id, dir string) Config {
	return Config{
		NodeID: id, Dir: dir, Log: logTo(t), Heartbeat: 100 * time.Millisecond,
		Fatal: func(err error) { t.Errorf("node %s: fatal: %v", id, err) },
	}
}

func start(t *testing.T, cfg Config) *Node {
	t.Helper()
	n, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("start %s: %v", cfg.NodeID, err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// eventually polls until ok, or fails the test.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	limit := time.Now().Add(within)
	for !ok() {
		if time.Now().After(limit) {
			t.Fatalf("not within %v: %s", within, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func ready(t *testing.T, n *Node) {
	t.Helper()
	var err error
	eventually(t, 10*time.Second, "ready", func() bool { err = n.Ready(); return err == nil })
}

func command(args ...string) fsm.Command { return fsm.Command{Args: args} }

// do runs one command and fails the test on an error.
func do(t *testing.T, n *Node, args ...string) reply.Value {
	t.Helper()
	answers, err := n.Do(t.Context(), fsm.Client{Addr: "test"}, []fsm.Command{command(args...)})
	if err != nil {
		t.Fatalf("%v on %s: %v", args, n.cfg.NodeID, err)
	}
	return answers[0].Value
}

func wantReply(t *testing.T, got, want reply.Value) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func TestOneNodeKeepsItsStateOverARestart(t *testing.T) {
	for _, kind := range []string{LogStoreWAL, LogStoreBolt} {
		t.Run(kind, func(t *testing.T) {
			cfg := testConfig(t, "n1", t.TempDir())
			cfg.LogStore = kind
			n := start(t, cfg)
			ready(t, n)
			wantReply(t, do(t, n, "set", "k", "v", "nx", "px", "60000"), reply.OK)
			wantReply(t, do(t, n, "set", "k", "w", "nx", "px", "60000"), reply.Null)
			wantReply(t, do(t, n, "get", "k"), reply.String("v"))
			wantReply(t, do(t, n, "incr", "c"), reply.Integer(1))
			cluster := n.Status().Cluster
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			n = start(t, cfg)
			ready(t, n)
			wantReply(t, do(t, n, "get", "k"), reply.String("v"))
			wantReply(t, do(t, n, "incr", "c"), reply.Integer(2))
			if got := n.Status().Cluster; got != cluster || got == "" {
				t.Fatalf("cluster %q, want %q", got, cluster)
			}
		})
	}
}

func TestPipelineIsAnsweredInOrder(t *testing.T) {
	n := start(t, testConfig(t, "n1", t.TempDir()))
	ready(t, n)
	var cmds []fsm.Command
	for range 100 {
		cmds = append(cmds, command("incr", "c"))
	}
	answers, err := n.Do(t.Context(), fsm.Client{}, cmds)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		wantReply(t, a.Value, reply.Integer(int64(i+1)))
	}
}

func TestSecondProcessOnADirectoryIsRefused(t *testing.T) {
	cfg := testConfig(t, "n1", t.TempDir())
	start(t, cfg)
	_, err := Start(t.Context(), cfg)
	if err == nil || !slices.Contains([]string{"data directory " + cfg.Dir + " is in use by another process"}, err.Error()) {
		t.Fatalf("got %v", err)
	}
}

func TestClosedNodeSaysSo(t *testing.T) {
	n := start(t, testConfig(t, "n1", t.TempDir()))
	ready(t, n)
	n.Close()
	for _, name := range []string{"get", "incr"} {
		if _, err := n.Do(context.Background(), fsm.Client{}, []fsm.Command{command(name, "k")}); err != ErrClosed {
			t.Fatalf("%s: got %v, want %v", name, err, ErrClosed)
		}
	}
}

func client(addr string) fsm.Client { return fsm.Client{Addr: addr} }

func cmds(args ...string) []fsm.Command { return []fsm.Command{command(args...)} }
