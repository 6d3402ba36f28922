// Package process runs real redfence processes for tests: it builds the binary
// once, starts nodes on free loopback ports, and kills, stops and restarts them.
// A node's log is shown only when its test fails. Only tests may import it.
package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func init() {
	// What the driver logs about nodes that a test has killed is no news.
	redis.SetLogger(silence{})
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// Wait bounds every wait for a condition that must come true.
const Wait = 30 * time.Second

var build = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("REDFENCE_BIN"); bin != "" {
		return bin, nil
	}
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(here), "..", "..", "..")
	bin := filepath.Join(os.TempDir(), fmt.Sprintf("redfence-test-%d", os.Getpid()))
	cmd := exec.Command("go", "build", "-tags", "hashicorpmetrics", "-o", bin, "./cmd/redfence")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %v\n%s", err, out)
	}
	return bin, nil
})

// Binary is the path of the redfence binary under test.
func Binary(tb testing.TB) string {
	tb.Helper()
	bin, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return bin
}

// Cleanup removes a binary that Binary built; call it at the end of TestMain.
func Cleanup() {
	if os.Getenv("REDFENCE_BIN") == "" {
		os.Remove(filepath.Join(os.TempDir(), fmt.Sprintf("redfence-test-%d", os.Getpid())))
	}
}

// Cluster is a number of nodes that know one another.
type Cluster struct {
	tb    testing.TB
	Nodes []*Node
}

// Node is one redfence process, running or not.
type Node struct {
	tb     testing.TB
	ID     string
	Client string // address of the shared port
	Seats  []string
	Raft   string
	HTTP   string
	Dir    string
	Args   []string // the flags beside the addresses
	Env    []string
	cmd    *exec.Cmd
	log    *os.File
	redis  *redis.Client
}

// Start starts n nodes with fresh data and waits until all of them serve. The
// flags are added to each node's.
func Start(tb testing.TB, n int, flags ...string) *Cluster {
	tb.Helper()
	c := New(tb, n, flags...)
	for _, node := range c.Nodes {
		node.Start()
	}
	c.Ready()
	return c
}

// New is Start without starting: addresses and flags may still be changed.
func New(tb testing.TB, n int, flags ...string) *Cluster {
	tb.Helper()
	return plan(tb, n, func(node *Node) string { return node.Raft }, flags...)
}

// plan is New for nodes that reach one another at the given places.
func plan(tb testing.TB, n int, reach func(*Node) string, flags ...string) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb}
	var peers []string
	for i := range n {
		node := &Node{tb: tb, ID: fmt.Sprintf("n%d", i+1), Dir: tb.TempDir()}
		addrs := FreeAddrs(tb, 6)
		node.Client, node.Raft, node.HTTP, node.Seats = addrs[0], addrs[1], addrs[2], addrs[3:]
		peers = append(peers, node.ID+"="+reach(node))
		c.Nodes = append(c.Nodes, node)
	}
	for _, node := range c.Nodes {
		if n > 1 {
			node.Args = append(node.Args, "--cluster", strings.Join(peers, ","))
		}
		node.Args = append(node.Args, flags...)
	}
	tb.Cleanup(c.close)
	return c
}

// given are the ports that this process has handed out: a node that is about to
// start, or between two starts, holds its ports by nothing else.
var given struct {
	sync.Mutex
	ports map[int]bool
}

// FreeAddrs finds n free loopback addresses, on ports that the system gives to no
// outgoing connection: a node must find them free again after a restart. It gives
// no port twice.
func FreeAddrs(tb testing.TB, n int) []string {
	tb.Helper()
	given.Lock()
	defer given.Unlock()
	var addrs []string
	for tries := 0; len(addrs) < n; tries++ {
		port := 10_000 + rand.IntN(20_000)
		if given.ports[port] {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			if tries > 1000 {
				tb.Fatal(err)
			}
			continue
		}
		l.Close()
		if given.ports == nil {
			given.ports = map[int]bool{}
		}
		given.ports[port] = true
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

func (c *Cluster) close() {
	for _, n := range c.Nodes {
		n.Kill()
		if n.redis != nil {
			n.redis.Close()
		}
		if n.log == nil {
			continue
		}
		if c.tb.Failed() {
			c.tb.Logf("log of %s:\n%s", n.ID, tail(n.log.Name(), 16<<10))
		}
		n.log.Close()
	}
}

func tail(path string, size int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-size):])
}

