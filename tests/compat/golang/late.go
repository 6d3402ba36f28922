package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// A release that comes late is the race of Redlock's clients with themselves:
// redsync uses one value for all tries of a Lock, and releases everywhere between two
// of them, so a release of the first try may arrive when the second has won.

const (
	lateBy    = 2 * time.Second
	lateLease = 8 * time.Second
	// firstTry is how long the first two masters refuse: the first try fails by it.
	firstTry = 300 * time.Millisecond
)

// lateRelease locks by real redsync on three masters, of which the third gets the
// release of the first try late, and sees that the lock stays held.
func lateRelease(ctx context.Context, addrs []string, name string) error {
	relay, err := newLateRelay(addrs[2])
	if err != nil {
		return err
	}
	defer relay.Close()
	clients := make([]*redis.Client, len(addrs))
	for i, addr := range addrs {
		if i == 2 {
			addr = relay.Addr().String()
		}
		clients[i] = redis.NewClient(&redis.Options{Addr: addr, ReadTimeout: 200 * time.Millisecond, MaxRetries: -1})
	}
	for _, c := range clients[:2] {
		if err := c.Set(ctx, name, "another", firstTry).Err(); err != nil {
			return err
		}
	}
	direct := redis.NewClient(&redis.Options{Addr: addrs[2]})
	a := redsync.New(poolsOf(clients)...).NewMutex(name, redsync.WithExpiry(lateLease), redsync.WithTimeoutFactor(0.5),
		redsync.WithRetryDelay(200*time.Millisecond))
	if err := a.LockContext(ctx); err != nil {
		return fmt.Errorf("the lock isn't taken: %w", err)
	}
	if !relay.held.Load() {
		return errors.New("no release was held up: the first try didn't fail")
	}
	token, err := direct.Do(ctx, "LOCK.TOKEN", name, a.Value()).Int64()
	if err != nil {
		return fmt.Errorf("the token: %w", err)
	}
	for {
		votes, err := direct.Exists(ctx, name).Result()
		if err != nil {
			return fmt.Errorf("the late release took no vote: %w", err)
		}
		if votes == 0 {
			break
		}
	}
	for range 20 {
		err := redsync.New(poolsOf(clients)...).NewMutex(name, redsync.WithExpiry(lateLease)).TryLockContext(ctx)
		if err == nil {
			return fmt.Errorf("a second holder %v before the first one's lease ends", time.Until(a.Until()))
		}
	}
	if now, err := direct.Do(ctx, "LOCK.TOKEN", name, a.Value()).Int64(); err != nil || now != token {
		return fmt.Errorf("the token was %d and is %d (%v)", token, now, err)
	}
	if ok, err := a.ExtendContext(ctx); !ok || err != nil {
		return fmt.Errorf("the holder can't extend: %v", err)
	}
	return nil
}

func poolsOf(clients []*redis.Client) []redsyncredis.Pool {
	var pools []redsyncredis.Pool
	for _, c := range clients {
		pools = append(pools, goredis.NewPool(c))
	}
	return pools
}

// lateRelay passes everything on to a master, but the first script, which it
// delivers late, whether its client has gone meanwhile or not.
type lateRelay struct {
	net.Listener
	to   string
	held atomic.Bool
}

func newLateRelay(to string) (*lateRelay, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &lateRelay{Listener: ln, to: to}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r, nil
}

func (r *lateRelay) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(client, server) }()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if n > 0 && isScript(buf[:n]) && !r.held.Swap(true) {
			<-time.After(lateBy)
		}
		if n > 0 {
			if _, werr := server.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func isScript(b []byte) bool { return bytes.Contains(bytes.ToLower(b), []byte("\r\neval")) }
