package differential

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// leases are ways to get a lease of a few milliseconds.
var leases = [][]string{
	{"set", "lock", "token", "nx", "px", "20"}, {"psetex", "lock", "20", "token"}, {"set", "lock", "token", "px", "35", "get"},
	{"eval", "return redis.call('set',KEYS[1],ARGV[1],'nx','px',ARGV[2])", "1", "lock", "token", "25"},
}

// TestSameAfterExpiry compares what both answer when a lease has run out: each
// is asked again and again until it says so, at most for a while.
func TestSameAfterExpiry(t *testing.T) {
	at, _ := startRedfence(t)
	redis, redfence := startRedis(t).dial(t), at.dial(t)
	after := [][]string{
		{"exec"}, {"exists", "lock"}, {"pttl", "lock"}, {"ttl", "lock"}, {"pexpire", "lock", "1000"}, {"persist", "lock"}, {"type", "lock"},
		{"eval", "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end", "1", "lock", "token", "1000"},
		{"eval", "return type(redis.call('get',KEYS[1]))", "1", "lock"}, {"dbsize"}, {"keys", "*"}, {"randomkey"}, {"del", "lock"}, {"getdel", "lock"},
		{"set", "lock", "token", "xx"}, {"append", "lock", "x"}, {"pttl", "lock"}, {"set", "lock", "other", "nx", "px", "100000"}, {"get", "lock"},
	}
	for n, lease := range leases {
		var all [2][]string
		for i, c := range []*conn{redis, redfence} {
			for _, args := range [][]string{{"flushall"}, lease, {"watch", "lock"}, {"get", "lock"}} {
				all[i] = append(all[i], one(t, c, args))
			}
			c.waitGone(t, "lock")
			all[i] = append(all[i], one(t, c, []string{"multi"}), one(t, c, []string{"del", "lock"}))
			for _, args := range after {
				all[i] = append(all[i], one(t, c, args))
			}
		}
		// A slow machine may have seen the lease end before it was read: then the
		// first GET of both is not compared.
		all[0][3], all[1][3] = "", ""
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("lease %d: %q\nredis:    %q\nredfence: %q", n, lease, all[0], all[1])
		}
	}
}

func one(t *testing.T, c *conn, args []string) string {
	t.Helper()
	answers, err := c.pipeline([][]string{args})
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return fmt.Sprintf("%s: %s", args[0], answers[0].raw)
}

// waitGone polls until a key is gone.
func (c *conn) waitGone(t *testing.T, key string) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-tick.C {
		if one(t, c, []string{"get", key}) == "get: $-1\r\n" {
			return
		}
	}
	t.Fatalf("%s is still there", key)
}
