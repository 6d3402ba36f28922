// Command golang drives the Go lock libraries, as their users would, against a
// server that is named on the command line, and prints one line a case:
//
//	acquire ok
//	release FAIL the lock was still held
//
// It is a module of its own, so that the libraries stay out of the product's.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// library makes lockers of one lock library on one driver.
type library func(addr string) (factory, error)

// factory makes a locker for a name; each has a value of its own.
type factory func(name string, lease time.Duration) locker

// locker is one holder-to-be.
type locker interface {
	tryLock(ctx context.Context) (bool, error)
	lock(ctx context.Context) error // waits as the library waits
	extend(ctx context.Context) (bool, error)
	unlock(ctx context.Context) (bool, error)
}

var libraries = map[string]library{
	"redsync/go-redis": redsyncOnGoRedis,
	"redsync/redigo":   redsyncOnRedigo,
	"redsync/rueidis":  redsyncOnRueidis,
	"bsm/redislock":    bsmRedislock,
}

func main() {
	if len(os.Args) != 4 || libraries[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: golang LIBRARY ADDRESS PREFIX")
		os.Exit(2)
	}
	addr, prefix := os.Args[2], os.Args[3]
	newLocker, err := libraries[os.Args[1]](addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	probe := redis.NewClient(&redis.Options{Addr: addr})
	r := runner{newLocker: newLocker, probe: probe, prefix: prefix}
	for _, c := range []struct {
		name string
		run  func(*runner, context.Context, string) error
	}{
		{"acquire", (*runner).acquire},
		{"contended", (*runner).contended},
		{"extend", (*runner).extend},
		{"release", (*runner).release},
		{"foreign", (*runner).foreign},
		{"expiry", (*runner).expiry},
		{"wait", (*runner).wait},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := c.run(&r, ctx, prefix+":"+c.name); err != nil {
			fmt.Printf("%s FAIL %v\n", c.name, err)
			r.failed = true
		} else {
			fmt.Printf("%s ok\n", c.name)
		}
		cancel()
	}
	if r.failed {
		os.Exit(1)
	}
}

type runner struct {
	newLocker factory
	probe     *redis.Client
	prefix    string
	failed    bool
}

const lease = 10 * time.Second

// acquire: a free lock is taken, and the server has it with its lease and token.
func (r *runner) acquire(ctx context.Context, name string) error {
	l := r.newLocker(name, lease)
	if ok, err := l.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not taken: %v", err)
	}
	left, err := r.probe.PTTL(ctx, name).Result()
	if err != nil || left <= 0 || left > lease {
		return fmt.Errorf("the lease is %v (%v)", left, err)
	}
	if token, err := r.probe.Do(ctx, "LOCK.TOKEN", name).Int64(); err != nil || token <= 0 {
		return fmt.Errorf("the token is %d (%v)", token, err)
	}
	return nil
}

// contended: a held lock is refused.
func (r *runner) contended(ctx context.Context, name string) error {
	a, b := r.newLocker(name, lease), r.newLocker(name, lease)
	if ok, err := a.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not taken: %v", err)
	}
	if ok, err := b.tryLock(ctx); ok || err != nil {
		return fmt.Errorf("taken twice: %v %v", ok, err)
	}
	return nil
}

// extend: a holder gets its whole lease again.
func (r *runner) extend(ctx context.Context, name string) error {
	l := r.newLocker(name, lease)
	if ok, err := l.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not taken: %v", err)
	}
	if err := r.probe.PExpire(ctx, name, time.Second).Err(); err != nil {
		return err
	}
	if ok, err := l.extend(ctx); !ok || err != nil {
		return fmt.Errorf("not extended: %v %v", ok, err)
	}
	if left, err := r.probe.PTTL(ctx, name).Result(); err != nil || left < lease/2 {
		return fmt.Errorf("the lease is %v after extending (%v)", left, err)
	}
	return nil
}

// release: a released lock is free.
func (r *runner) release(ctx context.Context, name string) error {
	a, b := r.newLocker(name, lease), r.newLocker(name, lease)
	if ok, err := a.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not taken: %v", err)
	}
	if ok, err := a.unlock(ctx); !ok || err != nil {
		return fmt.Errorf("not released: %v %v", ok, err)
	}
	if ok, err := b.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not free after the release: %v %v", ok, err)
	}
	return nil
}

// foreign: who doesn't hold the lock can't release it.
func (r *runner) foreign(ctx context.Context, name string) error {
	a, b := r.newLocker(name, time.Second), r.newLocker(name, lease)
	if ok, err := a.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not taken: %v", err)
	}
	if err := r.probe.Del(ctx, name).Err(); err != nil {
		return err
	}
	if ok, err := b.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not taken by the next: %v %v", ok, err)
	}
	if ok, _ := a.unlock(ctx); ok {
		return fmt.Errorf("the former holder was told that it released the lock")
	}
	if n, err := r.probe.Exists(ctx, name).Result(); n != 1 {
		return fmt.Errorf("the former holder released its successor's lock (%v)", err)
	}
	return nil
}

// expiry: a lease that isn't renewed ends, and not before its time.
func (r *runner) expiry(ctx context.Context, name string) error {
	const short = 500 * time.Millisecond
	a, b := r.newLocker(name, short), r.newLocker(name, lease)
	sent := time.Now()
	if ok, err := a.tryLock(ctx); !ok || err != nil {
		return fmt.Errorf("not taken: %v", err)
	}
	for {
		asked := time.Now()
		ok, err := b.tryLock(ctx)
		if err != nil {
			return err
		}
		if ok && asked.Sub(sent) < short*99/100 && time.Since(sent) < short {
			return fmt.Errorf("taken from its holder after %v of %v", time.Since(sent), short)
		}
		if ok {
			break
		}
	}
	if took := time.Since(sent); took > 5*time.Second {
		return fmt.Errorf("free only after %v", took)
	}
	if ok, _ := a.extend(ctx); ok {
		return fmt.Errorf("extended after it had ended")
	}
	return nil
}

// wait: 32 goroutines take turns; the resource counts who is in.
func (r *runner) wait(ctx context.Context, name string) error {
	var inside, turns, clashes atomic.Int64
	var all sync.WaitGroup
	errs := make(chan error, 32)
	for range 32 {
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
	if clashes.Load() > 0 || turns.Load() != 32 {
		return fmt.Errorf("%d turns, %d times two were in", turns.Load(), clashes.Load())
	}
	return nil
}
