package client

import (
	"context"
	"iter"
)

// Election is a name whose holder leads.
type Election struct{ lock }

// Election is the one of that name.
func (c *Client) Election(name string, options ...Option) *Election {
	return &Election{lock{c: c, names: []string{name}, terms: newTerms(options)}}
}

// Leadership is held by who was elected. Its Context ends before another can lead;
// its Token is higher than that of every leader before.
type Leadership struct{ *Grant }

// Resign lets the next candidate lead; as Unlock.
func (l *Leadership) Resign(ctx context.Context) error { return l.Unlock(ctx) }

// Campaign waits until this candidate leads or ctx ends. Others see its value, at
// most NoteMax bytes: an address, a host's name.
func (e *Election) Campaign(ctx context.Context, value string) (*Leadership, error) {
	candidate := e.lock
	candidate.terms.note = value
	g, err := candidate.acquire(ctx, true)
	if err != nil {
		return nil, err
	}
	return &Leadership{g}, nil
}

// Leader is who leads, as others see it. The zero Leader stands for nobody.
type Leader struct {
	Value string // that it campaigned with
	Token int64
}

// Leader asks the cluster who leads now.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	v, err := e.c.Do(ctx, "LOCK.INFO", e.names[0])
	if err != nil || v == nil {
		return Leader{}, err
	}
	info, ok := v.(map[any]any)
	if !ok {
		return Leader{}, errReply
	}
	token, ok := info["token"].(int64)
	if !ok {
		// An offer that its candidate has not taken: nobody leads yet.
		return Leader{}, nil
	}
	value, _ := info["note"].(string)
	return Leader{Value: value, Token: token}, nil
}

// Observe yields the leader now and after each change, the zero Leader when nobody
// leads, until ctx, the Client or the loop ends. It hears of changes from the node that
// tells them (LOCK.WATCH's channel), then asks who leads: a leadership that has passed
// by then is not yielded. A cluster that can't be reached changes nothing. The error
// is the server's refusal: the loop may go on, and it asks again within a second.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		ctx, cancel := e.c.untilClosed(ctx)
		defer cancel()
		changed := make(chan struct{}, 1)
		look := func() {
			select {
			case changed <- struct{}{}:
			default: // whoever looks next sees this change, too
			}
		}
		go e.c.hear(ctx, e.names[0], look)
		var last Leader
		for first := true; ; {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
			now, err := e.Leader(ctx)
			if ctx.Err() != nil || (err != nil || first || now != last) && !yield(now, err) {
				return
			}
			if err != nil {
				rest(ctx, pauseLast)
				look()
				continue
			}
			last, first = now, false
		}
	}
}
