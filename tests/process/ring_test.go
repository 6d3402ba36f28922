package process_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestNamesOverTwoClusters: beyond one Raft group names are split over clusters by the
// client. go-redis's Ring does it: each name is one lock, whoever asks.
func TestNamesOverTwoClusters(t *testing.T) {
	shards := map[string]string{}
	var nodes []*process.Node
	for i := range 2 {
		n := process.Start(t, 1).Nodes[0]
		nodes = append(nodes, n)
		shards[fmt.Sprint("shard", i)] = n.Client
	}
	ring := func() *redis.Ring {
		// A shard that can't be reached must not be left out: its names would move.
		r := redis.NewRing(&redis.RingOptions{Addrs: shards, MaxRetries: -1, HeartbeatFn: func(context.Context, *redis.Client) bool { return true }})
		t.Cleanup(func() { r.Close() })
		return r
	}
	ctx, a, b := context.Background(), ring(), ring()
	release := redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)
	const names = 200
	for i := range names {
		name := fmt.Sprint("lock:", i)
		if ok, err := a.SetNX(ctx, name, "a", time.Minute).Result(); !ok || err != nil {
			t.Fatalf("%s: %v %v", name, ok, err)
		}
		if ok, err := b.SetNX(ctx, name, "b", time.Minute).Result(); ok || err != nil {
			t.Fatalf("%s is granted twice: %v %v", name, ok, err)
		}
	}
	total := int64(0)
	for _, n := range nodes {
		size := n.Redis().DBSize(ctx).Val()
		if size < names/4 {
			t.Errorf("%d of %d names are on one cluster", size, names)
		}
		total += size
	}
	if total != names {
		t.Errorf("%d names on both clusters, want %d", total, names)
	}
	// The names of a cluster that is away are refused, and not taken from another.
	nodes[1].Kill()
	refused := 0
	for i := range names / 10 {
		ok, err := b.SetNX(ctx, fmt.Sprint("lock:", i), "b", time.Minute).Result()
		if ok {
			t.Fatalf("lock:%d is granted twice while a cluster is away", i)
		}
		if err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no name was refused")
	}
	nodes[1].Start()
	nodes[1].Ready()
	for i := range names {
		// A connection from before the restart breaks when it is used, before anything is executed.
		process.Until(t, fmt.Sprint("lock:", i, " is released"), func() bool {
			n, err := release.Run(ctx, b, []string{fmt.Sprint("lock:", i)}, "a").Int()
			return n == 1 && err == nil
		})
	}
}
