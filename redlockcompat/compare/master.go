package compare

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"
)

// master is one process that a client may take for an independent Redis master:
// a redis-server, or a node of Redfence.
type master struct {
	*process
	addrs []string      // what clients may dial: a redis-server's port; a node's shared port, then its seats
	ready func() bool   // it serves
	jump  jumper        // sets its wall clock, nil if this machine can't
	cut   func(on bool) // cuts it off from the other masters; nil if they don't talk
}

// jumper sets a wall clock forward by d from now on; 0 sets it right again.
type jumper func(d time.Duration) error

func (m *master) restart(ctx context.Context) error {
	if err := m.start(); err != nil {
		return err
	}
	return m.waitReady(ctx)
}

func (m *master) waitReady(ctx context.Context) error {
	if err := until(ctx, startWait, m.name+" serves", m.ready); err != nil {
		return fmt.Errorf("%w\n%s", err, m.tail())
	}
	return nil
}

// redisMasters starts n redis-servers that know nothing of one another. With lib,
// libfaketime's path, their wall clocks can be set, and they are slower by it.
func redisMasters(ctx context.Context, c *children, path string, n int, durable bool, lib string) ([]*master, error) {
	var all []*master
	for i := range n {
		m, err := redisMaster(c, path, fmt.Sprintf("redis-server %d of %d", i+1, n), lib, durable)
		if err != nil {
			return nil, err
		}
		if err := m.start(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	for _, m := range all {
		if err := m.waitReady(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func redisMaster(c *children, path, name, lib string, durable bool) (*master, error) {
	addr, err := c.freeAddr()
	if err != nil {
		return nil, err
	}
	host, port := splitAddr(addr)
	dir, err := c.folder("redis-" + port)
	if err != nil {
		return nil, err
	}
	args := []string{"--bind", host, "--port", port, "--save", "", "--dir", dir, "--appendonly", "no"}
	if durable {
		args = append(args[:len(args)-1], "yes", "--appendfsync", "always")
	}
	m := &master{addrs: []string{addr}}
	var env []string
	if lib != "" {
		file := filepath.Join(dir, "clock")
		m.jump = func(d time.Duration) error {
			return os.WriteFile(file, fmt.Appendf(nil, "+%ds\n", int(d.Seconds())), 0o644)
		}
		if err := m.jump(0); err != nil {
			return nil, err
		}
		// The monotonic clock stays right: only the wall clock was set. The C library's
		// malloc goes before redis-server's own, which asks libfaketime for the time
		// before that is ready, and fails.
		env = []string{"LD_PRELOAD=" + lib + " libc.so.6", "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1",
			"FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
	}
	m.process = c.process(name, path, args, env)
	m.ready = func() bool { return answers(addr) }
	return m, nil
}

// faketimeLibrary is where libfaketime is, "" if it isn't installed.
func faketimeLibrary() string {
	for _, pattern := range []string{
		"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1", "/usr/local/lib/faketime/libfaketime.so.1",
	} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// answers says whether somebody at addr answers PING.
func answers(addr string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), askWait)
	defer cancel()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true})
	defer c.Close()
	return c.Ping(ctx).Err() == nil
}
