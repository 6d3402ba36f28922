package differential

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// startRedis starts a redis-server that keeps nothing and listens on a unix
// socket in a directory of its own.
func startRedis(t *testing.T) *conn {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is required: install the system's package")
		}
		t.Skip("no redis-server: install the system's package to run this test")
	}
	dir, err := os.MkdirTemp("", "differential")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "redis.sock")
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir,
		"--proto-max-bulk-len", "8388608", "--notify-keyspace-events", "")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	c, err := dialWithin("unix", socket, 10*time.Second)
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("redis-server doesn't answer: %v\n%s", err, out.String())
	}
	return c
}

// dialWithin dials until somebody listens.
func dialWithin(network, addr string, within time.Duration) (*conn, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(within); ; <-tick.C {
		c, err := dial(network, addr)
		var op *net.OpError
		if err == nil || !errors.As(err, &op) || time.Now().After(deadline) {
			return c, err
		}
	}
}

// startRedfence starts one node as its users do and connects to its shared port.
func startRedfence(t *testing.T) *conn {
	t.Helper()
	cluster := process.Start(t, 1)
	c, err := dial("tcp", cluster.Nodes[0].Client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.c.Close() })
	return c
}

func TestMain(m *testing.M) {
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}
