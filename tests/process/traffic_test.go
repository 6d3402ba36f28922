package process_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

const (
	lease   = 5 * time.Second
	release = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
)

// traffic is 64 clients that take, use and release locks, and count what they
// count, on all nodes of a cluster. It notes every breach of what a user was promised.
type traffic struct {
	tb      testing.TB
	cluster *process.Cluster
	names   []*guarded
	stop    chan struct{}
	done    sync.WaitGroup
	grants  atomic.Int64 // acknowledged
	unknown atomic.Int64 // commands answered outcome unknown

	mu       sync.Mutex
	tokens   map[int64]string // every token seen, with its lock
	breaches []string
	expected map[string]bool // nodes whose connections may break just now
}

// guarded is one resource behind one lock. It knows who uses it.
type guarded struct {
	name  string
	user  atomic.Int64
	token atomic.Int64 // the highest that the resource has seen
}

func startTraffic(tb testing.TB, c *process.Cluster, clients int) *traffic {
	t := &traffic{
		tb: tb, cluster: c, stop: make(chan struct{}),
		tokens: map[int64]string{}, expected: map[string]bool{},
	}
	for i := range 16 {
		t.names = append(t.names, &guarded{name: fmt.Sprintf("lock:%d", i)})
	}
	seed := uint64(time.Now().UnixNano())
	tb.Logf("traffic seed %d", seed)
	for i := range clients {
		t.done.Add(1)
		go t.client(int64(i+1), c.Nodes[i%len(c.Nodes)], rand.New(rand.NewPCG(seed, uint64(i))))
	}
	return t
}

// finish ends the clients and reports what went wrong.
func (t *traffic) finish() {
	t.tb.Helper()
	close(t.stop)
	t.done.Wait()
	for i, b := range t.breaches {
		if i == 20 {
			t.tb.Errorf("and %d more", len(t.breaches)-i)
			break
		}
		t.tb.Error(b)
	}
	t.tb.Logf("%d grants, %d answers of unknown outcome", t.grants.Load(), t.unknown.Load())
}

func (t *traffic) breach(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.breaches = append(t.breaches, fmt.Sprintf(format, args...))
}

// mayBreak tells that connections to a node may break from now on, or no more.
func (t *traffic) mayBreak(n *process.Node, may bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expected[n.ID] = may
}

func (t *traffic) client(id int64, n *process.Node, rng *rand.Rand) {
	defer t.done.Done()
	conn := process.NewClient(n.Client)
	defer conn.Close()
	counter := fmt.Sprintf("count:%d", id)
	var sure, unsure int64
	for round := 0; ; round++ {
		select {
		case <-t.stop:
			t.checkCount(counter, sure, unsure)
			return
		default:
		}
		t.useLock(id, n, conn, t.names[rng.IntN(len(t.names))], fmt.Sprintf("%d-%d", id, round))
		err := conn.Incr(context.Background(), counter).Err()
		switch t.outcome(n, err) {
		case executed:
			sure++
		case maybe:
			unsure++
		}
	}
}

// useLock takes a lock, uses what it guards and gives it back.
func (t *traffic) useLock(id int64, n *process.Node, conn *redis.Client, g *guarded, value string) {
	ctx := context.Background()
	sent := time.Now()
	ok, err := conn.SetNX(ctx, g.name, value, lease).Result()
	if t.outcome(n, err) != executed || !ok {
		if t.outcome(n, err) != executed {
			t.giveBack(n, conn, g, value)
		}
		return
	}
	t.grants.Add(1)
	left := lease - 100*time.Millisecond - time.Since(sent)
	if left <= 0 {
		return
	}
	if !g.user.CompareAndSwap(0, id) {
		t.breach("%s was given to client %d while client %d used it", g.name, id, g.user.Load())
		return
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	token, err := conn.Do(ctx, "LOCK.TOKEN", g.name, value).Int64()
	if err == nil {
		t.sawToken(g, token)
	} else if !timedOut(err) && t.outcome(n, err) == executed && ctx.Err() == nil {
		t.breach("%s has no token for its holder: %v", g.name, err)
	}
	g.user.Store(0)
	t.giveBack(n, conn, g, value)
}

// timedOut says whether a command that had a limit of its own met it.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func (t *traffic) giveBack(n *process.Node, conn *redis.Client, g *guarded, value string) {
	_, err := conn.Eval(context.Background(), release, []string{g.name}, value).Result()
	t.outcome(n, err)
}

func (t *traffic) sawToken(g *guarded, token int64) {
	if last := g.token.Swap(token); last >= token {
		t.breach("%s had token %d after token %d", g.name, token, last)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other, seen := t.tokens[token]; seen {
		t.breaches = append(t.breaches, fmt.Sprintf("token %d was given to %s and to %s", token, other, g.name))
	}
	t.tokens[token] = g.name
}

type outcome int

const (
	executed outcome = iota // and the reply is true
	never                   // certainly not executed
	maybe                   // unknown
)

// outcome says what a client may conclude from an error, and notes an error
// that no client should see.
func (t *traffic) outcome(n *process.Node, err error) outcome {
	var reply redis.Error
	switch {
	case err == nil || errors.Is(err, redis.Nil):
		return executed
	case !errors.As(err, &reply):
		t.mu.Lock()
		fine := t.expected[n.ID]
		t.mu.Unlock()
		if !fine {
			t.breach("%s broke a connection: %v", n.ID, err)
		}
		return maybe
	case strings.HasPrefix(reply.Error(), "ERR outcome unknown"):
		t.unknown.Add(1)
		return maybe
	case strings.HasPrefix(reply.Error(), "ERR lease ended"):
		return maybe
	case strings.HasPrefix(reply.Error(), "CLUSTERDOWN"), strings.HasPrefix(reply.Error(), "LOADING"):
		return never
	}
	t.breach("%s answered %q", n.ID, reply.Error())
	return maybe
}

// checkCount compares a counter with what its only client was told.
func (t *traffic) checkCount(counter string, sure, unsure int64) {
	var got int64
	var err error
	for _, n := range t.cluster.Nodes {
		if !n.Running() {
			continue
		}
		if got, err = n.Redis().Get(context.Background(), counter).Int64(); err == nil || errors.Is(err, redis.Nil) {
			if got < sure || got > sure+unsure {
				t.breach("%s is %d after %d acknowledged increments and %d of unknown outcome", counter, got, sure, unsure)
			}
			return
		}
	}
	t.breach("%s can't be read: %v", counter, err)
}