// Start starts the node's process on its data, without waiting for it.
func (n *Node) Start() {
	n.tb.Helper()
	if n.log == nil {
		f, err := os.Create(filepath.Join(n.tb.TempDir(), "log"))
		if err != nil {
			n.tb.Fatal(err)
		}
		n.log = f
	}
	args := append([]string{
		"serve", "--node-id", n.ID, "--data-dir", n.Dir, "--listen", n.Client,
		"--raft-listen", n.Raft, "--http-listen", n.HTTP, "--seats", strings.Join(n.Seats, ","),
	}, n.Args...)
	n.cmd = exec.Command(Binary(n.tb), args...)
	n.cmd.Env = append(os.Environ(), n.Env...)
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := n.cmd.Start(); err != nil {
		n.tb.Fatal(err)
	}
}

// Running says whether the process was started and not killed by us.
func (n *Node) Running() bool { return n.cmd != nil }

// PID is the process's id.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Resident is how many bytes of memory the process has; 0 when it is gone.
func (n *Node) Resident() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", n.PID()))
	if err != nil {
		return 0
	}
	var size, pages int64
	fmt.Sscan(string(b), &size, &pages)
	return pages * int64(os.Getpagesize())
}

// Kill ends the process as a crash would, and waits until it is gone.
func (n *Node) Kill() { n.end(syscall.SIGKILL) }

// Terminate asks the process to end and returns how it ended.
func (n *Node) Terminate() error { return n.end(syscall.SIGTERM) }

func (n *Node) end(sig syscall.Signal) error {
	if n.cmd == nil {
		return nil
	}
	// The process may have ended by itself; Wait tells.
	_ = n.cmd.Process.Signal(sig)
	if sig == syscall.SIGKILL {
		_ = n.cmd.Process.Signal(syscall.SIGCONT)
	}
	err := n.cmd.Wait()
	n.cmd = nil
	return err
}

// Exited waits until the process has ended by itself and returns how.
func (n *Node) Exited() error {
	done := make(chan error, 1)
	go func() { done <- n.cmd.Wait() }()
	select {
	case err := <-done:
		n.cmd = nil
		return err
	case <-time.After(Wait):
		n.tb.Fatalf("%s still runs", n.ID)
		return nil
	}
}

// Stop freezes the process (SIGSTOP); Continue lets it go on.
func (n *Node) Stop() { n.signal(syscall.SIGSTOP) }

// Continue ends what Stop began.
func (n *Node) Continue() { n.signal(syscall.SIGCONT) }

func (n *Node) signal(sig syscall.Signal) {
	n.tb.Helper()
	if err := n.cmd.Process.Signal(sig); err != nil {
		n.tb.Fatal(err)
	}
}

// Log is what the node has logged so far.
func (n *Node) Log() string { return tail(n.log.Name(), 1<<20) }

// Redis is a client of this node's shared port that never retries by itself.
func (n *Node) Redis() *redis.Client {
	if n.redis == nil {
		n.redis = NewClient(n.Client)
	}
	return n.redis
}

// NewClient is a client of one address that never retries by itself.
func NewClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, DialTimeout: 2 * time.Second, ReadTimeout: 20 * time.Second,
		WriteTimeout: 5 * time.Second, ContextTimeoutEnabled: true, PoolSize: 256,
	})
}

// Ready waits until every running node says that it can serve.
func (c *Cluster) Ready() {
	c.tb.Helper()
	for _, n := range c.Nodes {
		if n.Running() {
			n.Ready()
		}
	}
}

// Ready waits until the node says that it can serve.
func (n *Node) Ready() {
	n.tb.Helper()
	Until(n.tb, n.ID+" is ready", func() bool {
		resp, err := http.Get("http://" + n.HTTP + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Info is one field of the node's INFO, "" if it can't be had at once.
func (n *Node) Info(field string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	text, err := n.Redis().Info(ctx, "everything").Result()
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == field {
			return value
		}
	}
	return ""
}

// Leader waits until exactly one of the running nodes says that it leads.
func (c *Cluster) Leader() *Node {
	c.tb.Helper()
	var leader *Node
	Until(c.tb, "there is one leader", func() bool {
		leader = nil
		for _, n := range c.Nodes {
			if n.Running() && n.Info("raft_role") == "leader" {
				if leader != nil {
					return false
				}
				leader = n
			}
		}
		return leader != nil
	})
	return leader
}

// Others are all nodes but one.
func (c *Cluster) Others(not *Node) []*Node {
	var out []*Node
	for _, n := range c.Nodes {
		if n != not {
			out = append(out, n)
		}
	}
	return out
}

// Until polls a condition that must come true.
func Until(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	deadline := time.NewTimer(Wait)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline.C:
			tb.Fatalf("not within %v: %s", Wait, what)
		case <-tick.C:
		}
	}
}
