package server

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

// Who waits for a lock is granted it in turn, with a token and the whole lease;
// the connection answers nothing else meanwhile.
func TestLockAcquireWaits(t *testing.T) {
	ts := serveFake(t, Config{})
	a, b, c, d := dial(t, ts.addr), dial(t, ts.addr), dial(t, ts.addr), dial(t, ts.addr)
	a.want("LOCK.ACQUIRE k a 60000 WAIT 1000", "*2\r\n:1\r\n:60000\r\n")
	b.write("LOCK.ACQUIRE k b 60000 WAIT 60000\r\nPING\r\n")
	ts.waitersAre(t, 1)
	c.write("LOCK.ACQUIRE k c 60000 WAIT 60000\r\n")
	ts.waitersAre(t, 2)
	d.want("LOCK.ACQUIRE k d 60000 WAIT 20", "*-1\r\n")
	a.want("LOCK.RELEASE k a", ":1\r\n")
	if got := b.read(); got != "*2\r\n:2\r\n:60000\r\n" {
		t.Fatalf("the first in line: %q", got)
	}
	if got := b.read(); got != "+PONG\r\n" {
		t.Fatalf("what came behind it: %q", got)
	}
	ts.waitersAre(t, 1)
	d.want("GET k", "$1\r\nb\r\n")
	d.want("LOCK.CANCEL k c", ":1\r\n")
	if got := c.read(); got != "*-1\r\n" {
		t.Fatalf("a wait that was cancelled: %q", got)
	}
	c.write("LOCK.ACQUIRE k c 60000 WAIT 60000\r\n")
	ts.waitersAre(t, 1)
	c.c.Close()
	ts.waitersAre(t, 0)
	d.want("LOCK.RELEASE k b", ":1\r\n")
	d.want("LOCK.ACQUIRE k d 60000", "*2\r\n:3\r\n:60000\r\n")
	d.write("MULTI\r\nLOCK.ACQUIRE k e 1000 WAIT 60000\r\nEXEC\r\n")
	d.read()
	d.read()
	if got := d.read(); got != "*1\r\n*-1\r\n" {
		t.Errorf("in a MULTI: %q", got)
	}
}

// Who waits for several locks is granted all of them at once.
func TestLockAcquireAllWaits(t *testing.T) {
	ts := serveFake(t, Config{})
	a, b, c := dial(t, ts.addr), dial(t, ts.addr), dial(t, ts.addr)
	a.want("LOCK.ACQUIRE x a 60000", "*2\r\n:1\r\n:60000\r\n")
	b.write("LOCK.ACQUIREALL b 60000 2 y x WAIT 60000\r\nPING\r\n")
	ts.waitersAre(t, 1)
	c.want("SET y c NX PX 60000", "$-1\r\n")
	c.want("LOCK.ACQUIREALL c 60000 2 y z WAIT 10", "*-1\r\n")
	a.want("LOCK.RELEASE x a", ":1\r\n")
	if got := b.read(); got != "*2\r\n*2\r\n:2\r\n:3\r\n:60000\r\n" {
		t.Fatalf("%q", got)
	}
	if got := b.read(); got != "+PONG\r\n" {
		t.Fatalf("what came behind it: %q", got)
	}
	c.want("MGET x y", "*2\r\n$1\r\nb\r\n$1\r\nb\r\n")
}

// Promise 2: an offer that comes to nothing, and a lease that is over before it
// could be answered, are errors, never a grant.
func TestLateTakeIsNoGrant(t *testing.T) {
	var clock atomic.Int64
	ts := serveFake(t, Config{Elapsed: func() time.Duration { return time.Duration(clock.Load()) }})
	a, b, operator := dial(t, ts.addr), dial(t, ts.addr), dial(t, ts.addr)
	var taken atomic.Value // what happens before the taking
	taken.Store(func() { clock.Add(int64(500 * time.Millisecond)) })
	ts.fake.before = func(cmds []fsm.Command) {
		if cmds[0].Args[0] == "_take" {
			taken.Load().(func())()
		}
	}
	a.do("LOCK.ACQUIRE k a 60000")
	b.write("LOCK.ACQUIRE k b 500 WAIT 60000\r\n")
	ts.waitersAre(t, 1)
	a.want("LOCK.RELEASE k a", ":1\r\n")
	if got := b.read(); !strings.HasPrefix(got, "-ERR lease ended before the grant could be answered") {
		t.Errorf("a lease that was over when it was to be answered: %q", got)
	}
	taken.Store(func() { operator.do("LOCK.BREAK k") })
	a.want("LOCK.BREAK k", ":1\r\n")
	a.want("LOCK.ACQUIRE k a 60000", "*2\r\n:3\r\n:60000\r\n")
	b.write("LOCK.ACQUIRE k b 60000 WAIT 60000\r\n")
	ts.waitersAre(t, 1)
	a.want("LOCK.RELEASE k a", ":1\r\n")
	if got := b.read(); !strings.HasPrefix(got, "-WAITLOST ") {
		t.Errorf("an offer that was passed on: %q", got)
	}
}
