package server

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redfence/redfence/fsm"
)

// invalid is the push for a key.
func invalid(key string) string {
	return fmt.Sprintf(">2\r\n$10\r\ninvalidate\r\n*1\r\n$%d\r\n%s\r\n", len(key), key)
}

func tracker(t *testing.T, ts *testServer, mode string) *peer {
	t.Helper()
	p := dial(t, ts.addr)
	p.do("HELLO 3")
	p.want("CLIENT TRACKING ON "+mode, "+OK\r\n")
	return p
}

// A client is told once of a change of what it read, however it came about.
func TestTrackingTellsOfChanges(t *testing.T) {
	ts := serveFake(t, Config{})
	p, q := tracker(t, ts, ""), dial(t, ts.addr)
	for _, change := range []string{
		"SET k w", "DEL k", "PEXPIRE k 60000", "APPEND k x", "RENAME k k2", `EVAL "redis.call('set','k','w')" 0`, "GETDEL k",
	} {
		q.want("SET k v", "+OK\r\n")
		p.want("GET k", "$1\r\nv\r\n")
		if got := q.do(change); strings.HasPrefix(got, "-") {
			t.Fatalf("%s: %q", change, got)
		}
		if got := p.read(); got != invalid("k") {
			t.Errorf("%s: %q", change, got)
		}
		q.do("SET k again") // told already
		q.do("SET other v") // never read
		p.want("PING", "+PONG\r\n")
	}
	q.do("SET k v PX 1")
	p.do("GET k")
	eventually(t, func() bool { return q.do("EXISTS k") == ":0\r\n" })
	if got := p.read(); got != invalid("k") && got != "$-1\r\n" {
		t.Errorf("a lease that ran out: %q", got)
	}
	q.do("SET k v")
	p.want("MGET k nokey", "*2\r\n$1\r\nv\r\n_\r\n")
	q.want("FLUSHALL", "+OK\r\n")
	if got := p.read(); got != ">2\r\n$10\r\ninvalidate\r\n_\r\n" {
		t.Errorf("FLUSHALL: %q", got)
	}
	p.want("CLIENT TRACKINGINFO", "%3\r\n$5\r\nflags\r\n~1\r\n$2\r\non\r\n$8\r\nredirect\r\n:0\r\n$8\r\nprefixes\r\n*0\r\n")
	p.want("CLIENT TRACKING OFF", "+OK\r\n")
	p.do("GET k")
	q.do("SET k v")
	p.want("PING", "+PONG\r\n")
	if _, keys := ts.trackers.sizes(); keys != 0 {
		t.Errorf("%d keys are left", keys)
	}
}

func TestTrackingModes(t *testing.T) {
	ts := serveFake(t, Config{})
	in, out, all := tracker(t, ts, "OPTIN"), tracker(t, ts, "OPTOUT"), tracker(t, ts, "BCAST PREFIX a: PREFIX b:")
	q := dial(t, ts.addr)
	in.do("GET a:1")
	in.want("CLIENT CACHING YES", "+OK\r\n")
	in.do("GET a:2")
	in.do("GET a:3")
	out.do("GET a:1")
	out.want("CLIENT CACHING NO", "+OK\r\n")
	out.do("GET a:2")
	for _, key := range []string{"a:1", "a:2", "a:3", "c:1"} {
		q.do("SET " + key + " v")
	}
	for _, c := range []struct {
		p    *peer
		keys []string
	}{{in, []string{"a:2"}}, {out, []string{"a:1"}}, {all, []string{"a:1", "a:2", "a:3"}}} {
		for _, key := range c.keys {
			if got := c.p.read(); got != invalid(key) {
				t.Errorf("got %q, want %q", got, invalid(key))
			}
		}
		c.p.want("PING", "+PONG\r\n")
	}
	p := dial(t, ts.addr)
	p.want("CLIENT TRACKING ON", "-ERR CLIENT TRACKING needs RESP3: say HELLO 3 first\r\n")
	p.do("HELLO 3")
	for _, bad := range []string{"REDIRECT 1", "NOLOOP", "PREFIX a", "BCAST OPTIN", "OPTIN OPTOUT", "FOO", "PREFIX"} {
		if got := p.do("CLIENT TRACKING ON " + bad); !strings.HasPrefix(got, "-ERR ") {
			t.Errorf("%s: %q", bad, got)
		}
	}
	p.want("CLIENT CACHING YES", "-ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled\r\n")
	in.want("CLIENT TRACKING ON BCAST", "-ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.\r\n")
}

// A change that comes between a read and its reply is told behind the reply: a
// client that takes replies and pushes in their order never keeps a stale value.
func TestTrackedReadIsNeverStale(t *testing.T) {
	ts := serveFake(t, Config{})
	const rounds = 2000
	var wg sync.WaitGroup
	q := dial(t, ts.addr)
	q.do("SET k 0")
	last := fmt.Sprint(rounds)
	wg.Go(func() {
		for i := range rounds {
			q.do(fmt.Sprintf("SET k %d", i+1))
		}
	})
	for range 3 {
		p := tracker(t, ts, "")
		wg.Go(func() {
			for {
				got := p.do("GET k")
				if !strings.HasPrefix(got, "$") {
					t.Errorf("a push came before its reply: %q", got)
					return
				}
				if strings.Contains(got, "\r\n"+last+"\r\n") {
					return
				}
				// It is not the last value, so a push must come. Without one this hangs.
				if push := p.read(); push != invalid("k") {
					t.Errorf("%q", push)
					return
				}
			}
		})
	}
	wg.Wait()
}

