package compare

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Faults by which a master doesn't answer, measured by the longest time in which
// no client got a lock.

// service is clients at work: each locks names of its own, and all of them one
// name that the resource watches.
type service struct {
	sc     *scene
	reach  *reach
	mu     sync.Mutex
	last   time.Time // a lock was had
	gap    time.Duration
	cycles int64
	stop   context.CancelFunc
	all    sync.WaitGroup
}

func (sc *scene) startService(ctx context.Context) *service {
	ctx, stop := context.WithCancel(ctx)
	s := &service{sc: sc, reach: newReach(), last: time.Now(), stop: stop}
	for w := range serviceWorkers {
		s.all.Go(func() {
			c := sc.client(s.reach, 1)
			defer c.close()
			for ctx.Err() == nil {
				s.own(ctx, c, fmt.Sprintf("%s:%d", sc.name, w))
				sc.contend(ctx, c)
			}
		})
	}
	return s
}

// own is one lock cycle on a name that nobody else wants.
func (s *service) own(ctx context.Context, c *client, name string) {
	m := c.mutex(name, s.sc.lease)
	if m.LockContext(ctx) != nil {
		rest(ctx, retryEvery)
		return
	}
	s.mu.Lock()
	now := time.Now()
	s.gap = max(s.gap, now.Sub(s.last))
	s.last = now
	s.cycles++
	s.mu.Unlock()
	// A release that fails leaves the name to run out; its worker takes it again then.
	_, _ = m.UnlockContext(ctx)
}

// contend goes into the resource once, if the common name is free.
func (sc *scene) contend(ctx context.Context, c *client) {
	m := c.mutex(sc.name, sc.lease)
	if m.TryLockContext(ctx) != nil {
		return
	}
	h := sc.resource.enter(m.Until())
	rest(ctx, retryEvery)
	sc.resource.leave(h)
	_, _ = m.UnlockContext(ctx)
}

func (s *service) end() {
	s.stop()
	s.all.Wait()
	s.sc.out.Gap = max(s.gap, time.Since(s.last)).Seconds()
	s.sc.out.Cycles = s.cycles
}

// through runs the clients before, during and after an outage.
func (sc *scene) through(ctx context.Context, begin func(*service, *master) error, end func(*service, *master) error) error {
	victim := sc.victim(ctx)
	s := sc.startService(ctx)
	defer s.end()
	rest(ctx, sc.calm)
	if err := begin(s, victim); err != nil {
		return err
	}
	rest(ctx, sc.outage)
	if err := end(s, victim); err != nil {
		return err
	}
	rest(ctx, sc.calm)
	return nil
}

// victim is the master whose loss hurts most: the leader where there is one.
func (sc *scene) victim(ctx context.Context) *master {
	for _, m := range sc.masters {
		if sc.redfence && leads(ctx, m.addrs[0]) {
			return m
		}
	}
	return sc.masters[sc.rng.IntN(len(sc.masters))]
}

func leads(ctx context.Context, addr string) bool {
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	info, err := c.Info(ctx, "everything").Result()
	return err == nil && strings.Contains(info, "raft_role:leader")
}

func deadFault(ctx context.Context, sc *scene) error {
	return sc.through(ctx,
		func(_ *service, m *master) error { m.kill(); return nil },
		func(_ *service, m *master) error { return m.start() })
}

func stoppedFault(ctx context.Context, sc *scene) error {
	return sc.through(ctx,
		func(_ *service, m *master) error { return m.stop() },
		func(_ *service, m *master) error { return m.cont() })
}

func partitionFault(ctx context.Context, sc *scene) error {
	alone, stop := context.WithCancel(ctx)
	var lonely sync.WaitGroup
	defer lonely.Wait()
	defer stop()
	begin := func(s *service, m *master) error {
		s.reach.cut(m)
		if m.cut != nil {
			m.cut(true)
		}
		// One client is on the other side: it reaches the cut off master alone.
		other := newReach()
		for _, x := range sc.masters {
			if x != m {
				other.cut(x)
			}
		}
		lonely.Go(func() {
			c := sc.client(other, 1)
			defer c.close()
			for alone.Err() == nil {
				sc.contend(alone, c)
				rest(alone, retryEvery)
			}
		})
		return nil
	}
	end := func(s *service, m *master) error {
		s.reach.heal(m)
		if m.cut != nil {
			m.cut(false)
		}
		return nil
	}
	return sc.through(ctx, begin, end)
}
