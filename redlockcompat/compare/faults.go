package compare

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"
)

// FaultRun is one fault made on one system, and what the resource counted.
type FaultRun struct {
	Fault  string `json:"fault"`
	System string `json:"system"`
	// NotRun says why the fault could not be made; nothing else counts then.
	NotRun string `json:"not_run,omitempty"`
	// TwoHolders is how often somebody got in while another's lease still ran, and
	// Overlap the longest time for which both could be in.
	TwoHolders int     `json:"two_holders"`
	Overlap    float64 `json:"overlap_ms"`
	// LateAccepted and LateRefused are writes that came after their lease.
	LateAccepted int `json:"late_accepted"`
	LateRefused  int `json:"late_refused"`
	// Gap is the longest time in which nobody got a lock, for faults of service.
	Gap    float64 `json:"gap_s"`
	Cycles int64   `json:"cycles"`
}

// pace is how long the steps of a fault take.
type pace struct{ lease, outage, calm time.Duration }

// scene is one fault on one system while it is made.
type scene struct {
	*system
	pace
	rng      *rand.Rand
	name     string // of the lock
	resource *resource
	out      *FaultRun
}

// fault is one kind of trouble. make returns errCannot, wrapped with the reason,
// if this machine can't make it.
type fault struct {
	id, title, what string
	service         bool // counts a gap
	make            func(ctx context.Context, sc *scene) error
}

var errCannot = errors.New("can't be made here")

func cannot(why string) error { return fmt.Errorf("%s: %w", why, errCannot) }

// faults are all of them, in the order of the report.
var faults = []fault{
	{"restart", "A master crashes and comes back without what it didn't keep",
		"A lock has just two of three votes. One of those masters is killed (kill -9) and started again; another client asks for the lock meanwhile.",
		false, restartFault(true)},
	{"control", "The same without the crash",
		"A lock has just two of three votes and another client asks for it; nothing is killed.",
		false, restartFault(false)},
	{"jump-one", "The wall clock of one master jumps ahead by 10 s",
		"A lock has just two of three votes. The wall clock of one of those masters is set forward; another client asks for the lock.",
		false, jumpFault(1)},
	{"jump-two", "The wall clocks of two masters jump ahead by 10 s",
		"A lock has all votes. The wall clocks of two masters are set forward; another client asks for the lock.",
		false, jumpFault(2)},
	{"stall", "A holder stalls past its lease and writes late",
		"A client takes the lock and stands still until its lease has ended and another has taken the lock and written. Then it writes, too.",
		false, stallFault},
	{"dead", "A master is dead", "One is killed while clients work, and started again later.", true, deadFault},
	{"stopped", "A master is stopped and goes on", "One is frozen (SIGSTOP) while clients work, and goes on later (SIGCONT).", true, stoppedFault},
	{"partition", "A master is cut off", "One is cut off from the other masters and from all clients but one, which asks for the same lock.", true, partitionFault},
}

// run makes a fault on a system. Whatever it did is undone afterwards.
func (f *fault) run(ctx context.Context, s *system, p pace, seed uint64) (*FaultRun, error) {
	// One name is one lock on every port of one Redfence, so each scene has its own.
	own := fnv.New64a()
	fmt.Fprint(own, f.id, s.name)
	rng := rand.New(rand.NewPCG(seed, own.Sum64()))
	out := &FaultRun{Fault: f.id, System: s.name}
	sc := &scene{system: s, pace: p, rng: rng, name: fmt.Sprintf("%s:%x", f.id, rng.Uint32()), resource: newResource(), out: out}
	err := f.make(ctx, sc)
	out.TwoHolders, out.Overlap = sc.resource.both, float64(sc.resource.overlap.Microseconds())/1000
	out.LateAccepted, out.LateRefused = sc.resource.late, sc.resource.refused
	switch {
	case errors.Is(err, errCannot):
		out.NotRun = strings.TrimSuffix(err.Error(), ": "+errCannot.Error())
	case err != nil:
		return nil, fmt.Errorf("%s on %s: %w", f.id, s.name, err)
	}
	return out, sc.settle(ctx)
}

// settle waits until every master serves again.
func (sc *scene) settle(ctx context.Context) error {
	for _, m := range sc.masters {
		if err := m.waitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// holdBy takes the lock with just two of three votes, or with all, and goes into
// the resource.
func (sc *scene) holdBy(ctx context.Context, c *client, twoVotes bool) (*redsync.Mutex, error) {
	if n := len(c.conns); twoVotes && n > 1 {
		// Somebody else's vote, which runs out soon, is in the way of the last ones.
		for _, conn := range c.conns[n/2+1:] {
			if err := conn.Set(ctx, sc.name, "another", sc.lease/10).Err(); err != nil {
				return nil, err
			}
		}
	}
	m := c.mutex(sc.name, sc.lease)
	if err := m.LockContext(ctx); err != nil {
		return nil, fmt.Errorf("the lock isn't had: %w", err)
	}
	sc.resource.enter(m.Until())
	for _, conn := range c.conns {
		err := until(ctx, sc.lease, "the vote in the way runs out", func() bool {
			v, err := conn.Get(ctx, sc.name).Result()
			return err == redis.Nil || v == m.Value()
		})
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// rival asks for the lock until it has it or the first holder's lease has ended.
func (sc *scene) rival(ctx context.Context, c *client, first *redsync.Mutex) error {
	for time.Now().Before(first.Until()) {
		m := c.mutex(sc.name, sc.lease)
		if err := m.TryLockContext(ctx); err == nil {
			sc.resource.enter(m.Until())
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rest(ctx, retryEvery)
	}
	return nil
}

// two makes the two clients of a fault.
func (sc *scene) two() (a, b *client, done func()) {
	a, b = sc.client(newReach(), 1), sc.client(newReach(), 1)
	return a, b, func() { a.close(); b.close() }
}
