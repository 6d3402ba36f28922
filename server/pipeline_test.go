package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server/replica"
)

// A pipeline goes to the machine whole, also with commands of the edge in
// between, and its replies come in order (B49).
func TestPipelineIsSubmittedWhole(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	p.want("PING", "+PONG\r\n")
	var in, want strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, "SET k%d %d\r\nPING m%d\r\nGET k%d\r\nNOSUCH\r\n", i, i, i, i)
		v := fmt.Sprint(i)
		fmt.Fprintf(&want, "+OK\r\n$%d\r\nm%s\r\n$%d\r\n%s\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n",
			len(v)+1, v, len(v), v)
	}
	p.write(in.String())
	var got strings.Builder
	for range 200 {
		got.WriteString(p.read())
	}
	if got.String() != want.String() {
		t.Errorf("got %q", got.String())
	}
	ts.fake.mu.Lock()
	defer ts.fake.mu.Unlock()
	if n := ts.fake.batches; len(n) != 1 || n[0] != 100 {
		t.Errorf("the machine got batches of %v, want one of 100", n)
	}
}

// A pipeline is cut where an entry would become too large, and stays in order.
func TestLongPipelineIsCut(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	value := strings.Repeat("v", 300<<10)
	go func() {
		for i := range 20 {
			p.write(fmt.Sprintf("*3\r\n$3\r\nSET\r\n$2\r\n%02d\r\n$%d\r\n%s\r\n*2\r\n$6\r\nSTRLEN\r\n$2\r\n%02d\r\n", i, len(value), value, i))
		}
	}()
	for i := range 20 {
		if a, b := p.read(), p.read(); a != "+OK\r\n" || b != fmt.Sprintf(":%d\r\n", len(value)) {
			t.Fatalf("%d: %q %q", i, a, b)
		}
	}
	ts.fake.mu.Lock()
	defer ts.fake.mu.Unlock()
	for _, n := range ts.fake.batches {
		if n > 8 {
			t.Errorf("a batch of %d commands is larger than a batch may be", n)
		}
	}
}

// Every error that the backend can give has one answer, and an error that nobody
// thought of is an unknown outcome, never a failure (promise 6).
func TestBackendErrors(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	unknown := "-" + fsm.ErrUnknownOutcome.Str + "\r\n"
	for _, c := range []struct {
		err  error
		want string
	}{
		{replica.ErrNoLeader, "-CLUSTERDOWN no leader: not executed\r\n"},
		{replica.ErrTooBusy, "-TRYAGAIN too many commands wait: not executed\r\n"},
		{replica.ErrTooLarge, "-ERR the command is too large for the log: not executed\r\n"},
		{replica.ErrClosed, "-CLUSTERDOWN this node is closing: not executed\r\n"},
		{context.Canceled, "-CLUSTERDOWN this node is closing: not executed\r\n"},
		{replica.ErrUnknownOutcome, unknown},
		{fmt.Errorf("wrapped: %w", replica.ErrUnknownOutcome), unknown},
		{errors.New("anything else"), unknown},
	} {
		ts.fake.fail.Store(&c.err)
		p.want("SET k v NX PX 1000", c.want)
		p.want("EXISTS k", c.want)
		p.want("WATCH k", c.want)
		p.write("MULTI\r\nSET k v\r\nSELECT 3\r\nEXEC\r\nPING\r\n")
		p.read()
		p.read()
		p.read()
		if got := p.read(); got != c.want {
			t.Errorf("EXEC with %v: %q", c.err, got)
		}
		if got := p.read(); got != "+PONG\r\n" {
			t.Errorf("PING without a leader: %q", got)
		}
	}
	ts.fake.fail.Store(nil)
	// The SELECT of a transaction that was not executed changes nothing.
	p.want("SET k v", "+OK\r\n")
	p.do("SELECT 0")
	p.want("GET k", "$1\r\nv\r\n")
	for word, n := range ts.stats.words.all() {
		if n == 0 {
			t.Errorf("error word %q counts nothing", word)
		}
	}
}

// A grant that ran out before it could be answered is not answered as one
// (promise 2, B24); what was not granted under a condition is answered as it is.
func TestLateGrantIsNotAnswered(t *testing.T) {
	var clock atomic.Int64
	ts := serveFake(t, Config{Elapsed: func() time.Duration { return time.Duration(clock.Load()) }})
	ts.fake.before = func([]fsm.Command) {
		clock.Add(int64(600 * time.Millisecond))
		ts.reading.Store(nil) // so much went by on Go's clock, too
	}
	p := dial(t, ts.addr)
	const late = "-ERR lease ended before the grant could be answered\r\n"
	p.want("SET a v NX PX 600", late)
	p.want("SET b v NX PX 601", "+OK\r\n")
	p.want("SET c v PX 600", "+OK\r\n")
	p.want("SET d v NX", "+OK\r\n")
	p.want(`EVAL "return redis.call('set', KEYS[1], 'v', 'NX', 'PX', 500)" 1 e`, late)
	p.want(`EVAL "return redis.call('set', KEYS[1], 'v', 'PX', 500)" 1 f`, "+OK\r\n")
	p.write("MULTI\r\nSET g v NX PX 500\r\nEXEC\r\n")
	p.read()
	p.read()
	if got := p.read(); got != late {
		t.Errorf("EXEC with a grant that ran out: %q", got)
	}
	if n := ts.stats.lateGrants.Load(); n != 3 {
		t.Errorf("%d late grants counted, want 3", n)
	}
}

