package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	releaseScript = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	extendScript  = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
)

// client takes, extends and releases locks through one node until the run ends.
// It never retries by itself: it counts what it was told.
type client struct {
	id     int
	redis  *redis.Client
	rng    *rand.Rand
	ledger *ledger
	names  int
}

func (c *client) run(ctx context.Context) {
	for round := 0; ctx.Err() == nil; round++ {
		name := fmt.Sprintf("lock:%d", c.rng.IntN(c.names))
		if c.rng.IntN(4) == 0 {
			c.look(ctx, name)
		} else {
			c.use(ctx, name, fmt.Sprintf("c%d-%d", c.id, round))
		}
		c.rest(ctx, time.Duration(c.rng.IntN(200))*time.Millisecond)
	}
}

func (c *client) rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// look reads a lock that the client doesn't hold.
func (c *client) look(ctx context.Context, name string) {
	sent := time.Now()
	value, err := c.redis.Get(ctx, name).Result()
	if c.answered(err) {
		c.ledger.seen(name, value, sent)
	}
}

func (c *client) use(ctx context.Context, name, value string) {
	ttl := time.Duration(50+c.rng.IntN(4000)) * time.Millisecond
	sent := time.Now()
	ok, err := c.redis.SetNX(ctx, name, value, ttl).Result()
	if !c.answered(err) || !ok {
		return
	}
	b := c.ledger.granted(name, value, sent, ttl)
	if b == nil {
		return
	}
	if token, err := c.redis.Do(ctx, "LOCK.TOKEN", name, value).Int64(); err == nil {
		c.ledger.tokenOf(b, token)
	}
	switch c.rng.IntN(4) {
	case 0: // walks away: the lease ends by itself
	case 1:
		c.rest(ctx, time.Duration(c.rng.Int64N(int64(ttl))))
		c.extend(ctx, b)
	default:
		c.rest(ctx, time.Duration(c.rng.Int64N(int64(ttl)/2)))
		c.release(ctx, b)
	}
}

func (c *client) extend(ctx context.Context, b *belief) {
	ttl := time.Duration(100+c.rng.IntN(3000)) * time.Millisecond
	sent := time.Now()
	// The new lease may be the shorter one, and it may count before the reply is here.
	c.ledger.extended(b, sent, ttl, false)
	n, err := c.redis.Eval(ctx, extendScript, []string{b.name}, b.value, ttl.Milliseconds()).Int64()
	switch {
	case !c.answered(err):
	case n == 1:
		c.ledger.extended(b, sent, ttl, true)
	case time.Now().Before(b.until):
		c.ledger.mu.Lock()
		c.ledger.breach("an extension said at %s that %s is lost, %s may rely on it until %s", stamp(time.Now()), b.name, b.value, stamp(b.until))
		c.ledger.mu.Unlock()
	}
}

func (c *client) release(ctx context.Context, b *belief) {
	c.ledger.ends(b)
	_, err := c.redis.Eval(ctx, releaseScript, []string{b.name}, b.value).Result()
	c.answered(err)
}

// answered says whether a command's reply can be believed.
func (c *client) answered(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) {
		return true
	}
	if strings.HasPrefix(err.Error(), "ERR outcome unknown") {
		c.ledger.unknown()
	}
	return false
}
