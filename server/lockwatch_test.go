package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfence/redfence/fsm"
)

// told is a message of a watched lock under RESP3, and the place that it tells.
func told(t *testing.T, p *peer) (text, place string) {
	t.Helper()
	lines := strings.Split(p.read(), "\r\n")
	if len(lines) != 10 || lines[0] != ">4" || lines[2] != "pmessage" {
		t.Fatalf("no message: %q", lines)
	}
	place, what, _ := strings.Cut(lines[8], " ")
	return lines[6] + " " + what, place
}

func wantTold(t *testing.T, p *peer, want ...string) (place string) {
	t.Helper()
	for _, w := range want {
		var got string
		if got, place = told(t, p); got != w {
			t.Fatalf("told %q, want %q", got, w)
		}
	}
	return place
}

func watching(t *testing.T, addr, command string) *peer {
	t.Helper()
	p := dial(t, addr)
	p.do("HELLO 3")
	if got := p.do(command); !strings.HasPrefix(got, ">3\r\n$10\r\npsubscribe\r\n") {
		t.Fatalf("%s: %q", command, got)
	}
	return p
}

// Who watches locks is told of every grant and end, whichever command made it,
// in the order of the log.
func TestLockWatch(t *testing.T) {
	ts := serveFake(t, Config{})
	p, other, all, q := watching(t, ts.addr, "LOCK.WATCH d*"), watching(t, ts.addr, "PSUBSCRIBE __lock@0__:door"), watching(t, ts.addr, "PSUBSCRIBE *"), dial(t, ts.addr)
	wantTold(t, p, "__lock@0__: watch 0 ")
	q.do("CLIENT SETNAME ops")
	for _, command := range []string{
		"LOCK.ACQUIRE door alice 60000", "LOCK.ACQUIRE other alice 60000", "LOCK.ASK door", "LOCK.RELEASE door alice",
		"SET door bob NX PX 60000", "GET door", "DEL door", "HSET deed f v", "LOCK.ACQUIRE desk x 60000 SHARED", "LOCK.BREAK desk",
		"SELECT 1", "SET door z", "SELECT 0", "SET door 1", "SET door 2", "FLUSHDB", "PUBLISH end x",
	} {
		if got := q.do(command); got[0] == '-' {
			t.Fatalf("%s: %s", command, got)
		}
	}
	wantTold(t, p,
		"__lock@0__:door grant 1 alice", "__lock@0__:door ask 0 ops 127.0.0.1", "__lock@0__:door release 1 alice",
		"__lock@0__:door grant 3 bob", "__lock@0__:door release 3 bob", "__lock@0__:deed grant 4 ",
		"__lock@0__:desk grant 5 x", "__lock@0__:desk break 0 ops 127.0.0.1",
		"__lock@0__:door grant 7 1", "__lock@0__:door grant 8 2", "__lock@0__: flush 0 ")
	wantTold(t, other, "__lock@0__:door grant 1 alice")
	if got := all.read(); !strings.Contains(got, "$3\r\nend\r\n") {
		t.Errorf("who listens to everything hears of locks: %q", got)
	}
	// Under RESP2 it is a subscription like others.
	r := dial(t, ts.addr)
	if got := r.do("LOCK.WATCH x"); got != "*3\r\n$10\r\npsubscribe\r\n$12\r\n__lock@0__:x\r\n:1\r\n" {
		t.Fatalf("%q", got)
	}
	if got := r.read(); !strings.Contains(got, " watch 0 ") {
		t.Errorf("%q", got)
	}
	r.want("LOCK.ACQUIRE x y 100", "-ERR Can't execute 'lock.acquire': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n")
	r.want("PUNSUBSCRIBE __lock@0__:x", "*3\r\n$12\r\npunsubscribe\r\n$12\r\n__lock@0__:x\r\n:0\r\n")
	r.want("GET x", "$-1\r\n")
}

// Who comes back is told of what it missed, once each, or that this can't be had.
func TestLockWatchResumes(t *testing.T) {
	ts := serveFake(t, Config{})
	q, p := dial(t, ts.addr), watching(t, ts.addr, "LOCK.WATCH *")
	wantTold(t, p, "__lock@0__: watch 0 ")
	q.do("SET a 1 NX PX 60000")
	place := wantTold(t, p, "__lock@0__:a grant 1 1")
	p.c.Close()
	q.do("DEL a")
	q.do("LOCK.ACQUIRE b x 60000")
	p = watching(t, ts.addr, "LOCK.WATCH * AFTER "+place)
	q.do("LOCK.RELEASE b x")
	place = wantTold(t, p, "__lock@0__:a release 1 1", "__lock@0__:b grant 2 x", "__lock@0__:b release 2 x")
	again := watching(t, ts.addr, "LOCK.WATCH b AFTER "+place)
	q.do("LOCK.ACQUIRE b y 60000")
	wantTold(t, again, "__lock@0__:b grant 3 y")

	late := dial(t, ts.addr)
	late.want("LOCK.WATCH * AFTER 999999-1", "-TRYAGAIN this node has not come to that place yet\r\n")
	missed := "-ERR can't resume: this node does not know all events after that place; watch anew without AFTER, and read LOCK.LIST behind it\r\n"
	late.want("LOCK.WATCH * AFTER 1-1", missed)
	for i := range LockEventsKept {
		ts.Events([]fsm.Event{{Kind: fsm.LockChanged, Name: "grant", Key: "k", Place: fsm.Place{Index: uint64(1000 + i), Number: 1}}})
	}
	late.want("LOCK.WATCH * AFTER "+place, missed)
	late.want("PING", "+PONG\r\n")
	if got := late.do(fmt.Sprintf("LOCK.WATCH * AFTER %d-1", 1000+LockEventsKept-1)); got[0] != '*' {
		t.Errorf("from the newest: %q", got)
	}
	// A node that installed a snapshot doesn't know what was before it.
	ts.DropSubscribers()
	fresh := dial(t, ts.addr)
	fresh.want(fmt.Sprintf("LOCK.WATCH * AFTER %d-1", 1000+LockEventsKept-1), missed)
}

// What a node remembers of locks is bounded in number and bytes.
func TestLockHistoryIsBounded(t *testing.T) {
	var h lockHistory
	long := strings.Repeat("k", 1<<20)
	for i := range 3 * LockEventsKept {
		e := fsm.Event{Kind: fsm.LockChanged, Key: "k", Place: fsm.Place{Index: uint64(i), Number: 1}}
		if i%100 == 0 {
			e.Key = long
		}
		h.add(&e)
		if h.count > LockEventsKept || h.bytes > LockEventBytesMax || cap(h.ring) > LockEventsKept {
			t.Fatalf("%d events and %d bytes are remembered, room for %d", h.count, h.bytes, cap(h.ring))
		}
		if newest := h.at(h.count - 1); h.last() != e.Place || newest.Key != e.Key {
			t.Fatalf("the newest is at %v, want %v", h.last(), e.Place)
		}
	}
}
