package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
)

// Keys are the native locks that NativeClient takes.
var Keys = []string{"door", "gate", "pool"}

// leaseMillis is a lease that no run outlives.
const leaseMillis = 3_600_000

// NativeClient takes native locks and lets them go until ctx ends, with pauses of up
// to rest, and records it. What it was not told it asks again, with the same owner.
// Now and then it tries to release a lock as somebody who doesn't hold it.
func NativeClient(ctx context.Context, id int, conn *redis.Client, rng *rand.Rand, rest time.Duration, h *History) {
	c := nativeClient{ctx, id, conn, rng, rest, h}
	for round := 0; ctx.Err() == nil; round++ {
		key, owner := Keys[rng.IntN(len(Keys))], fmt.Sprintf("c%d-%d", id, round)
		if rng.IntN(6) == 0 {
			c.ask(Request{key, "release", owner}, "LOCK.RELEASE", key, owner)
			continue
		}
		in, args := Request{key, "acquire", owner}, []any{"LOCK.ACQUIRE", key, owner, leaseMillis}
		if key == "pool" {
			args = append(args, "PERMITS", 2)
		}
		if rng.IntN(2) == 0 {
			in.Op, args = "wait", append(args, "WAIT", 500)
		}
		if out := c.ask(in, args...); out.Text != "" && !out.Unknown {
			c.pause()
			c.ask(Request{key, "release", owner}, "LOCK.RELEASE", key, owner)
		}
		c.pause()
	}
}

type nativeClient struct {
	ctx  context.Context
	id   int
	conn *redis.Client
	rng  *rand.Rand
	rest time.Duration
	h    *History
}

func (c *nativeClient) pause() {
	select {
	case <-time.After(time.Duration(c.rng.Int64N(int64(c.rest)))):
	case <-c.ctx.Done():
	}
}

func (c *nativeClient) ask(in Request, args ...any) Answer {
	for {
		out := c.h.Do(c.id, in, func() (string, error) {
			v, err := c.conn.Do(c.ctx, args...).Result()
			if list, ok := v.([]any); ok && err == nil {
				v = list[0]
			}
			if v == nil {
				return "", err
			}
			return fmt.Sprint(v), err
		})
		if !out.Unknown || c.ctx.Err() != nil {
			return out
		}
		c.pause()
	}
}
