package fsm

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// TestReadsRunTogether: reads run beside one another on one machine, as the
// leader does it; the race detector sees what they share.
func TestReadsRunTogether(t *testing.T) {
	m := newMachine(t, 3)
	for i := range 300 {
		m.one([]string{"set", "k" + strings.Repeat("x", i), "v", "px", "10000"})
	}
	m.one([]string{"script", "load", benchRelease})
	m.pass(5 * time.Second)
	reads := []string{
		"get k", "mget k kx nosuch", "exists k", "pttl k", "pexpiretime k", "keys k*x", "dbsize", "lock.info k", "lock.check k 1",
		"object encoding k", "memory usage k", "script exists zz", "time", "type k", "strlen k", "getrange k 0 -1", "_watch k nosuch",
	}
	reads = append(reads, "scan kx match *x count 20")
	var wg sync.WaitGroup
	for _, space := range []uint8{0, 1, 2} {
		for _, words := range reads {
			wg.Go(func() {
				for range 20 {
					a := m.state.Read(&Command{Space: space, Args: strings.Fields(words)}, &Client{}, At{Now: m.now, Wall: m.now})
					if a.Value.IsError() {
						t.Errorf("%s: %s", words, a.Value.Str)
					}
				}
			})
		}
	}
	wg.Wait()
	if got := m.state.Read(&Command{Args: []string{"pttl", "k"}}, &Client{}, At{Now: m.now}); got.Value.Int != 5000 {
		t.Errorf("a lease of 10 s has %d ms left after 5 s without an entry", got.Value.Int)
	}
}

// TestReadSeesTheMachinesTime: P5. What the clock of the leader says is due but
// no entry has ended yet is still there: a read that saw it gone could see it back.
func TestReadSeesTheMachinesTime(t *testing.T) {
	m := newMachine(t, 0)
	m.do("set k v px 100")
	m.pass(time.Second)
	read := func() string {
		return spelled(m.state.Read(&Command{Args: []string{"get", "k"}}, &Client{}, At{Now: m.now}).Value)
	}
	if got := read(); got != `"v"` {
		t.Errorf("before an entry: %s", got)
	}
	if got := m.state.Read(&Command{Args: []string{"pttl", "k"}}, &Client{}, At{Now: m.now}); got.Value.Int != 1 {
		t.Errorf("pttl %d, must be 1 while the key is there", got.Value.Int)
	}
	m.do("get other")
	if got := read(); got != "nil" {
		t.Errorf("after it: %s", got)
	}
}

// TestReadCopy: P5. A copy for a long read answers as the machine did at that
// moment, whatever is applied meanwhile.
func TestReadCopy(t *testing.T) {
	m := newMachine(t, 3)
	bigValues(m)
	m.do("set k v px 5000")
	for _, words := range []string{"lrange l 0 -1", "hgetall h", "keys *", "dbsize", "pttl k", "sinter s s", "zrange z 0 -1 withscores"} {
		cmd, at := &Command{Args: strings.Fields(words)}, At{Now: m.now}
		want := spelled(m.state.Read(cmd, &Client{}, at).Value)
		s := m.state.ReadCopy()
		for _, w := range []string{"rpush l x", "hset h x y", "set new x", "sadd s x", "zadd z 1 x", "pexpire k 9000"} {
			m.do(w)
		}
		if got := spelled(s.Read(cmd, &Client{}, at).Value); got != want {
			t.Errorf("%s: the copy answers otherwise", words)
		}
		if _, ok := m.state.ReadWithin(cmd, &Client{}, at, 1<<18); ok != (cmd.Args[0] == "dbsize" || cmd.Args[0] == "pttl") {
			t.Errorf("%s: within a few steps is %v", words, ok)
		}
		for _, w := range []string{"rpop l", "hdel h x", "del new", "srem s x", "zrem z x", "set k v px 5000"} {
			m.do(w)
		}
	}
}
