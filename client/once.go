package client

import (
	"context"
	"errors"
	"time"
)

// Once is a job that many machines start at the same time and one of them runs:
// for cron.
type Once struct{ lock }

// Once is the job of that name. WithAtLeast should be longer than the clocks of the
// machines differ and the job's starts are late, and shorter than the time from
// one start to the next. WithAtMost bounds a job that hangs.
func (c *Client) Once(name string, options ...Option) *Once {
	o := &Once{lock{c: c, names: []string{name}, terms: newTerms(options)}}
	// The lease itself reaches as far, so that it also holds when the process dies.
	if t := &o.terms; t.session == nil && t.atLeast > 0 {
		if t.ttl == 0 {
			t.ttl = DefaultTTL
		}
		t.ttl = max(t.ttl, t.atLeast)
	}
	return o
}

// Do runs f if nobody runs the job or has run it within WithAtLeast, and says whether
// it did. f's context ends with the lock, ctx or WithAtMost. The error is f's, or
// what went wrong with the lock: with ErrLost f may not have been alone.
func (o *Once) Do(ctx context.Context, f func(ctx context.Context, g *Grant) error) (ran bool, err error) {
	g, err := o.acquireFor(ctx, ctx, false)
	if errors.Is(err, ErrHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	began := o.c.now()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeMax)
		defer cancel()
		err = errors.Join(err, g.UnlockAfter(ctx, o.terms.atLeast-(o.c.now()-began)))
	}()
	return true, f(g.Context(), g)
}

// UnlockAfter ends the Context now and lets the cluster release the lock when d
// has passed: it stays held, by nobody. With d of 0 or less it is Unlock. It is
// not for a lock with WithSession.
func (g *Grant) UnlockAfter(ctx context.Context, d time.Duration) error {
	if d < time.Millisecond || g.claim.terms.session != nil {
		return g.Unlock(ctx)
	}
	err := ErrReleased
	g.once.Do(func() { err = g.claim.unlockAfter(ctx, g.lease, d) })
	return err
}

// unlockAfter ends the lease for its holder, and sets its end for the cluster.
func (k *claim) unlockAfter(ctx context.Context, l *lease, d time.Duration) error {
	l.check()
	l.end(ErrReleased)
	<-l.kept
	a := k.c.ask(ctx, k.terms.try(), k.extension(d))
	switch {
	case a.err != nil:
		return a.err
	case a.value != int64(1):
		return ErrLost
	}
	return nil
}
