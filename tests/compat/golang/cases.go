package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// runner runs the cases of one library.
type runner struct {
	newLocker factory
	probes    []*redis.Client // one an address
	prefix    string
}

const (
	lease      = 10 * time.Second
	shortLease = 500 * time.Millisecond
	freeWithin = 5 * time.Second
	takers     = 32
)

// keysOf are the keys of a locker's lock.
func keysOf(l locker, name string) []string {
	if k, ok := l.(keyed); ok {
		return k.keys()
	}
	return []string{name}
}

// everywhere sends a command for each of the lock's keys to each address, and
// fails only if no address answers: one of several masters may be dead.
func (r *runner) everywhere(ctx context.Context, l locker, name string, command func(key string) []any) error {
	answered := false
	var last error
	for _, probe := range r.probes {
		for _, key := range keysOf(l, name) {
			if last = probe.Do(ctx, command(key)...).Err(); last != nil {
				break
			}
			answered = true
		}
	}
	if !answered {
		return last
	}
	return nil
}

// left is what the lock has left at the first address.
func (r *runner) left(ctx context.Context, l locker, name string) (time.Duration, error) {
	return r.probes[0].PTTL(ctx, keysOf(l, name)[0]).Result()
}

// take locks a free name without waiting.
func (r *runner) take(ctx context.Context, name string, lease time.Duration) (locker, error) {
	l := r.newLocker(name, lease)
	if ok, err := l.tryLock(ctx); !ok || err != nil {
		return l, fmt.Errorf("not taken: %v", err)
	}
	return l, nil
}

// acquire: a free lock is taken, and the server has it with its lease and token.
func (r *runner) acquire(ctx context.Context, name string) error {
	l, err := r.take(ctx, name, lease)
	if err != nil {
		return err
	}
	left, err := r.left(ctx, l, name)
	if err != nil || left <= 0 || left > longest(l, lease) {
		return fmt.Errorf("the lease is %v (%v)", left, err)
	}
	if token, err := r.probes[0].Do(ctx, "LOCK.TOKEN", keysOf(l, name)[0]).Int64(); err != nil || token <= 0 {
		return fmt.Errorf("the token is %d (%v)", token, err)
	}
	return nil
}

// contended: a held lock is refused.
func (r *runner) contended(ctx context.Context, name string) error {
	if _, err := r.take(ctx, name, lease); err != nil {
		return err
	}
	if ok, err := r.newLocker(name, lease).tryLock(ctx); ok || err != nil {
		return fmt.Errorf("taken twice: %v %v", ok, err)
	}
	return nil
}

// extend: a holder gets its whole lease again.
func (r *runner) extend(ctx context.Context, name string) error {
	if !canExtend(r.newLocker(name, lease)) {
		return errNone
	}
	l, err := r.take(ctx, name, lease)
	if err != nil {
		return err
	}
	if err := r.everywhere(ctx, l, name, func(key string) []any { return []any{"PEXPIRE", key, 1000} }); err != nil {
		return err
	}
	if ok, err := l.extend(ctx); !ok || err != nil {
		return fmt.Errorf("not extended: %v %v", ok, err)
	}
	// A library that extends by itself does so a moment later.
	for {
		left, err := r.left(ctx, l, name)
		if err != nil || left < 0 {
			return fmt.Errorf("the lease is %v after extending (%v)", left, err)
		}
		if left >= lease/2 {
			return nil
		}
	}
}

// release: a released lock is free.
func (r *runner) release(ctx context.Context, name string) error {
	a, err := r.take(ctx, name, lease)
	if err != nil {
		return err
	}
	if ok, err := a.unlock(ctx); !ok || err != nil {
		return fmt.Errorf("not released: %v %v", ok, err)
	}
	if _, err := r.take(ctx, name, lease); err != nil {
		return fmt.Errorf("after the release: %v", err)
	}
	return nil
}

// foreign: who doesn't hold the lock can't release it.
func (r *runner) foreign(ctx context.Context, name string) error {
	a, err := r.take(ctx, name, lease)
	if err != nil {
		return err
	}
	if err := r.everywhere(ctx, a, name, func(key string) []any { return []any{"DEL", key} }); err != nil {
		return err
	}
	b, err := r.take(ctx, name, lease)
	if err != nil {
		return fmt.Errorf("the next: %v", err)
	}
	if ok, _ := a.unlock(ctx); ok {
		return fmt.Errorf("the former holder was told that it released the lock")
	}
	if left, err := r.left(ctx, b, name); err != nil || left <= 0 {
		return fmt.Errorf("the former holder released its successor's lock (%v)", err)
	}
	return nil
}

// expiry: a lease that isn't renewed ends, and not before its time.
func (r *runner) expiry(ctx context.Context, name string) error {
	sent := time.Now()
	a, err := r.take(ctx, name, shortLease)
	if err != nil {
		return err
	}
	b := r.newLocker(name, lease)
	for {
		ok, err := b.tryLock(ctx)
		if err != nil {
			return err
		}
		if ok {
			break
		}
	}
	switch took := time.Since(sent); {
	case took < shortLease*99/100:
		return fmt.Errorf("taken from its holder after %v of %v", took, shortLease)
	case took > freeWithin:
		return fmt.Errorf("free only after %v", took)
	}
	if !canExtend(a) {
		return nil
	}
	if ok, _ := a.extend(ctx); ok {
		return fmt.Errorf("extended after it had ended")
	}
	return nil
}

// wait: goroutines take turns; the resource counts who is in.
func (r *runner) wait(ctx context.Context, name string) error {
	var inside, turns, clashes atomic.Int64
	var all sync.WaitGroup
	errs := make(chan error, takers)
	for range takers {
		all.Go(func() {
			l := r.newLocker(name, lease)
			if err := l.lock(ctx); err != nil {
				errs <- err
				return
			}
			if inside.Add(1) != 1 {
				clashes.Add(1)
			}
			turns.Add(1)
			inside.Add(-1)
			if ok, err := l.unlock(ctx); !ok || err != nil {
				errs <- fmt.Errorf("not released: %v %v", ok, err)
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	if clashes.Load() > 0 || turns.Load() != takers {
		return fmt.Errorf("%d turns, %d times two were in", turns.Load(), clashes.Load())
	}
	return nil
}
