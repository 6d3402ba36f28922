package server

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// After the confirmation of a SUBSCRIBE every PUBLISH is delivered, and a
// script's PUBLISH is delivered after its DEL is visible (B52).
func TestNoWakeUpIsLost(t *testing.T) {
	ts := serveFake(t, Config{})
	const rounds = 300
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			waiter, owner := dial(t, ts.addr), dial(t, ts.addr)
			key := fmt.Sprint("lock", worker)
			for round := range rounds {
				if got := owner.do("SET " + key + " a NX PX 60000"); got != "+OK\r\n" {
					t.Errorf("round %d: SET: %q", round, got)
					return
				}
				release := make(chan string)
				go func() {
					release <- owner.do(`EVAL "redis.call('del', KEYS[1]) return redis.call('publish', KEYS[2], 'free')" 2 ` + key + " ch" + key)
				}()
				waiter.want("SUBSCRIBE ch"+key, "*3\r\n$9\r\nsubscribe\r\n$"+fmt.Sprint(len(key)+2)+"\r\nch"+key+"\r\n:1\r\n")
				probe := dial(t, ts.addr)
				if probe.do("EXISTS "+key) == ":1\r\n" {
					// It was still held after the confirmation, so the message must come.
					if got := waiter.read(); !strings.Contains(got, "free") {
						t.Errorf("round %d: %q", round, got)
						return
					}
					probe.want("EXISTS "+key, ":0\r\n")
				}
				probe.c.Close()
				<-release
				waiter.c.Close()
				waiter = dial(t, ts.addr)
			}
		})
	}
	wg.Wait()
}

// Keyspace events come to those who listen, by this node's setting, with what
// ran out among them; a seat's events are its own.
func TestKeyspaceEvents(t *testing.T) {
	ts := serveFake(t, Config{})
	p, q, seat := dial(t, ts.addr), dial(t, ts.addr), dial(t, ts.listen(t, 1))
	p.want("PSUBSCRIBE __key*", "*3\r\n$10\r\npsubscribe\r\n$6\r\n__key*\r\n:1\r\n")
	event := func(channel, payload string) {
		t.Helper()
		want := "*4\r\n$8\r\npmessage\r\n$6\r\n__key*\r\n" + string(appendBulk(appendBulk(nil, channel), payload))
		if got := p.read(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	q.want("SET quiet v", "+OK\r\n")
	q.want("CONFIG SET notify-keyspace-events KEx$g", "+OK\r\n")
	q.want("CONFIG GET notify-keyspace-events", "*2\r\n$22\r\nnotify-keyspace-events\r\n$5\r\ng$xKE\r\n")
	seat.want("SET other v", "+OK\r\n")
	q.want("SELECT 3", "+OK\r\n")
	q.want("SET k v PX 1", "+OK\r\n")
	event("__keyspace@3__:k", "set")
	event("__keyevent@3__:set", "k")
	event("__keyspace@3__:k", "expire")
	event("__keyevent@3__:expire", "k")
	eventually(t, func() bool { return q.do("EXISTS k") == ":0\r\n" })
	event("__keyspace@3__:k", "expired")
	event("__keyevent@3__:expired", "k")
	q.want("CONFIG SET notify-keyspace-events Eg", "+OK\r\n")
	q.want("SET k v", "+OK\r\n")
	q.want("DEL k", ":1\r\n")
	event("__keyevent@3__:del", "k")
	q.want("CONFIG SET notify-keyspace-events Q", "-ERR CONFIG SET failed (possibly related to argument "+
		"'notify-keyspace-events') - Invalid event class character. Use 'Ag$lshzxeKEtmdn'.\r\n")
}

// Who may have missed events is told so by the end of the connection.
func TestDropSubscribers(t *testing.T) {
	ts := serveFake(t, Config{})
	p, q := dial(t, ts.addr), dial(t, ts.addr)
	p.do("SUBSCRIBE c")
	q.want("PING", "+PONG\r\n")
	ts.DropSubscribers()
	p.closed()
	eventually(t, func() bool { return q.do("PUBSUB CHANNELS") == "*0\r\n" })
}

// CLIENT LIST, INFO and KILL from one connection about others, while they work.
func TestClientsSeeOneAnother(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	quit := make(chan bool)
	var wg sync.WaitGroup
	for i := range 4 {
		q := dial(t, ts.addr)
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-quit:
					return
				default:
				}
				q.do(fmt.Sprintf("CLIENT SETNAME c%d-%d", i, n))
				q.do(fmt.Sprintf("SELECT %d", n%16))
				q.do("MULTI")
				q.do("SET k v")
				q.do("EXEC")
			}
		})
	}
	eventually(t, func() bool { return ts.connected() == 5 })
	deadline := time.Now().Add(200 * time.Millisecond)
	for time.Now().Before(deadline) {
		if got := p.do("CLIENT LIST"); strings.Count(got, "id=") != 5 {
			t.Fatalf("CLIENT LIST: %q", got)
		}
		p.do("INFO all")
	}
	close(quit)
	wg.Wait()
	p.want("CLIENT KILL TYPE normal", ":4\r\n")
	p.want("CLIENT KILL 127.0.0.1:1", "-ERR No such client\r\n")
	eventually(t, func() bool { return ts.connected() == 1 })
	p.want("CLIENT KILL TYPE normal SKIPME no", ":1\r\n")
	p.closed()
}

// UNSUBSCRIBE is answered at once, also on a connection that never subscribed:
// a client that waits for the reply sends nothing else.
func TestUnsubscribeIsAnsweredAtOnce(t *testing.T) {
	ts := serveFake(t, Config{})
	for _, kind := range []string{"unsubscribe", "punsubscribe", "sunsubscribe"} {
		p := dial(t, ts.addr)
		word := fmt.Sprintf("$%d\r\n%s\r\n", len(kind), kind)
		p.want(kind, "*3\r\n"+word+"$-1\r\n:0\r\n")
		p.want(kind+" a", "*3\r\n"+word+"$1\r\na\r\n:0\r\n")
		p.do("HELLO 3")
		p.want(kind, ">3\r\n"+word+"_\r\n:0\r\n")
		p.write("CLIENT REPLY SKIP\r\n" + kind + "\r\nPING\r\n")
		// To Redis it is a message, which CLIENT REPLY leaves alone.
		if got := p.read() + p.read(); got != ">3\r\n"+word+"_\r\n:0\r\n+PONG\r\n" {
			t.Errorf("%s after CLIENT REPLY SKIP: %q", kind, got)
		}
	}
}

// What a client subscribed to is confirmed before its connection ends.
func TestSubscribeIsConfirmedBeforeTheEnd(t *testing.T) {
	ts := serveFake(t, Config{})
	for range 100 {
		p := dial(t, ts.addr)
		p.write("SUBSCRIBE a\r\n")
		p.c.(*net.TCPConn).CloseWrite()
		if got := p.closed(); got != "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n" {
			t.Fatalf("told %q", got)
		}
	}
}
