package main

import (
	"context"
	"errors"
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

func redsyncOnGoRedis(addr string) (factory, error) {
	client := goredislib.NewClient(&goredislib.Options{Addr: addr, PoolSize: 64})
	return redsyncLockers(goredis.NewPool(client)), nil
}

func redsyncOnRedigo(addr string) (factory, error) {
	pool := &redis.Pool{MaxIdle: 64, Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr) }}
	return redsyncLockers(redsyncredigo.NewPool(pool)), nil
}

func redsyncOnRueidis(addr string) (factory, error) {
	// Client-side caching needs CLIENT TRACKING; a lock needs no cache.
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		return nil, err
	}
	return redsyncLockers(redsyncrueidis.NewPool(rueidiscompat.NewAdapter(client))), nil
}

func redsyncLockers(pool redsyncredis.Pool) factory {
	rs := redsync.New(pool)
	return func(name string, lease time.Duration) locker {
		return redsyncLocker{rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(400),
			redsync.WithRetryDelay(20*time.Millisecond))}
	}
}

type redsyncLocker struct{ m *redsync.Mutex }

func (l redsyncLocker) tryLock(ctx context.Context) (bool, error) {
	err := l.m.TryLockContext(ctx)
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
		return false, nil
	}
	return err == nil, err
}

func (l redsyncLocker) lock(ctx context.Context) error { return l.m.LockContext(ctx) }

func (l redsyncLocker) extend(ctx context.Context) (bool, error) { return l.m.ExtendContext(ctx) }

func (l redsyncLocker) unlock(ctx context.Context) (bool, error) { return l.m.UnlockContext(ctx) }
