package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/redfence/redfence/redlockcompat/compare"
	"github.com/redfence/redfence/server/replica"
)

// bent is a node's clock and its connections to other nodes, as the file says.
type bent struct {
	mu    sync.Mutex
	now   compare.Faults
	conns map[net.Conn]bool
}

// bend puts the faults of a file between the replica and the machine.
func bend(ctx context.Context, r *replica.Config, path string) error {
	b := &bent{conns: map[net.Conn]bool{}}
	if err := b.look(path); err != nil {
		return fmt.Errorf("%s: %w", compare.FaultsVariable, err)
	}
	go b.follow(ctx, path)
	r.Wall = func() int64 {
		b.mu.Lock()
		defer b.mu.Unlock()
		return time.Now().Add(b.now.WallOffset).UnixMicro()
	}
	r.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		return b.admit(conn)
	}
	r.Listen = func(addr string) (net.Listener, error) {
		ln, err := net.Listen("tcp", addr)
		return &bentListener{ln, b}, err
	}
	return nil
}

func (b *bent) follow(ctx context.Context, path string) {
	tick := time.NewTicker(compare.FaultsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// The file was there at the start; what can't be read now changes nothing.
			_ = b.look(path)
		}
	}
}

// look takes over what the file says. Who is isolated loses what is open.
func (b *bent) look(path string) error {
	f, err := compare.ReadFaults(path)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = f
	if f.Isolated {
		for c := range b.conns {
			c.Close()
		}
		clear(b.conns)
	}
	return nil
}

func (b *bent) admit(conn net.Conn) (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now.Isolated {
		conn.Close()
		return nil, errors.New("cut off")
	}
	b.conns[conn] = true
	return &bentConn{conn, b}, nil
}

type bentConn struct {
	net.Conn
	of *bent
}

func (c *bentConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

type bentListener struct {
	net.Listener
	of *bent
}

func (l *bentListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if bent, err := l.of.admit(conn); err == nil {
			return bent, nil
		}
	}
}

// bendIfTold is for nodes that `redfence compare` runs: only they have the variable.
func bendIfTold(ctx context.Context, r *replica.Config) error {
	path, told := os.LookupEnv(compare.FaultsVariable)
	if !told {
		return nil
	}
	return bend(ctx, r, path)
}
