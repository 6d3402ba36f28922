package client

import (
	"context"
	"errors"
	"sync"
	"time"
)

// State is how well a lease stands, as a holder knows it.
type State int

const (
	// Safe: the cluster has renewed the lease lately.
	Safe State = iota
	// Jeopardy: half of the lease has passed and the cluster could not be reached. The
	// lock is still held; long work should not be begun.
	Jeopardy
	// Lost: the lease has ended, or may end any moment. Work must stop.
	Lost
)

func (s State) String() string { return [...]string{"safe", "in jeopardy", "lost"}[s] }

// lease is what its holder knows of one lease: until when it can't be given away.
// It only ever believes less than the cluster.
type lease struct {
	c     *Client
	ttl   time.Duration
	terms terms
	renew call // answers 1, or 0 when there is nothing to renew

	// inner ends with the lease; its cause says why.
	inner context.Context
	stop  context.CancelCauseFunc
	over  *lease // the session's, whose fate this one shares; nil for a lease of its own
	most  time.Duration
	kept  chan struct{} // closed when nothing renews any more

	mu      sync.Mutex
	sent    time.Duration // when the last renewal was sent that succeeded
	state   State
	untold  []State // changes that onState has not been told of
	telling bool
}

// newLease starts a lease that was granted to a request sent at the given time.
func (c *Client) newLease(parent context.Context, t terms, sent time.Duration, renew call) *lease {
	l := &lease{c: c, ttl: t.ttl, terms: t, renew: renew, sent: sent, kept: make(chan struct{}), most: -1}
	if t.session != nil {
		l.over = t.session.lease
	}
	if t.atMost > 0 {
		l.most = c.now() + t.atMost
	}
	l.inner, l.stop = context.WithCancelCause(parent)
	l.follow(c.life)
	if l.over != nil {
		l.follow(l.over.inner)
	}
	go l.keep()
	return l
}

// follow ends the lease with another context, and lets go of that when the lease
// has ended by itself.
func (l *lease) follow(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { l.end(context.Cause(ctx)) })
	context.AfterFunc(l.inner, func() { stop() })
}

// until is when the holder must have stopped. The caller holds mu.
func (l *lease) until() time.Duration {
	end := l.sent + l.ttl - l.ttl*clockRate/1000 - l.terms.margin
	if l.most >= 0 {
		end = min(end, l.most)
	}
	return end
}

// grace is how much of the lease remains, the holder's margin included.
func (l *lease) grace() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent + l.ttl - l.ttl*clockRate/1000 - l.c.now()
}

// left is for how long the lease surely runs on; 0 or less when it has ended.
func (l *lease) left() time.Duration {
	if l.inner.Err() != nil {
		return 0
	}
	if l.over != nil {
		return l.atMost(l.over.left())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until() - l.c.now()
}

// atMost is d, or what is left until the holder's own bound.
func (l *lease) atMost(d time.Duration) time.Duration {
	if l.most >= 0 {
		d = min(d, l.most-l.c.now())
	}
	return d
}

// check ends the lease if its time has passed. Whoever looks at the Context comes
// by here, so a process that stood still sees the end before anything else.
func (l *lease) check() bool {
	if l.over != nil {
		l.over.check()
	}
	if l.inner.Err() == nil && l.left() > 0 {
		return true
	}
	switch {
	case l.over != nil && l.over.inner.Err() != nil:
		l.end(context.Cause(l.over.inner))
	case l.most >= 0 && l.c.now() >= l.most:
		l.end(ErrTooLong)
	default:
		l.end(ErrExpired)
	}
	return false
}

// end ends the lease for its holder. The first cause counts.
func (l *lease) end(cause error) {
	l.stop(cause)
	l.become(Lost)
}

func (l *lease) become(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == s || l.state == Lost {
		return
	}
	l.state = s
	if s == Lost && errors.Is(context.Cause(l.inner), ErrReleased) || l.terms.onState == nil {
		return
	}
	l.untold = append(l.untold, s)
	if !l.telling {
		l.telling = true
		go l.tell()
	}
}

// tell calls onState for what it has not been told of.
func (l *lease) tell() {
	for {
		l.mu.Lock()
		if len(l.untold) == 0 {
			l.telling = false
			l.mu.Unlock()
			return
		}
		s := l.untold[0]
		l.untold = l.untold[1:]
		l.mu.Unlock()
		l.terms.onState(s)
	}
}

func (l *lease) now() State {
	l.check()
	if l.over != nil && l.inner.Err() == nil {
		return l.over.now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// keep renews the lease until it ends, and ends it when its time has passed.
func (l *lease) keep() {
	defer close(l.kept)
	var renewed chan answer // of the renewal that is on its way
	retry := time.Duration(0)
	for l.check() {
		pause := time.NewTimer(l.nextLook(renewed != nil, retry))
		select {
		case <-l.inner.Done():
		case a := <-renewed:
			renewed = nil
			if l.took(a) != nil {
				// The server refused: asking at once would change nothing.
				retry = l.c.now() + l.terms.try()
			}
		case <-pause.C:
		}
		pause.Stop()
		if l.over != nil || l.inner.Err() != nil {
			continue
		}
		if renewed == nil && !l.terms.still && l.due(renewPart) && l.c.now() >= retry {
			renewed = make(chan answer, 1)
			go func() { renewed <- l.c.ask(l.inner, l.terms.try(), l.renew) }()
		}
		if l.due(jeopardyPart) {
			l.become(Jeopardy)
		}
	}
}

// due says whether one of so many parts of the lease has passed.
func (l *lease) due(parts time.Duration) bool { return l.dueIn(parts) <= 0 }

func (l *lease) dueIn(parts time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent + l.ttl/parts - l.c.now()
}

// nextLook is for how long there is nothing to do.
func (l *lease) nextLook(renewing bool, retry time.Duration) time.Duration {
	d := l.left()
	if l.over != nil {
		return max(d, 0)
	}
	if !renewing && !l.terms.still {
		d = min(d, max(l.dueIn(renewPart), retry-l.c.now()))
	}
	if in := l.dueIn(jeopardyPart); in > 0 {
		d = min(d, in)
	}
	return max(d, 0)
}

// took takes over what a renewal came to.
func (l *lease) took(a answer) error {
	switch {
	case a.err != nil:
		return a.err
	case a.value != int64(1):
		l.end(ErrLost)
		return ErrLost
	}
	if !l.check() {
		// The answer came too late: whoever works under this lease may have seen its end.
		return context.Cause(l.inner)
	}
	l.mu.Lock()
	l.sent = max(l.sent, a.sent)
	l.mu.Unlock()
	if !l.due(jeopardyPart) {
		l.become(Safe)
	}
	return nil
}

// extend renews the lease now.
func (l *lease) extend(ctx context.Context) error {
	if l.over != nil {
		return l.over.extend(ctx)
	}
	if !l.check() {
		return context.Cause(l.inner)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.inner, func() { cancel(context.Cause(l.inner)) })()
	return l.took(l.c.ask(ctx, l.terms.try(), l.renew))
}

// leaseContext looks at the clock whenever it is asked, and not only when a timer
// has fired: a process that stood still would run on for a moment.
type leaseContext struct {
	context.Context
	lease *lease
	of    any // the Grant or Session: it isn't forgotten while its Context is in use
}

// Err is nil while the lease runs.
func (c *leaseContext) Err() error {
	c.lease.check()
	return c.Context.Err()
}

// Done is closed when the lease has ended.
func (c *leaseContext) Done() <-chan struct{} {
	c.lease.check()
	return c.Context.Done()
}
