package bench_test

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

var (
	errNotHad = errors.New("the lock was not had")
	errLost   = errors.New("the lock was no longer held")
)

// locker is one worker's lock. It is used by one goroutine.
type locker interface {
	acquire(context.Context) error
	release(context.Context) error
}

// fleet is a program with many workers and its connections to a system.
type fleet interface {
	// worker makes the lock of the i-th worker.
	worker(i int, name string) locker
	close()
}

// releaseScript deletes a lock that still has the owner's value, as lock libraries do.
var releaseScript = redis.NewScript(releaseText)

const releaseText = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

// plainFleet locks by SET NX PX and releases by script; its workers take turns on
// the clients.
type plainFleet []*redis.Client

func openPlain(addrs []string, workers int) plainFleet {
	var f plainFleet
	for _, addr := range addrs {
		f = append(f, redisClient(addr, workers))
	}
	return f
}

func (f plainFleet) worker(i int, name string) locker {
	return &plainLock{client: f[i%len(f)], name: name, worker: strconv.Itoa(i)}
}

func (f plainFleet) close() {
	for _, c := range f {
		c.Close()
	}
}

type plainLock struct {
	client       *redis.Client
	name, worker string
	grants       int
	owner        string
}

func (l *plainLock) acquire(ctx context.Context) error {
	l.grants++
	l.owner = l.worker + "#" + strconv.Itoa(l.grants)
	_, err := l.client.SetArgs(ctx, l.name, l.owner, redis.SetArgs{Mode: "NX", TTL: lease}).Result()
	if errors.Is(err, redis.Nil) {
		return errNotHad
	}
	return err
}

func (l *plainLock) release(ctx context.Context) error {
	n, err := releaseScript.Run(ctx, l.client, []string{l.name}, l.owner).Int()
	if err == nil && n != 1 {
		err = errLost
	}
	return err
}

// redlockFleet is redsync over several masters.
type redlockFleet struct {
	*redsync.Redsync
	clients plainFleet
}

func openRedlock(addrs []string, workers int) fleet {
	f := &redlockFleet{}
	var pools []redsyncredis.Pool
	for _, addr := range addrs {
		c := redisClient(addr, workers)
		f.clients = append(f.clients, c)
		pools = append(pools, goredis.NewPool(c))
	}
	f.Redsync = redsync.New(pools...)
	return f
}

func (f *redlockFleet) worker(_ int, name string) locker { return &redlock{f.Redsync, name, nil} }

func (f *redlockFleet) close() { f.clients.close() }

type redlock struct {
	redsync *redsync.Redsync
	name    string
	held    *redsync.Mutex
}

func (l *redlock) acquire(ctx context.Context) error {
	l.held = l.redsync.NewMutex(l.name, redsync.WithExpiry(lease), redsync.WithTries(1))
	err := l.held.LockContext(ctx)
	var taken *redsync.ErrTaken
	var nodeTaken *redsync.ErrNodeTaken
	if errors.As(err, &taken) || errors.As(err, &nodeTaken) {
		return errNotHad
	}
	return err
}

func (l *redlock) release(ctx context.Context) error {
	ok, err := l.held.UnlockContext(ctx)
	if err == nil && !ok {
		err = errLost
	}
	return err
}
