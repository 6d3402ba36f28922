package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Libraries that no registry serves here: what they send is spoken in our own words, on a
// driver that adds nothing of its own.

// dialect is how a library that no registry serves speaks to one master.
type dialect struct {
	// greet is what its driver says on a fresh connection; nil for nothing.
	greet func(c redis.Conn) error
	value func() string
	// acquire, extend and release say whether this master agreed. A dialect
	// without extend has none.
	acquire func(c redis.Conn, key, value string, lease time.Duration) (bool, error)
	extend  func(c redis.Conn, key, value string, lease time.Duration) (bool, error)
	release func(c redis.Conn, key, value string) (bool, error)
	// keys are what a lock's keys are called, if not as the lock.
	keys func(name string) []string
	// releaseNeeds is how many of n masters must agree; nil for a majority, as extending needs.
	releaseNeeds func(n int) int
}

func majority(n int) int { return n/2 + 1 }

// one is for those that count a single agreement as success.
func one(int) int { return 1 }

const dialLimit = 2 * time.Second

func (d *dialect) open(addrs []string) (factory, error) {
	var masters []*redis.Pool
	for _, addr := range addrs {
		masters = append(masters, &redis.Pool{MaxIdle: 64, Dial: func() (redis.Conn, error) {
			c, err := redis.Dial("tcp", addr, redis.DialConnectTimeout(dialLimit), redis.DialReadTimeout(10*time.Second))
			if err != nil || d.greet == nil {
				return c, err
			}
			if err := d.greet(c); err != nil {
				c.Close()
				return nil, fmt.Errorf("greeting: %w", err)
			}
			return c, nil
		}})
	}
	return func(name string, lease time.Duration) locker {
		l := &spokenLocker{dialect: d, masters: masters, name: name, lease: lease}
		if d.value != nil {
			l.value = d.value()
		}
		return l
	}, nil
}

type spokenLocker struct {
	*dialect
	masters []*redis.Pool
	name    string
	value   string
	lease   time.Duration
}

func (l *spokenLocker) keys() []string {
	if l.dialect.keys == nil {
		return []string{l.name}
	}
	return l.dialect.keys(l.name)
}

// count asks all masters at once and counts those that agree. It fails only if none answered.
func (l *spokenLocker) count(ask func(c redis.Conn) (bool, error)) (int, error) {
	var mu sync.Mutex
	agreed, failed := 0, []error{}
	var all sync.WaitGroup
	for _, m := range l.masters {
		all.Go(func() {
			c := m.Get()
			defer c.Close()
			ok, err := ask(c)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
			} else if ok {
				agreed++
			}
		})
	}
	all.Wait()
	if len(failed) == len(l.masters) {
		return 0, errors.Join(failed...)
	}
	return agreed, nil
}

func (l *spokenLocker) tryLock(context.Context) (bool, error) {
	sent := time.Now()
	n, err := l.count(func(c redis.Conn) (bool, error) { return l.acquire(c, l.name, l.value, l.lease) })
	valid := l.lease - l.lease/100 - 2*time.Millisecond - time.Since(sent)
	if err == nil && n >= majority(len(l.masters)) && valid > 0 {
		return true, nil
	}
	if n > 0 {
		_, _ = l.count(func(c redis.Conn) (bool, error) { return l.release(c, l.name, l.value) })
	}
	return false, err
}

func (l *spokenLocker) lock(ctx context.Context) error {
	for {
		ok, err := l.tryLock(ctx)
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10*time.Millisecond + rand.N(30*time.Millisecond)):
		}
	}
}

func (l *spokenLocker) canExtend() bool { return l.dialect.extend != nil }

func (l *spokenLocker) extend(context.Context) (bool, error) {
	n, err := l.count(func(c redis.Conn) (bool, error) { return l.dialect.extend(c, l.name, l.value, l.lease) })
	return n >= majority(len(l.masters)), err
}

func (l *spokenLocker) unlock(context.Context) (bool, error) {
	n, err := l.count(func(c redis.Conn) (bool, error) { return l.release(c, l.name, l.value) })
	needs := majority
	if l.releaseNeeds != nil {
		needs = l.releaseNeeds
	}
	return n >= needs(len(l.masters)), err
}

// script runs a script by its hash, and loads it first where the server doesn't
// know it, as those drivers do that load before they evaluate.
func script(c redis.Conn, text string, keys []string, args ...any) (any, error) {
	s := redis.NewScript(len(keys), text)
	all := make([]any, 0, len(keys)+len(args))
	for _, k := range keys {
		all = append(all, k)
	}
	all = append(all, args...)
	v, err := c.Do("EVALSHA", append([]any{s.Hash(), len(keys)}, all...)...)
	if err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT ") {
		return v, err
	}
	if sha, err := redis.String(c.Do("SCRIPT", "LOAD", text)); err != nil || sha != s.Hash() {
		return nil, fmt.Errorf("SCRIPT LOAD answered %q, %v", sha, err)
	}
	return c.Do("EVALSHA", append([]any{s.Hash(), len(keys)}, all...)...)
}

// is says whether a script answered the number.
func is(want int64) func(any, error) (bool, error) {
	return func(v any, err error) (bool, error) {
		n, err := redis.Int64(v, err)
		return n == want, err
	}
}

const (
	deleteIfEqual = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`
	expireIfEqual = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`
)

// setIfAbsent is SET with NX, in whole seconds where the lease is.
func setIfAbsent(c redis.Conn, key, value string, lease time.Duration) (bool, error) {
	unit, n := "PX", lease.Milliseconds()
	if lease%time.Second == 0 {
		unit, n = "EX", int64(lease/time.Second)
	}
	return answeredOK(c.Do("SET", key, value, unit, n, "NX"))
}

// answeredOK says whether SET took effect: OK, or nil where its condition didn't hold.
func answeredOK(v any, err error) (bool, error) {
	text, err := redis.String(v, err)
	if errors.Is(err, redis.ErrNil) {
		return false, nil
	}
	return text == "OK", err
}

func releaseByScript(c redis.Conn, key, value string) (bool, error) {
	return is(1)(script(c, deleteIfEqual, []string{key}, value))
}

func extendByScript(c redis.Conn, key, value string, lease time.Duration) (bool, error) {
	return is(1)(script(c, expireIfEqual, []string{key}, value, lease.Milliseconds()))
}
