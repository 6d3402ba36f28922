package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// claim is one owner's asking for one name, or for several at once, until it has
// been granted and released, or given up. Whatever is asked again has the same
// owner, so the cluster takes it for the same.
type claim struct {
	c       *Client
	terms   terms
	names   []string
	owner   string
	all     bool // by LOCK.ACQUIREALL
	shared  bool
	permits int
	// strays says that a request for the lock got no answer: it may be executed late,
	// after a release.
	strays bool
}

func (c *Client) newClaim(t terms, names ...string) *claim {
	return &claim{c: c, terms: t, names: names, owner: rand.Text()}
}

// millis is a time as the commands want it.
func millis(d time.Duration) int64 { return int64(d / time.Millisecond) }

// args is the command that asks for the lock.
func (k *claim) args(wait time.Duration) []any {
	var args []any
	if k.all {
		args = []any{"LOCK.ACQUIREALL", k.owner, millis(k.terms.ttl), len(k.names)}
		for _, n := range k.names {
			args = append(args, n)
		}
		return k.waiting(args, wait)
	}
	ttl := millis(k.terms.ttl)
	if k.terms.session != nil {
		ttl = 0
	}
	args = k.waiting([]any{"LOCK.ACQUIRE", k.names[0], k.owner, ttl}, wait)
	switch {
	case k.shared:
		args = append(args, "SHARED")
	case k.permits > 0:
		args = append(args, "PERMITS", k.permits)
	}
	if k.terms.session != nil {
		args = append(args, "SESSION", k.terms.session.id)
	}
	if k.terms.delay > 0 {
		args = append(args, "DELAY", millis(k.terms.delay))
	}
	if k.terms.note != "" {
		args = append(args, "NOTE", k.terms.note)
	}
	return args
}

func (k *claim) waiting(args []any, wait time.Duration) []any {
	if wait > 0 {
		args = append(args, "WAIT", millis(wait))
	}
	return args
}

// acquire asks until the lock is granted. Without wait it returns ErrHeld when
// others hold it. The grant's Context is a child of parent.
func (k *claim) acquire(ctx, parent context.Context, wait bool) (*Grant, error) {
	if err := k.terms.settle(); err != nil {
		return nil, err
	}
	if !k.c.enter() {
		return nil, ErrClosed
	}
	defer k.c.exit()
	ctx, cancel := k.c.untilClosed(ctx)
	defer cancel()
	if s := k.terms.session; s != nil {
		defer context.AfterFunc(s.lease.inner, cancel)()
	}
	for {
		a := k.ask(ctx, wait)
		k.strays = k.strays || a.stray
		tokens, err := k.granted(a)
		switch {
		case err != nil, tokens == nil && !wait:
			k.abandon(wait)
			if err == nil {
				err = ErrHeld
			}
			return nil, k.why(err)
		case tokens == nil:
			continue
		}
		if sent, held := k.settled(ctx, a.sent); held {
			l := k.c.newLease(parent, k.terms, sent, k.renewal())
			return newGrant(k, l, tokens), nil
		}
	}
}

// why prefers the end of the session as the reason.
func (k *claim) why(err error) error {
	if s := k.terms.session; s != nil && s.lease.inner.Err() != nil {
		return fmt.Errorf("client: the session has ended: %w", context.Cause(s.lease.inner))
	}
	return err
}

// settled makes sure, after a wait, that there is a lease to count from: it began
// some time after the request was sent, and is counted from there. It says false
// if the lock was lost meanwhile.
func (k *claim) settled(ctx context.Context, sent time.Duration) (time.Duration, bool) {
	if k.terms.session != nil || k.c.now()-sent < k.terms.ttl/renewPart {
		return sent, true
	}
	a := k.c.ask(ctx, k.terms.try(), k.renewal())
	return a.sent, a.err == nil && a.value == int64(1)
}

// ask sends the request once, through as many nodes as it takes.
func (k *claim) ask(ctx context.Context, wait bool) answer {
	if !wait {
		return k.c.ask(ctx, k.terms.try(), command(k.args(0)...))
	}
	return k.c.askThrough(ctx, func(n *node) (any, error) {
		most := waitMax
		if end, ok := ctx.Deadline(); ok {
			most = min(most, max(time.Until(end), time.Millisecond))
		}
		return n.wait(ctx, most, command(k.args(most)...))
	})
}

