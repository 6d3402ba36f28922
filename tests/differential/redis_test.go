package differential

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// address is where a server listens.
type address struct{ network, addr string }

func (a address) dial(t *testing.T) *conn {
	t.Helper()
	c, err := dial(a.network, a.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.c.Close() })
	return c
}

// redisVersion is the Redis whose answers Redfence gives.
const redisVersion = "7.0"

// without ends a test that can't be run here; where it must be, it fails.
func without(t *testing.T, why string) {
	t.Helper()
	why += ": install the system's package to run this test"
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// startRedis starts a redis-server that keeps nothing and listens on a unix
// socket in a directory of its own.
func startRedis(t *testing.T) address {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		without(t, "no redis-server")
	}
	if out, err := exec.Command(path, "--version").Output(); err != nil || !strings.Contains(string(out), " v="+redisVersion+".") {
		without(t, "redis-server is not "+redisVersion+", whose answers are the measure")
	}
	dir, err := os.MkdirTemp("", "differential")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "redis.sock")
	// It looks for waits that are over hz times a second, 10 by itself.
	cmd := exec.Command(path, "--hz", "500", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir,
		"--proto-max-bulk-len", "8388608", "--notify-keyspace-events", "")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if err := answers("unix", socket, 10*time.Second); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("redis-server doesn't answer: %v\n%s", err, out.String())
	}
	return address{"unix", socket}
}

// answers waits until somebody listens.
func answers(network, addr string, within time.Duration) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(within); ; <-tick.C {
		c, err := dial(network, addr)
		if err == nil {
			return c.c.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// startRedfence starts one node as its users do: its shared port and a seat's.
func startRedfence(t *testing.T) (shared, seat address) {
	t.Helper()
	node := process.Start(t, 1).Nodes[0]
	return address{"tcp", node.Client}, address{"tcp", node.Seats[1]}
}

// memoryDir is where Linux has a file system in memory, memoryFree what must be
// free there.
const (
	memoryDir  = "/dev/shm"
	memoryFree = 1 << 30
)

// inMemory makes a directory in memory, "" where that can't be had.
func inMemory() string {
	var st syscall.Statfs_t
	if syscall.Statfs(memoryDir, &st) != nil || uint64(st.Bavail)*uint64(st.Bsize) < memoryFree {
		return ""
	}
	dir, err := os.MkdirTemp(memoryDir, "differential")
	if err != nil {
		return ""
	}
	return dir
}

// What is compared here are replies, not disks: a node that syncs to memory runs
// the sequences in a tenth of the time.
func TestMain(m *testing.M) {
	dir := inMemory()
	if dir != "" {
		os.Setenv("TMPDIR", dir)
	}
	code := m.Run()
	process.Cleanup()
	if dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}
