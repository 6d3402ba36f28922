package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

const (
	// rueidislockKeys are the keys of one name: it needs two of them.
	rueidislockKeys = 3
	// neverExtended is the interval of a lock that must run out.
	neverExtended = time.Hour
)

// rueidisLock makes lockers that each have a connection of their own, as programs
// on different machines have. With px the lease is told as a time span; by
// itself the library tells the end by the client's wall clock.
func rueidisLock(px bool) library {
	return func(addrs []string) (factory, error) {
		return func(name string, lease time.Duration) locker {
			return &rueidislockLocker{addrs: addrs, name: name, lease: lease, px: px}
		}, nil
	}
}

type rueidislockLocker struct {
	addrs  []string
	name   string
	lease  time.Duration
	px     bool
	locker rueidislock.Locker
	held   context.Context
	free   context.CancelFunc
}

func (l *rueidislockLocker) keys() []string {
	var keys []string
	for i := range rueidislockKeys {
		keys = append(keys, fmt.Sprintf("rueidislock:%d:%s", i, l.name))
	}
	return keys
}

// lag is for px too: what extends tells the end by the client's wall clock, and the
// locker also extends when it is told that its key may have changed.
func (l *rueidislockLocker) lag() time.Duration { return freeWithin }

func (l *rueidislockLocker) connect() error {
	if l.locker != nil {
		return nil
	}
	opt := rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: l.addrs},
		KeyValidity:  l.lease, FallbackSETPX: l.px,
		// By itself it gives up on a key after 20 ms, which a busy machine takes at times.
		TryNextAfter: 5 * time.Second,
	}
	if l.lease < time.Second {
		opt.ExtendInterval = neverExtended
	}
	var err error
	l.locker, err = rueidislock.NewLocker(opt)
	return err
}

func (l *rueidislockLocker) tryLock(ctx context.Context) (bool, error) {
	if err := l.connect(); err != nil {
		return false, err
	}
	held, free, err := l.locker.TryWithContext(ctx, l.name)
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return false, nil
	}
	if err == nil {
		l.held, l.free = held, free
	}
	return err == nil, err
}

func (l *rueidislockLocker) lock(ctx context.Context) (err error) {
	if err = l.connect(); err == nil {
		l.held, l.free, err = l.locker.WithContext(ctx, l.name)
	}
	return err
}

// extend says whether the lock is still held: the library extends by itself, and at
// once when it hears of a change to its keys.
func (l *rueidislockLocker) extend(context.Context) (bool, error) {
	return l.held.Err() == nil, nil
}

// unlock says whether the lock was held until now: the library doesn't tell.
func (l *rueidislockLocker) unlock(context.Context) (bool, error) {
	held := l.held.Err() == nil
	l.free()
	return held, nil
}
