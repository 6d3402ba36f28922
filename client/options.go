package client

import (
	"fmt"
	"time"
)

// Option says more about a lock, session, election or job.
type Option func(*terms)

// terms are how something is asked for and kept.
type terms struct {
	ttl     time.Duration
	margin  time.Duration // 0 for the usual part of ttl
	atMost  time.Duration // 0 for no bound
	atLeast time.Duration // of Once alone
	delay   time.Duration
	note    string
	session *Session
	onState func(State)
	still   bool // not renewed in the background
}

// WithTTL sets the lease: for how long the cluster keeps the lock for a holder
// that it doesn't hear from. DefaultTTL without it.
func WithTTL(d time.Duration) Option { return func(t *terms) { t.ttl = d } }

// WithMargin sets how long before the lease's end the Context ends: what the work
// needs to stop. A twentieth of the lease, at most a second, without it.
func WithMargin(d time.Duration) Option { return func(t *terms) { t.margin = d } }

// WithAtMost bounds how long a grant is held and renewed: its Context ends then,
// with ErrTooLong. It is for work that could hang.
func WithAtMost(d time.Duration) Option { return func(t *terms) { t.atMost = d } }

// WithAtLeast keeps a job's name held for so long after its start, also when it is
// done sooner or its process dies: machines whose clocks differ run it once. It
// is for Once.
func WithAtLeast(d time.Duration) Option { return func(t *terms) { t.atLeast = d } }

// WithDelay keeps everybody out for so long after a lease that ended without
// Unlock: time for writes of its holder that are still on their way.
func WithDelay(d time.Duration) Option { return func(t *terms) { t.delay = d } }

// WithNote leaves a word for people, shown by LOCK.INFO and LOCK.LIST: at most
// NoteMax bytes.
func WithNote(text string) Option { return func(t *terms) { t.note = text } }

// WithSession makes the lock live as long as the session, and be renewed with it.
// It excludes WithTTL, WithMargin and WithoutRenewal; the session has these.
func WithSession(s *Session) Option { return func(t *terms) { t.session = s } }

// WithState has f called with each change of state, one call at a time, in order.
// A slow f delays later calls and nothing else.
func WithState(f func(State)) Option { return func(t *terms) { t.onState = f } }

// WithoutRenewal leaves renewal to Grant.Extend.
func WithoutRenewal() Option { return func(t *terms) { t.still = true } }

func newTerms(options []Option) terms {
	var t terms
	for _, o := range options {
		o(&t)
	}
	return t
}

// settle fills in what wasn't said and refuses what makes no sense.
func (t *terms) settle() error {
	if t.session != nil {
		if t.ttl != 0 || t.margin != 0 || t.still {
			return fmt.Errorf("client: the lease of a lock with WithSession is the session's")
		}
		t.ttl = t.session.lease.ttl
		return nil
	}
	if t.ttl == 0 {
		t.ttl = DefaultTTL
	}
	if t.margin == 0 {
		t.margin = min(max(t.ttl/marginPart, marginMin), marginMax)
	}
	switch {
	case t.ttl < MinTTL:
		return fmt.Errorf("client: a lease of %v is shorter than %v", t.ttl, MinTTL)
	case t.ttl%time.Millisecond != 0:
		return fmt.Errorf("client: a lease of %v is no whole number of milliseconds", t.ttl)
	case t.margin < 0 || t.margin > t.ttl/2:
		return fmt.Errorf("client: a margin of %v is more than half of the lease of %v", t.margin, t.ttl)
	case t.delay < 0 || t.atMost < 0 || t.atLeast < 0:
		return fmt.Errorf("client: a time is negative")
	case len(t.note) > NoteMax:
		return fmt.Errorf("client: a note of %d bytes is longer than %d", len(t.note), NoteMax)
	}
	return nil
}

// try is how long one node may take to answer.
func (t *terms) try() time.Duration { return min(max(t.ttl/tryPart, tryMin), tryMax) }
