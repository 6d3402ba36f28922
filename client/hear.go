package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// hear calls told whenever the name's holder may have changed, until ctx ends: for
// each of its events, and each time that a node begins to tell them or fails to,
// since what happens meanwhile is not known.
func (c *Client) hear(ctx context.Context, name string, told func()) {
	for pause := pauseFirst; ctx.Err() == nil; pause = min(2*pause, pauseLast) {
		n, at := c.node()
		n.hear(ctx, name, func() { pause = pauseFirst; told() })
		if ctx.Err() == nil {
			told()
			c.leave(at)
			rest(ctx, pause/2+rand.N(pause))
		}
	}
}

// hear listens to one node until it fails or ctx ends.
func (n *node) hear(ctx context.Context, name string, told func()) {
	down, stop := n.watch()
	defer stop()
	sub := n.redis.Subscribe(ctx)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-down:
		case <-ctx.Done():
		case <-over:
		}
		sub.Close()
	}()
	first, cancel := context.WithTimeout(ctx, tryMax)
	// A flush of the database, which names no lock, is told to this pattern, too.
	err := sub.PSubscribe(first, fmt.Sprintf("__lock@%d__:%s", n.c.opt.DB, literally(name)))
	cancel()
	for err == nil {
		if _, err = sub.Receive(ctx); err == nil {
			told()
		}
	}
}

// literally is the pattern that name alone matches.
func literally(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
