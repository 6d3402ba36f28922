package bench_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
	"github.com/redis/go-redis/v9"
)

// startPeer starts a server that isn't ours; it ends with the test. What it printed
// is shown if the test fails.
func startPeer(t *testing.T, name, path string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	// An interrupted test runs no cleanup.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("log of %s:\n%s", name, text[max(0, len(text)-4096):])
		}
	})
}

// startRedis starts n redis-servers that know nothing of one another, and returns
// their addresses. Durable ones fsync before each reply, the others keep nothing.
func startRedis(t *testing.T, path string, n int, durable bool) []string {
	t.Helper()
	addrs := process.FreeAddrs(t, n)
	for _, addr := range addrs {
		host, port, _ := net.SplitHostPort(addr)
		args := []string{"--bind", host, "--port", port, "--dir", t.TempDir(), "--save", ""}
		if durable {
			args = append(args, "--appendonly", "yes", "--appendfsync", "always")
		}
		startPeer(t, "redis-server "+port, path, args...)
	}
	for _, addr := range addrs {
		c := process.NewClient(addr)
		process.Until(t, "redis-server "+addr+" answers", func() bool { return c.Ping(context.Background()).Err() == nil })
		c.Close()
	}
	return addrs
}

// redisClient has a connection a worker, and never repeats by itself: what failed
// is counted.
func redisClient(addr string, workers int) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, PoolSize: workers + 8, ContextTimeoutEnabled: true,
		DialTimeout: ioWait, ReadTimeout: ioWait, WriteTimeout: ioWait, PoolTimeout: 2 * ioWait,
	})
}
