package bench_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// spinningFleet makes a fleet's workers ask again until they have the lock, as
// clients do that can't wait in line.
type spinningFleet struct {
	fleet
	refused atomic.Int64
}

func (f *spinningFleet) worker(i int, name string) locker {
	return &spinning{f.fleet.worker(i, name), &f.refused}
}

type spinning struct {
	locker
	refused *atomic.Int64
}

func (l *spinning) acquire(ctx context.Context) error {
	for {
		err := l.locker.acquire(ctx)
		if !errors.Is(err, errNotHad) {
			return err
		}
		l.refused.Add(1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		// Spread, or those who were refused together ask together again.
		case <-time.After(retryEvery/2 + rand.N(retryEvery)):
		}
	}
}

// spin is open with workers that ask again.
func spin(open func(int) (fleet, error)) func(int) (fleet, error) {
	return func(workers int) (fleet, error) {
		f, err := open(workers)
		if err != nil {
			return nil, err
		}
		return &spinningFleet{fleet: f}, nil
	}
}

// queueFleet waits in line by LOCK.ACQUIRE WAIT; its workers take turns on the clients.
type queueFleet struct{ plainFleet }

func openQueue(addrs []string, workers int) fleet {
	return queueFleet{openPlain(addrs, workers)}
}

func (f queueFleet) worker(i int, name string) locker {
	return &queued{client: f.plainFleet[i%len(f.plainFleet)], name: name, worker: strconv.Itoa(i)}
}

type queued struct {
	client       *redis.Client
	name, worker string
	grants       int
	owner        string
}

func (l *queued) acquire(ctx context.Context) error {
	l.grants++
	l.owner = l.worker + "#" + strconv.Itoa(l.grants)
	err := l.client.Do(ctx, "LOCK.ACQUIRE", l.name, l.owner, lease.Milliseconds(), "WAIT", queueWait.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return errNotHad
	}
	return err
}

func (l *queued) release(ctx context.Context) error {
	n, err := l.client.Do(ctx, "LOCK.RELEASE", l.name, l.owner).Int()
	if err == nil && n != 1 {
		err = errLost
	}
	return err
}
