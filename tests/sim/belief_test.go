package sim

import (
	"fmt"
	"sync"
	"time"
)

// belief is a stretch of time in which a client may act as a lock's holder: from
// the reply to its acquire until what its lease can be relied on for, counted
// from sending, or until it sends its release.
type belief struct {
	name, value string
	from, until time.Time
	token       int64
}

// ledger holds what the clients were told, and finds what must not be.
type ledger struct {
	mu       sync.Mutex
	held     map[string][]*belief // by lock
	breaches []string
	grants   int
	unsure   int // commands of unknown outcome
}

func newLedger() *ledger { return &ledger{held: map[string][]*belief{}} }

// rely is how much of a lease may be relied on: promise 2, with clock rates
// within 0.1 %.
func rely(ttl time.Duration) time.Duration { return ttl - ttl/1000 - time.Microsecond }

func (l *ledger) breach(format string, args ...any) {
	l.breaches = append(l.breaches, fmt.Sprintf(format, args...))
}

// granted notes a grant that was asked for at sent and answered now. It returns
// nil if the lease had already run out by the client's own count.
func (l *ledger) granted(name, value string, sent time.Time, ttl time.Duration) *belief {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grants++
	b := &belief{name: name, value: value, from: time.Now(), until: sent.Add(rely(ttl))}
	if !b.from.Before(b.until) {
		return nil
	}
	for _, other := range l.held[name] {
		if b.from.Before(other.until) && other.from.Before(b.until) {
			l.breach("%s was granted to %s at %s, while %s may rely on it until %s",
				name, value, stamp(b.from), other.value, stamp(other.until))
		}
	}
	l.held[name] = append(l.held[name], b)
	return b
}

// extended notes that a lease was set to ttl by a command sent at sent. If the
// outcome is unknown the holder relies on the shorter of both.
func (l *ledger) extended(b *belief, sent time.Time, ttl time.Duration, sure bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := sent.Add(rely(ttl))
	if sure || until.Before(b.until) {
		b.until = until
	}
}

// ends notes that the holder sends its release now.
func (l *ledger) ends(b *belief) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Before(b.until) {
		b.until = now
	}
}

// seen notes what a reader was told of a lock: its value, or "" for none.
func (l *ledger) seen(name, value string, sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, b := range l.held[name] {
		if b.value != value && !b.from.After(sent) && now.Before(b.until) {
			l.breach("%s was read as %q between %s and %s, while %s may rely on it until %s",
				name, value, stamp(sent), stamp(now), b.value, stamp(b.until))
		}
	}
}

// tokenOf notes the fencing token that a holder was told.
func (l *ledger) tokenOf(b *belief, token int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.token = token
	for name, held := range l.held {
		for _, other := range held {
			if other == b || other.token == 0 {
				continue
			}
			if other.token == token || name == b.name && other.from.Before(b.from) && other.token > token {
				l.breach("%s has the token %d for %s, after the token %d for %s of %s", b.name, token, b.value, other.token, other.value, name)
			}
		}
	}
}

func (l *ledger) unknown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsure++
}

func stamp(t time.Time) string { return t.Format("05.000000") }