var errReply = errors.New("client: the server's answer has an unknown form")

// granted reads the tokens of a grant: nil without one.
func (k *claim) granted(a answer) ([]int64, error) {
	if a.err != nil || a.value == nil {
		return nil, a.err
	}
	list, _ := a.value.([]any)
	if len(list) != 2 {
		return nil, errReply
	}
	words := list[:1]
	if k.all {
		words, _ = list[0].([]any)
	}
	tokens := make([]int64, 0, len(words))
	for _, w := range words {
		t, ok := w.(int64)
		if !ok {
			return nil, errReply
		}
		tokens = append(tokens, t)
	}
	if len(tokens) != len(k.names) {
		return nil, errReply
	}
	return tokens, nil
}

// renewal renews all names or none: 1 if all are held.
func (k *claim) renewal() call { return k.extension(k.terms.ttl) }

// extension makes the lease end after ttl from now.
func (k *claim) extension(ttl time.Duration) call {
	if len(k.names) == 1 {
		return command("LOCK.EXTEND", k.names[0], k.owner, millis(ttl))
	}
	return k.each(func(name string) []any { return []any{"LOCK.EXTEND", name, k.owner, millis(ttl)} })
}

// release lets all names go: 1 if all were held.
func (k *claim) release() call {
	if len(k.names) == 1 {
		return command("LOCK.RELEASE", k.names[0], k.owner)
	}
	return k.each(func(name string) []any { return []any{"LOCK.RELEASE", name, k.owner} })
}

// each runs a command for every name in one MULTI, and answers the lowest answer.
func (k *claim) each(args func(name string) []any) call {
	return func(ctx context.Context, r *redis.Client) (any, error) {
		cmds, err := r.TxPipelined(ctx, func(p redis.Pipeliner) error {
			for _, n := range k.names {
				p.Do(ctx, args(n)...)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		least := int64(1)
		for _, cmd := range cmds {
			n, err := cmd.(*redis.Cmd).Int64()
			if err != nil {
				return nil, err
			}
			least = min(least, n)
		}
		return least, nil
	}
}

// unlock ends the lease and releases what it was for.
func (k *claim) unlock(ctx context.Context, l *lease) error {
	l.check()
	l.end(ErrReleased)
	<-l.kept
	if !k.c.enter() {
		return ErrClosed
	}
	defer k.c.exit()
	released := k.c.ask(ctx, k.terms.try(), k.release())
	if k.strays = k.strays || released.err != nil; k.strays {
		k.cleanUp()
	}
	switch {
	case released.err != nil:
		return released.err
	case released.value != int64(1):
		return ErrLost
	}
	return nil
}

// abandon makes sure that what is not wanted any more is not held: the caller has
// stopped asking, but the last request may have been granted.
func (k *claim) abandon(waited bool) {
	if waited {
		k.cleanUp(func(name string) []any { return []any{"LOCK.CANCEL", name, k.owner} })
	} else if k.strays {
		k.cleanUp()
	}
}

// cleanUp releases in the background: now, and again while a request of which the
// answer was lost may still come to be executed.
func (k *claim) cleanUp(before ...func(name string) []any) {
	k.c.background(func(ctx context.Context) {
		began := k.c.now()
		for {
			for _, first := range before {
				for _, name := range k.names {
					// A node that knows no queues has nothing to cancel.
					k.c.ask(ctx, k.terms.try(), command(first(name)...))
				}
			}
			k.c.ask(ctx, k.terms.try(), k.release())
			if !k.strays || k.c.now()-began >= min(strayMax, k.terms.ttl) || ctx.Err() != nil || k.c.life.Err() != nil {
				return
			}
			rest(k.c.life, strayEvery)
		}
	})
}

// checkNames refuses names that no lock can have.
func checkNames(names ...string) error {
	if len(names) == 0 {
		return errors.New("client: no name was given")
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return fmt.Errorf("client: the name %q is given twice", strings.ToValidUTF8(n, "?"))
		}
		seen[n] = true
	}
	return nil
}
