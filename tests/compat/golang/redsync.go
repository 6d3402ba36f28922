package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redsyncredigo "github.com/go-redsync/redsync/v4/redis/redigo"
	redsyncrueidis "github.com/go-redsync/redsync/v4/redis/rueidis"
	"github.com/gomodule/redigo/redis"
	goredislib "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

func redsyncOnGoRedis(addrs []string) (factory, error) {
	var pools []redsyncredis.Pool
	for _, addr := range addrs {
		client := goredislib.NewClient(&goredislib.Options{
			Addr: addr, PoolSize: 64,
			// By itself it dials a dead master five times, which outlasts a short lease.
			DialerRetries: 1,
		})
		pools = append(pools, goredis.NewPool(client))
	}
	return redsyncLockers(pools), nil
}

func redsyncOnRedigo(addrs []string) (factory, error) {
	var pools []redsyncredis.Pool
	for _, addr := range addrs {
		pool := &redis.Pool{MaxIdle: 64, Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr) }}
		pools = append(pools, redsyncredigo.NewPool(pool))
	}
	return redsyncLockers(pools), nil
}

func redsyncOnRueidis(addrs []string) (factory, error) {
	var pools []redsyncredis.Pool
	for _, addr := range addrs {
		// Client-side caching needs CLIENT TRACKING; a lock needs no cache.
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
		if err != nil && len(addrs) == 1 {
			return nil, err
		}
		if err != nil {
			// It doesn't make a client of a dead master, so its vote is lost by another way.
			pools = append(pools, deadPool{err})
			continue
		}
		pools = append(pools, redsyncrueidis.NewPool(rueidiscompat.NewAdapter(client)))
	}
	return redsyncLockers(pools), nil
}

// deadPool is a master that can't be reached.
type deadPool struct{ err error }

func (p deadPool) Get(context.Context) (redsyncredis.Conn, error) { return nil, p.err }

func redsyncLockers(pools []redsyncredis.Pool) factory {
	rs := redsync.New(pools...)
	return func(name string, lease time.Duration) locker {
		mutex := rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(400), redsync.WithTimeoutFactor(0.8),
			redsync.WithRetryDelayFunc(func(int) time.Duration { return 10*time.Millisecond + rand.N(30*time.Millisecond) }))
		return redsyncLocker{m: mutex, several: len(pools) > 1}
	}
}

type redsyncLocker struct {
	m       *redsync.Mutex
	several bool // masters
}

func (l redsyncLocker) tryLock(ctx context.Context) (bool, error) {
	err := l.m.TryLockContext(ctx)
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
		return false, nil
	}
	// Of several masters one may be dead, and the library may tell of that one.
	var dead *redsync.RedisError
	if l.several && errors.As(err, &dead) {
		return false, nil
	}
	return err == nil, err
}

func (l redsyncLocker) lock(ctx context.Context) error { return l.m.LockContext(ctx) }

func (l redsyncLocker) extend(ctx context.Context) (bool, error) { return l.m.ExtendContext(ctx) }

func (l redsyncLocker) unlock(ctx context.Context) (bool, error) { return l.m.UnlockContext(ctx) }
