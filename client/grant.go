package client

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// Grant is a lock that is held. It is renewed in the background until Unlock, the
// end of its Client or Session, or WithAtMost; also when the program refers to
// neither the Grant nor its Context any more. Its methods may be called by any goroutine.
type Grant struct {
	lease  *lease
	claim  *claim
	tokens []int64
	ctx    *leaseContext
	once   sync.Once
}

func newGrant(k *claim, l *lease, tokens []int64) *Grant {
	g := &Grant{lease: l, claim: k, tokens: tokens}
	g.ctx = &leaseContext{Context: l.inner, lease: l, of: g}
	runtime.AddCleanup(g, func(l *lease) { l.end(errForgotten) }, l)
	return g
}

// Context ends before the cluster can give the lock to another: by Unlock, when
// the lease was lost or could not be renewed. context.Cause says which. Its Err
// and Done go by the clock, so the first look after a pause of the process tells;
// those of a context derived from it follow a moment later.
func (g *Grant) Context() context.Context { return g.ctx }

// Token is the fencing token: it is higher than that of every grant before, of any
// name. Of a MultiLock it is the highest.
func (g *Grant) Token() int64 {
	most := g.tokens[0]
	for _, t := range g.tokens {
		most = max(most, t)
	}
	return most
}

// Tokens has one token a name, in the order of the names of a MultiLock.
func (g *Grant) Tokens() []int64 { return append([]int64(nil), g.tokens...) }

// Names are what is held.
func (g *Grant) Names() []string { return append([]string(nil), g.claim.names...) }

// Owner is how the cluster knows the holder.
func (g *Grant) Owner() string { return g.claim.owner }

// Left is for how long the lock is surely held if it is not renewed; 0 when it is lost.
func (g *Grant) Left() time.Duration {
	if !g.lease.check() {
		return 0
	}
	return max(0, g.lease.left())
}

// State is how the lease stands.
func (g *Grant) State() State { return g.lease.now() }

// Grace is for how long the cluster surely keeps the lock after the Context has
// ended for want of renewal or by WithAtMost: at most WithMargin, and 0 when another
// may have it. It is for work that needs a moment to stop.
func (g *Grant) Grace() time.Duration {
	if g.lease.check() {
		return g.lease.terms.margin
	}
	cause := context.Cause(g.lease.inner)
	if g.lease.over != nil || errors.Is(cause, ErrLost) && !errors.Is(cause, ErrExpired) {
		return 0
	}
	return max(0, g.lease.grace())
}

// Extend renews the lease now, that of the session for a lock with WithSession.
// After an error other than one of this package the lease may have been renewed.
func (g *Grant) Extend(ctx context.Context) error { return g.lease.extend(ctx) }

// Confirm asks the cluster whether the grant still stands. It finds out what renewal
// would find later: that an operator broke the lock.
func (g *Grant) Confirm(ctx context.Context) error {
	for i, name := range g.claim.names {
		v, err := g.claim.c.Do(ctx, "LOCK.CHECK", name, g.tokens[i])
		if err != nil {
			return err
		}
		if v != int64(1) {
			g.lease.end(ErrLost)
			return ErrLost
		}
	}
	return nil
}

// Unlock ends the Context and releases the lock. When ctx ends before the cluster
// has answered, releasing goes on in the background. ErrLost says that the lock
// was no longer held; what was done since may have met another holder. It releases
// once: later calls return ErrReleased.
func (g *Grant) Unlock(ctx context.Context) error {
	err := ErrReleased
	g.once.Do(func() { err = g.claim.unlock(ctx, g.lease) })
	runtime.KeepAlive(g)
	return err
}

// Do runs f with the Context and unlocks when f returns or panics. The error joins
// f's and what Unlock found: ErrLost means that f may not have been alone.
func (g *Grant) Do(f func(ctx context.Context) error) (err error) {
	defer func() {
		// The parent may have ended; the release has a bound of its own.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), closeMax)
		defer cancel()
		err = errors.Join(err, g.Unlock(ctx))
	}()
	return f(g.ctx)
}
