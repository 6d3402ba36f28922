package client

import (
	"context"
	"errors"
)

// lock is what all kinds of lock have in common: what is asked for, and how. It
// never changes; each acquisition is a claim of its own.
type lock struct {
	c       *Client
	names   []string
	terms   terms
	shared  bool
	all     bool
	counted bool
	permits int
}

func (l *lock) claim() (*claim, error) {
	if err := checkNames(l.names...); err != nil {
		return nil, err
	}
	switch t := l.terms; {
	case l.counted && l.permits < 1:
		return nil, errors.New("client: a semaphore has at least one permit")
	case l.all && (t.session != nil || t.delay != 0 || t.note != ""):
		return nil, errors.New("client: a MultiLock has no session, delay or note")
	}
	k := l.c.newClaim(l.terms, l.names...)
	k.shared, k.permits, k.all = l.shared, l.permits, l.all
	return k, nil
}

// acquire takes the lock for a grant that outlives ctx, of which it keeps the values.
func (l *lock) acquire(ctx context.Context, wait bool) (*Grant, error) {
	return l.acquireFor(ctx, context.WithoutCancel(ctx), wait)
}

func (l *lock) acquireFor(ctx, parent context.Context, wait bool) (*Grant, error) {
	k, err := l.claim()
	if err != nil {
		return nil, err
	}
	return k.acquire(ctx, parent, wait)
}

func (l *lock) do(ctx context.Context, f func(ctx context.Context, g *Grant) error) error {
	g, err := l.acquireFor(ctx, ctx, true)
	if err != nil {
		return err
	}
	return g.Do(func(ctx context.Context) error { return f(ctx, g) })
}
