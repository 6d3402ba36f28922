package server

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/server/replica"
)

// waitersAre waits until so many commands wait in the machine, and so many
// connections are shown as blocked.
func (ts *testServer) waitersAre(t *testing.T, n int) {
	t.Helper()
	eventually(t, func() bool {
		ts.fake.mu.Lock()
		defer ts.fake.mu.Unlock()
		return ts.fake.state.Waiting() == n && ts.blocked.Load() == int64(n)
	})
}

func TestBlockingPops(t *testing.T) {
	ts := serveFake(t, Config{})
	a, b, c := dial(t, ts.addr), dial(t, ts.addr), dial(t, ts.addr)
	a.want("RPUSH l x", ":1\r\n")
	a.want("BLPOP l 0", "*2\r\n$1\r\nl\r\n$1\r\nx\r\n")
	a.write("SET k v\r\nBLPOP none l 0\r\nGET k\r\nBRPOP l 0\r\nPING\r\n")
	if got := a.read(); got != "+OK\r\n" {
		t.Fatalf("what comes before is answered at once: %q", got)
	}
	ts.waitersAre(t, 1)
	b.write("HELLO 3\r\nBZPOPMIN z 0\r\n")
	b.read()
	ts.waitersAre(t, 2)
	c.want("RPUSH l 1 2", ":2\r\n")
	for _, want := range []string{"*2\r\n$1\r\nl\r\n$1\r\n1\r\n", "$1\r\nv\r\n", "*2\r\n$1\r\nl\r\n$1\r\n2\r\n", "+PONG\r\n"} {
		if got := a.read(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	c.want("ZADD z 1.5 m", ":1\r\n")
	if got := b.read(); got != "*3\r\n$1\r\nz\r\n$1\r\nm\r\n,1.5\r\n" {
		t.Fatalf("got %q", got)
	}
	ts.waitersAre(t, 0)
	// Both go on as before.
	a.want("PING", "+PONG\r\n")
	b.want("GET none", "_\r\n")
}

func TestBlockingTimeouts(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	for _, line := range []string{
		"BLPOP k 0.01", "BRPOP k 0.01", "BLMOVE a b LEFT RIGHT 0.01", "BRPOPLPUSH a b 0.01", "BLMPOP 0.01 1 k LEFT",
		"BZPOPMIN k 0.01", "BZPOPMAX k 0.01", "BZMPOP 0.01 1 k MIN",
	} {
		p.want(line, "*-1\r\n")
	}
	p.want("BLPOP k -1", "-ERR timeout is negative\r\n")
	p.write("MULTI\r\nBLPOP k 0\r\nBRPOPLPUSH a b 0\r\nEXEC\r\n")
	p.read()
	p.read()
	p.read()
	if got := p.read(); got != "*2\r\n*-1\r\n$-1\r\n" {
		t.Errorf("in a MULTI: %q", got)
	}
	ts.waitersAre(t, 0)
}

func TestClientUnblock(t *testing.T) {
	ts := serveFake(t, Config{})
	p, op := dial(t, ts.addr), dial(t, ts.addr)
	id := strings.Trim(p.do("CLIENT ID"), ":\r\n")
	op.want("CLIENT UNBLOCK "+id, ":0\r\n")
	for _, end := range []struct{ args, reply string }{
		{"", "*-1\r\n"}, {" TIMEOUT", "*-1\r\n"}, {" ERROR", "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n"},
	} {
		p.write("BLPOP k 0\r\n")
		ts.waitersAre(t, 1)
		if got := op.do("CLIENT LIST ID " + id); !strings.Contains(got, " flags=b ") || !strings.Contains(got, " cmd=blpop ") {
			t.Errorf("CLIENT LIST: %q", got)
		}
		if got := op.do("INFO clients"); !strings.Contains(got, "\r\nblocked_clients:1\r\n") {
			t.Errorf("INFO clients: %q", got)
		}
		op.want("CLIENT UNBLOCK "+id+end.args, ":1\r\n")
		if got := p.read(); got != end.reply {
			t.Errorf("CLIENT UNBLOCK%s: %q", end.args, got)
		}
		op.want("CLIENT UNBLOCK "+id, ":0\r\n")
	}
	op.want("RPUSH k x", ":1\r\n")
	p.want("LLEN k", ":1\r\n")
}

// A client that goes while its command waits leaves the queue at once, whatever
// it had sent behind.
func TestBlockedClientThatGoes(t *testing.T) {
	ts := serveFake(t, Config{})
	op := dial(t, ts.addr)
	for i, behind := range []string{"", "PING\r\n", strings.Repeat("SET k v\r\n", 2000), "*2\r\n$3\r\nGET"} {
		p := dial(t, ts.addr)
		key := fmt.Sprint("l", i)
		p.write("BLPOP " + key + " 0\r\n" + behind)
		ts.waitersAre(t, 1)
		p.c.Close()
		ts.waitersAre(t, 0)
		op.want("RPUSH "+key+" x", ":1\r\n")
	}
}

func TestBlockedClientIsKilled(t *testing.T) {
	ts := serveFake(t, Config{})
	op := dial(t, ts.addr)
	// The second one has sent more than is read ahead.
	for _, behind := range []string{"", strings.Repeat("SET k v\r\n", ReadAheadMax/9+1000)} {
		p := dial(t, ts.addr)
		id := strings.Trim(p.do("CLIENT ID"), ":\r\n")
		p.write("BLPOP l 0\r\n")
		ts.waitersAre(t, 1)
		p.write(behind)
		op.want("CLIENT KILL ID "+id, ":1\r\n")
		ts.waitersAre(t, 0)
	}
	// What was read ahead is executed when the wait is over.
	p := dial(t, ts.addr)
	p.write("BLPOP l 0\r\n")
	ts.waitersAre(t, 1)
	n := ReadAheadMax/9 + 1000
	go p.write(strings.Repeat("INCR n2\r\n", n))
	op.want("RPUSH l x", ":1\r\n")
	p.read()
	for i := range n {
		if got := p.read(); got != fmt.Sprintf(":%d\r\n", i+1) {
			t.Fatalf("%q", got)
		}
	}
}

// A node that ends answers who waits, and serves nobody any more.
func TestShutdownEndsWaits(t *testing.T) {
	ts := serveFake(t, Config{})
	p, q := dial(t, ts.addr), dial(t, ts.addr)
	p.write("BLPOP l 0\r\nBLPOP l 0\r\n")
	q.write("BZPOPMAX z 5\r\n")
	ts.waitersAre(t, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := ts.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	const told = "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)\r\n"
	for name, conn := range map[string]*peer{"p": p, "q": q} {
		if got := conn.read(); got != told {
			t.Errorf("%s got %q", name, got)
		}
	}
	ts.waitersAre(t, 0)
}

// A client that keeps a cache is told of changes while its command waits.
func TestBlockedClientIsToldOfChanges(t *testing.T) {
	ts := serveFake(t, Config{})
	p, op := dial(t, ts.addr), dial(t, ts.addr)
	p.do("HELLO 3")
	p.want("CLIENT TRACKING ON", "+OK\r\n")
	p.want("GET k", "_\r\n")
	p.write("BLPOP l 0\r\n")
	ts.waitersAre(t, 1)
	op.want("SET k v", "+OK\r\n")
	if got := p.read(); got != ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n" {
		t.Errorf("got %q", got)
	}
	op.want("RPUSH l x", ":1\r\n")
	if got := p.read(); got != "*2\r\n$1\r\nl\r\n$1\r\nx\r\n" {
		t.Errorf("got %q", got)
	}
}

// A connection that is idle by the timeout setting is not closed while its command waits.
func TestBlockedClientIsNotIdle(t *testing.T) {
	ts := serveFake(t, Config{IdleTimeout: 50 * time.Millisecond})
	p := dial(t, ts.addr)
	p.want("BLPOP l 0.3", "*-1\r\n")
	p.closed()
}

func TestKeysOfBlockingCommands(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	p.want("COMMAND GETKEYS BLPOP a b 0", "*2\r\n$1\r\na\r\n$1\r\nb\r\n")
	p.want("COMMAND GETKEYS BLMPOP 0 2 a b LEFT", "*2\r\n$1\r\na\r\n$1\r\nb\r\n")
	p.want("COMMAND GETKEYS BLMOVE a b LEFT LEFT 0", "*2\r\n$1\r\na\r\n$1\r\nb\r\n")
}

// A large element that a wait is served with waits for room among the replies that
// are being made. Without it the client is told that the outcome is unknown, since
// the element is gone from its list; the connection goes on.
func TestWaitForRoom(t *testing.T) {
	large := strings.Repeat("x", 2*replica.ReplyFree)
	for name, c := range map[string]struct {
		until time.Duration // when there is room
		reply string
	}{
		"in time": {time.Second, fmt.Sprintf("*2\r\n$1\r\nl\r\n$%d\r\n%s\r\n", len(large), large)},
		"never":   {time.Hour, "-ERR outcome unknown: the command may or may not have been executed\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ts, ln := servePipes(t, Config{})
				ts.fake.replies = replica.NewBudget(4 * replica.ReplyFree)
				waiter, pusher := ln.dial(), ln.dial()
				go io.WriteString(waiter, "BLPOP l 0\r\nPING\r\n")
				synctest.Wait()
				others := ts.fake.replies.Share()
				others.Force(8 * replica.ReplyFree)
				time.AfterFunc(c.until, others.Release)
				go fmt.Fprintf(pusher, "*3\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n$%d\r\n%s\r\n", len(large), large)
				expect(t, pusher, ":1\r\n")
				expect(t, waiter, c.reply+"+PONG\r\n")
				time.Sleep(c.until)
				if used := ts.fake.replies.Used(); used != 0 {
					t.Errorf("%d bytes are held when all is answered", used)
				}
				stop(t, ts)
			})
		})
	}
}