// While the machine works on a read, its key's changes wait.
func TestTrackingHoldsPushes(t *testing.T) {
	ts := serveFake(t, Config{})
	p := tracker(t, ts, "")
	ts.fake.before = func(cmds []fsm.Command) {
		if cmds[0].Args[0] == "get" {
			ts.Events([]fsm.Event{{Kind: fsm.KeyChanged, Class: '$', Name: "set", Key: "k"}})
		}
	}
	p.write("GET k\r\n")
	if got := p.read(); got != "_\r\n" {
		t.Errorf("first came %q", got)
	}
	if got := p.read(); got != invalid("k") {
		t.Errorf("then came %q", got)
	}
}

// A connection is told of its own change right behind the reply to it, as Redis
// does, whatever follows in the pipeline; a read behind the change is told of again.
func TestTrackingTellsOwnChanges(t *testing.T) {
	ts := serveFake(t, Config{})
	const all = ">2\r\n$10\r\ninvalidate\r\n_\r\n"
	for _, c := range []struct {
		commands string
		replies  []string
	}{
		{"SET k 1|PING", []string{"+OK\r\n", invalid("k"), "+PONG\r\n"}},
		{"SET k 2|CLIENT TRACKINGINFO|CLIENT TRACKING OFF", []string{"+OK\r\n", invalid("k"), "%3\r\n$5\r\nflags\r\n~1\r\n$2\r\non\r\n$8\r\nredirect\r\n:0\r\n$8\r\nprefixes\r\n*0\r\n", "+OK\r\n"}},
		{"SET k 3|GET k|SET k 4|PING", []string{"+OK\r\n", invalid("k"), "$1\r\n3\r\n", "+OK\r\n", invalid("k"), "+PONG\r\n"}},
		{"MULTI|SET k 5|GET k|EXEC|PING", []string{"+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n+OK\r\n$1\r\n5\r\n", invalid("k"), "+PONG\r\n"}},
		{"EVAL \"return redis.call('del',KEYS[1])\" 1 k|PING", []string{":1\r\n", invalid("k"), "+PONG\r\n"}},
		{"FLUSHDB|PING", []string{"+OK\r\n", all, "+PONG\r\n"}},
		{"CLIENT REPLY SKIP|SET k 6|CLIENT TRACKING OFF", []string{invalid("k"), "+OK\r\n"}},
		{"SET k 7|HELLO 2", []string{"+OK\r\n", invalid("k")}},
		{"SETNX k 1|SET k 9|PING", []string{":0\r\n", "+OK\r\n", invalid("k"), "+PONG\r\n"}},
		{"SET other 7|DEL nosuch|SET k 8 NX|PING", []string{"+OK\r\n", ":0\r\n", "_\r\n", "+PONG\r\n"}},
	} {
		dial(t, ts.addr).do("SET k 0")
		p := tracker(t, ts, "")
		p.want("GET k", "$1\r\n0\r\n")
		p.write(strings.ReplaceAll(c.commands, "|", "\r\n") + "\r\n")
		for i, want := range c.replies {
			if got := p.read(); got != want {
				t.Errorf("%s: reply %d is %q, want %q", c.commands, i, got, want)
			}
		}
		p.c.Close()
	}
}

// Overlapping prefixes of a broadcast are refused, and further ones join those that
// are there, in the words of Redis 7.0.
func TestTrackingPrefixes(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	p.do("HELLO 3")
	overlaps := func(prefix, which, other string) string {
		return "-ERR Prefix '" + prefix + "' overlaps with " + which + " prefix '" + other + "'. Prefixes for a single client must not overlap.\r\n"
	}
	p.want("CLIENT TRACKING ON BCAST PREFIX foo PREFIX foobar", overlaps("foo", "another provided", "foobar"))
	p.want("CLIENT TRACKING ON BCAST PREFIX d PREFIX d", overlaps("d", "another provided", "d"))
	p.want("CLIENT TRACKING ON BCAST PREFIX b PREFIX a", "+OK\r\n")
	p.want("CLIENT TRACKING ON BCAST PREFIX ab", overlaps("ab", "an existing", "a"))
	p.want("CLIENT TRACKING ON BCAST PREFIX a", overlaps("a", "an existing", "a"))
	p.want("CLIENT TRACKING ON BCAST PREFIX c", "+OK\r\n")
	info := "%3\r\n$5\r\nflags\r\n~2\r\n$2\r\non\r\n$5\r\nbcast\r\n$8\r\nredirect\r\n:0\r\n$8\r\nprefixes\r\n"
	p.want("CLIENT TRACKINGINFO", info+"*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n")
	p.want("CLIENT TRACKING ON BCAST", "+OK\r\n")
	p.want("CLIENT TRACKINGINFO", info+"*4\r\n$0\r\n\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n")
	p.want("CLIENT TRACKING ON BCAST PREFIX q", overlaps("q", "an existing", ""))
}