// While a node loads, INFO and handshakes work and everything else is refused
// with the error after which drivers try again (B40).
func TestLoading(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	ts.fake.loading.Store(true)
	const loading = "-LOADING Redis is loading the dataset in memory\r\n"
	p.want("GET k", loading)
	p.want("PING", loading)
	p.want("SELECT 1", "+OK\r\n")
	p.want("CLIENT SETNAME x", "+OK\r\n")
	if got := p.do("INFO persistence"); !strings.Contains(got, "\r\nloading:1\r\n") {
		t.Errorf("INFO while loading: %q", got)
	}
	p.want("MULTI", "+OK\r\n")
	p.want("GET k", loading)
	p.want("EXEC", "-EXECABORT Transaction discarded because of previous errors.\r\n")
	ts.fake.loading.Store(false)
	p.want("PING", "+PONG\r\n")
}

// A panic in a handler ends one connection, and the node serves on (promise 8).
func TestBugEndsOneConnection(t *testing.T) {
	ts := serveFake(t, Config{})
	ts.fake.before = func(cmds []fsm.Command) {
		if cmds[0].Args[0] == "get" {
			panic("a bug")
		}
	}
	p, q := dial(t, ts.addr), dial(t, ts.addr)
	p.write("GET k\r\n")
	p.closed()
	q.want("SET k v", "+OK\r\n")
}

// What the client told of itself is shown with the lock that it takes.
func TestHolderIsTold(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	p.write("CLIENT SETNAME web-1\r\nCLIENT SETINFO lib-name redsync\r\nCLIENT SETINFO lib-ver 4.18.1\r\nSET k v NX PX 9000\r\nLOCK.INFO k\r\n")
	for range 4 {
		if got := p.read(); got != "+OK\r\n" {
			t.Fatal(got)
		}
	}
	got := p.read()
	for _, want := range []string{"web-1", "redsync/4.18.1", p.c.LocalAddr().String(), "n1"} {
		if !strings.Contains(got, "\r\n"+want+"\r\n") {
			t.Errorf("LOCK.INFO does not tell %q: %q", want, got)
		}
	}
}

// SCAN's cursors are numbers; one that this node doesn't know starts again, so
// that no key is missed.
func TestScanCursors(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	for i := range 100 {
		p.want(fmt.Sprintf("SET k%02d v", i), "+OK\r\n")
	}
	seen := map[string]bool{}
	cursor, steps := "0", 0
	for {
		got := strings.Split(p.do("SCAN "+cursor+" COUNT 7"), "\r\n")
		cursor = got[2]
		for i := 5; i < len(got); i += 2 {
			seen[got[i]] = true
		}
		if steps++; cursor == "0" {
			break
		}
		if steps == 5 {
			// Another node's cursor, or one that was forgotten.
			cursor = "123456789"
		}
	}
	if len(seen) != 100 || steps < 15 {
		t.Errorf("%d keys in %d steps", len(seen), steps)
	}
	p.want("SCAN x", "-ERR invalid cursor\r\n")
}

func TestCursorsAreBounded(t *testing.T) {
	var c cursors
	c.init()
	first := c.number("kfirst")
	if first == 0 || first >= 1<<53 || c.number("kfirst") != first || c.after(first) != "kfirst" {
		t.Errorf("cursor %d", first)
	}
	for i := range CursorsMax {
		c.number(fmt.Sprint("k", i))
	}
	if c.order.Len() > CursorsMax || c.after(first) != "" {
		t.Errorf("%d cursors are kept, the oldest among them: %q", c.order.Len(), c.after(first))
	}
	for range 100 {
		c.number(strings.Repeat("x", 1<<20-c.order.Len()))
	}
	if c.bytes > CursorBytesMax {
		t.Errorf("cursors take %d bytes", c.bytes)
	}
}

// A HELLO in a MULTI changes how EXEC's later replies are spelled, not the earlier ones, as in Redis.
func TestHelloInTransaction(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	const two, three = "*2\r\n$9\r\ndatabases\r\n$2\r\n16\r\n", "%1\r\n$9\r\ndatabases\r\n$2\r\n16\r\n"
	p.want("MULTI", "+OK\r\n")
	for _, line := range []string{"CONFIG GET databases", "GET k", "HELLO 3", "CONFIG GET databases", "GET k", "HELLO 2", "GET k"} {
		p.want(line, "+QUEUED\r\n")
	}
	got := p.do("EXEC")
	begin, end := "*7\r\n"+two+"$-1\r\n%8\r\n", "$-1\r\n"
	if middle := three + "_\r\n*16\r\n"; !strings.HasPrefix(got, begin) || !strings.Contains(got, middle) || !strings.HasSuffix(got, end) {
		t.Errorf("EXEC: %q", got)
	}
	p.want("CONFIG GET databases", two)
}

// redis-cli --ldb sends the script whatever SCRIPT DEBUG answers, and expects a
// dry run: it gets an error, and nothing is run.
func TestScriptIsNotDebugged(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	for _, mode := range []string{"yes", "SYNC"} {
		if got := p.do("SCRIPT DEBUG " + mode); !strings.HasPrefix(got, "-ERR ") {
			t.Errorf("SCRIPT DEBUG %s: %q", mode, got)
		}
		if got := p.do("EVAL \"return redis.call('set','k','v')\" 0"); !strings.HasPrefix(got, "-ERR the script was not run") {
			t.Errorf("the script that was to be debugged: %q", got)
		}
		p.want("EXISTS k", ":0\r\n")
	}
	p.want("EVAL \"return 1\" 0", ":1\r\n")
	p.do("SCRIPT DEBUG yes")
	p.do("SCRIPT DEBUG no")
	p.want("EVAL \"return 1\" 0", ":1\r\n")
}
