package client

import (
	"context"
	"runtime"
	"sync"
)

// Session is one lease over many locks, renewed by one command. When it ends, all
// its locks end at once.
type Session struct {
	c     *Client
	id    int64
	terms terms
	lease *lease
	ctx   *leaseContext
	once  sync.Once
}

// OpenSession opens one. WithTTL, WithMargin, WithState, WithAtMost, WithNote (its
// name) and WithoutRenewal are for it. A session of which the first reply was lost
// has no locks, and runs out.
func (c *Client) OpenSession(ctx context.Context, options ...Option) (*Session, error) {
	t := newTerms(options)
	t.session = nil
	if err := t.settle(); err != nil {
		return nil, err
	}
	args := []any{"SESSION.OPEN", millis(t.ttl)}
	if t.note != "" {
		args = append(args, "NAME", t.note)
	}
	bound, cancel := c.untilClosed(ctx)
	defer cancel()
	a := c.ask(bound, t.try(), command(args...))
	if a.err != nil {
		return nil, a.err
	}
	id, ok := a.value.(int64)
	if !ok {
		return nil, errReply
	}
	s := &Session{c: c, id: id, terms: t}
	s.lease = c.newLease(context.WithoutCancel(ctx), t, a.sent, command("SESSION.KEEPALIVE", id))
	s.ctx = &leaseContext{Context: s.lease.inner, lease: s.lease, of: s}
	runtime.AddCleanup(s, func(l *lease) { l.end(errForgotten) }, s.lease)
	return s, nil
}

// ID is how SESSION.LIST shows it.
func (s *Session) ID() int64 { return s.id }

// Context ends before the cluster can give away a lock of the session.
func (s *Session) Context() context.Context { return s.ctx }

// State is how its lease stands.
func (s *Session) State() State { return s.lease.now() }

// Extend renews the session now.
func (s *Session) Extend(ctx context.Context) error { return s.lease.extend(ctx) }

// Close ends the session: its locks are released all at once, and their Contexts
// end first. ErrLost says that it had ended before. When ctx ends before the
// cluster has answered, closing goes on in the background.
func (s *Session) Close(ctx context.Context) error {
	err := ErrClosed
	s.once.Do(func() {
		s.lease.end(ErrReleased)
		<-s.lease.kept
		if !s.c.enter() {
			return
		}
		defer s.c.exit()
		shut := command("SESSION.CLOSE", s.id)
		a := s.c.ask(ctx, s.terms.try(), shut)
		switch {
		case a.err != nil:
			s.c.background(func(ctx context.Context) { s.c.ask(ctx, s.terms.try(), shut) })
			err = a.err
		case a.value != int64(1) && !a.stray:
			err = ErrLost
		default:
			err = nil
		}
	})
	return err
}
