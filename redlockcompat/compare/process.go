package compare

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// children starts processes and sees that none is left behind.
type children struct {
	mu    sync.Mutex
	dir   string
	env   []string     // of every child
	ports map[int]bool // given out, also to processes that don't run at the moment
	procs map[*process]bool
}

func newChildren(env []string) (*children, error) {
	dir, err := os.MkdirTemp("", "redfence-compare-")
	if err != nil {
		return nil, err
	}
	return &children{dir: dir, env: env, ports: map[int]bool{}, procs: map[*process]bool{}}, nil
}

// close ends every process and removes their data.
func (c *children) close() {
	c.mu.Lock()
	var all []*process
	for p := range c.procs {
		all = append(all, p)
	}
	c.mu.Unlock()
	for _, p := range all {
		p.kill()
	}
	os.RemoveAll(c.dir)
}

// folder makes a data folder.
func (c *children) folder(name string) (string, error) {
	dir := filepath.Join(c.dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// freeAddr finds a loopback address that nobody listens on and that was not given
// before, below the ports that the system gives to outgoing connections.
func (c *children) freeAddr() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range 1000 {
		port := 10_000 + rand.IntN(20_000)
		if c.ports[port] {
			continue
		}
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer ln.Close()
		c.ports[port] = true
		return ln.Addr().String(), nil
	}
	return "", errors.New("there are no free ports")
}

// process is one child that can be ended and started again.
type process struct {
	of   *children
	name string
	path string
	args []string
	env  []string

	mu  sync.Mutex
	cmd *exec.Cmd
	log *os.File
}

func (c *children) process(name, path string, args, env []string) *process {
	p := &process{of: c, name: name, path: path, args: args, env: env}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.procs[p] = true
	return p
}

// start starts the process; what it says goes to a file in its folder.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log == nil {
		f, err := os.CreateTemp(p.of.dir, "log-")
		if err != nil {
			return err
		}
		p.log = f
	}
	cmd := exec.Command(p.path, p.args...)
	cmd.Env = append(slices.Clone(p.of.env), p.env...)
	cmd.Dir = p.of.dir
	cmd.Stdout, cmd.Stderr = p.log, p.log
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.cmd = cmd
	return nil
}

// kill ends the process as a crash would and waits until it is gone.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	// It may have ended by itself: Wait tells.
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	_ = p.cmd.Wait()
	p.cmd = nil
}

// stop freezes the process, cont lets it go on.
func (p *process) stop() error { return p.signal(syscall.SIGSTOP) }
func (p *process) cont() error { return p.signal(syscall.SIGCONT) }

func (p *process) signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return fmt.Errorf("%s doesn't run", p.name)
	}
	return p.cmd.Process.Signal(sig)
}

// tail is the end of what the process said, for errors.
func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log == nil {
		return ""
	}
	b, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}

// until polls a condition that must come true.
func until(ctx context.Context, within time.Duration, what string, cond func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %v: %s: %w", within, what, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}

// rest lets time pass, less of it when ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
