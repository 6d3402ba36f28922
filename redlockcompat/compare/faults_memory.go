package compare

import (
	"context"
	"errors"
	"time"
)

// Faults by which a master may forget a lock, and the holder who comes late.

func restartFault(crash bool) func(context.Context, *scene) error {
	return func(ctx context.Context, sc *scene) error {
		a, b, done := sc.two()
		defer done()
		held, err := sc.holdBy(ctx, a, true)
		if err != nil {
			return err
		}
		if crash {
			m := sc.masters[0]
			m.kill()
			if err := m.restart(ctx); err != nil {
				return err
			}
		}
		return sc.rival(ctx, b, held)
	}
}

func jumpFault(masters int) func(context.Context, *scene) error {
	return func(ctx context.Context, sc *scene) error {
		if sc.masters[0].jump == nil {
			return cannot("libfaketime isn't installed, which sets a redis-server's clock")
		}
		a, b, done := sc.two()
		defer done()
		held, err := sc.holdBy(ctx, a, masters == 1)
		if err != nil {
			return err
		}
		var errs []error
		for _, m := range sc.masters[:masters] {
			errs = append(errs, m.jump(jump))
			defer func() { _ = m.jump(0) }()
		}
		return errors.Join(errors.Join(errs...), sc.rival(ctx, b, held))
	}
}

func stallFault(ctx context.Context, sc *scene) error {
	a, b, done := sc.two()
	defer done()
	held, err := sc.holdBy(ctx, a, false)
	if err != nil {
		return err
	}
	old, err := sc.token(ctx, a, sc.name, held.Value())
	if err != nil {
		return err
	}
	next := b.mutex(sc.name, sc.lease)
	err = until(ctx, 3*sc.lease, "the next gets the lock", func() bool { return next.TryLockContext(ctx) == nil })
	if err != nil {
		return err
	}
	sc.resource.enter(next.Until())
	token, err := sc.token(ctx, b, sc.name, next.Value())
	if err != nil {
		return err
	}
	sc.resource.write(token, false)
	sc.resource.write(old, time.Now().After(held.Until()))
	return nil
}
