package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

func bsmRedislock(addrs []string) (factory, error) {
	client := redislock.New(redis.NewClient(&redis.Options{Addr: addrs[0], PoolSize: 64}))
	return func(name string, lease time.Duration) locker {
		return &redislockLocker{client: client, name: name, lease: lease}
	}, nil
}

type redislockLocker struct {
	client *redislock.Client
	name   string
	lease  time.Duration
	held   *redislock.Lock
}

func (l *redislockLocker) obtain(ctx context.Context, opt *redislock.Options) (bool, error) {
	held, err := l.client.Obtain(ctx, l.name, l.lease, opt)
	if errors.Is(err, redislock.ErrNotObtained) {
		return false, nil
	}
	l.held = held
	return err == nil, err
}

func (l *redislockLocker) tryLock(ctx context.Context) (bool, error) { return l.obtain(ctx, nil) }

func (l *redislockLocker) lock(ctx context.Context) error {
	ok, err := l.obtain(ctx, &redislock.Options{RetryStrategy: redislock.LinearBackoff(20 * time.Millisecond)})
	if err == nil && !ok {
		return redislock.ErrNotObtained
	}
	return err
}

func (l *redislockLocker) extend(ctx context.Context) (bool, error) {
	err := l.held.Refresh(ctx, l.lease, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return false, nil
	}
	return err == nil, err
}

func (l *redislockLocker) unlock(ctx context.Context) (bool, error) {
	err := l.held.Release(ctx)
	if errors.Is(err, redislock.ErrLockNotHeld) {
		return false, nil
	}
	return err == nil, err
}
