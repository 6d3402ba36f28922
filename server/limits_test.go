package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/fsm"
)

// pipeListener hands out one end of net.Pipe a connection, so that a Server can
// run in a bubble. A failure given to it comes before the next connection.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	fails  atomic.Int64 // accepts that fail for want of a file descriptor
	tries  atomic.Int64
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	l.tries.Add(1)
	if l.fails.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6379} }

func (l *pipeListener) dial() net.Conn {
	near, far := net.Pipe()
	l.conns <- far
	return near
}

// servePipes runs a Server in the bubble that the test is in.
func servePipes(t *testing.T, cfg Config) (*testServer, *pipeListener) {
	t.Helper()
	f := newFake(t)
	cfg.NodeID = "n1"
	if cfg.Elapsed == nil {
		cfg.Elapsed = func() time.Duration { return time.Since(f.start) }
	}
	s, err := New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.server = s
	ln := newPipeListener()
	go s.Serve(ln, fsm.SharedSpace)
	return &testServer{Server: s, fake: f}, ln
}

func stop(t *testing.T, ts *testServer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := ts.Shutdown(ctx); err != nil {
		t.Error("shutdown:", err)
	}
}

// read reads exactly what is expected.
func expect(t *testing.T, c net.Conn, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if n, err := io.ReadFull(c, b); err != nil || string(b) != want {
		t.Fatalf("got %q %v, want %q", b[:n], err, want)
	}
}

// An idle connection is closed, one that listens is not (B55).
func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts, ln := servePipes(t, Config{IdleTimeout: 2 * time.Second})
		idle, listener := ln.dial(), ln.dial()
		go io.WriteString(listener, "SUBSCRIBE c\r\n")
		expect(t, listener, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
		began := time.Now()
		if n, err := idle.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) || time.Since(began) != 2*time.Second {
			t.Errorf("idle: %d %v after %v", n, err, time.Since(began))
		}
		time.Sleep(time.Hour)
		go io.WriteString(listener, "PING\r\n")
		expect(t, listener, "*2\r\n$4\r\npong\r\n$0\r\n\r\n")
		stop(t, ts)
	})
}

// Without a free file descriptor the server waits instead of turning in a
// circle, and serves again afterwards (B57).
func TestAcceptBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		s, err := New(f, Config{NodeID: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		ln := newPipeListener()
		ln.fails.Store(1 << 40)
		go s.Serve(ln, fsm.SharedSpace)
		time.Sleep(time.Minute)
		if n := ln.tries.Load(); n > 70 || n < 50 {
			t.Errorf("%d accepts in a minute without a descriptor", n)
		}
		ln.fails.Store(0)
		c := ln.dial()
		go io.WriteString(c, "PING\r\n")
		expect(t, c, "+PONG\r\n")
		stop(t, &testServer{Server: s, fake: f})
	})
}

// A client that doesn't read is not read from: replies don't pile up (B47). After
// a minute without progress its connection ends.
func TestClientThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts, ln := servePipes(t, Config{})
		c := ln.dial()
		began := time.Now()
		sent := 0
		for {
			n, err := io.WriteString(c, strings.Repeat("PING\r\n", 1000))
			sent += n
			if err != nil {
				break
			}
		}
		if sent > 1<<20 || time.Since(began) < WriteTimeout/2 || time.Since(began) > 2*WriteTimeout {
			t.Errorf("took %d bytes, closed after %v", sent, time.Since(began))
		}
		stop(t, ts)
	})
}

// A listener that falls too far behind is closed; others get everything.
func TestSlowListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts, ln := servePipes(t, Config{})
		slow, soft := ln.dial(), ln.dial()
		for _, c := range []net.Conn{slow, soft} {
			go io.WriteString(c, "SUBSCRIBE c\r\n")
			expect(t, c, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
		}
		message := func(n int) []fsm.Event {
			return []fsm.Event{{Kind: fsm.Published, Name: "publish", Key: "c", Payload: strings.Repeat("m", n)}}
		}
		// Over the soft limit for a minute.
		ts.Events(message(1))
		synctest.Wait()
		ts.Events(message(UnreadSoftMax + 1))
		for range 50 {
			ts.Events(message(1))
			time.Sleep(time.Second)
		}
		if len(ts.hub.audience()) != 2 {
			t.Error("closed before the minute was over")
		}
		time.Sleep(11 * time.Second)
		ts.Events(message(1))
		synctest.Wait()
		if n := len(ts.hub.audience()); n != 0 {
			t.Errorf("%d listeners are left after a minute over the soft limit", n)
		}
		// Over the hard limit at once.
		hard := ln.dial()
		go io.WriteString(hard, "SUBSCRIBE c\r\n")
		expect(t, hard, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
		ts.Events(message(1))
		synctest.Wait()
		ts.Events(message(UnreadMax))
		synctest.Wait()
		if n := len(ts.hub.audience()); n != 0 {
			t.Errorf("%d listeners are left over the hard limit", n)
		}
		stop(t, ts)
	})
}

func TestMaxClients(t *testing.T) {
	ts := serveFake(t, Config{MaxClients: 2})
	a, b := dial(t, ts.addr), dial(t, ts.addr)
	a.want("PING", "+PONG\r\n")
	b.want("PING", "+PONG\r\n")
	for range 3 {
		if got := dial(t, ts.addr).closed(); got != "-ERR max number of clients reached\r\n" {
			t.Errorf("the third client was told %q", got)
		}
	}
	b.want("QUIT", "+OK\r\n")
	b.closed()
	eventually(t, func() bool { return ts.connected() == 1 })
	dial(t, ts.addr).want("PING", "+PONG\r\n")
}

// Connections of all ports and of the unix socket count together.
func TestMaxClientsCountsAllPorts(t *testing.T) {
	ts := serveFake(t, Config{MaxClients: 3})
	path := filepath.Join(t.TempDir(), "s.sock")
	ln, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	go ts.Serve(ln, fsm.SharedSpace)
	at := []struct{ network, addr string }{{"tcp", ts.addr}, {"tcp", ts.listen(t, 1)}, {"unix", path}}
	for _, want := range []string{"+PONG\r\n", "-ERR max number of clients reached\r\n"} {
		for _, a := range at {
			c, err := net.Dial(a.network, a.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(10 * time.Second))
			io.WriteString(c, "PING\r\n")
			expect(t, c, want)
		}
	}
}

// eventually polls a condition that becomes true soon.
func eventually(t *testing.T, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatal("it did not come true in 10 s")
		}
		<-tick.C
	}
}

// Unfinished commands take what has come, not what was announced, and all
// connections together are bounded.
func TestUnfinishedCommandsAreBounded(t *testing.T) {
	ts := serveFake(t, Config{})
	for range 20 {
		p := dial(t, ts.addr)
		p.write("*2\r\n$4\r\nECHO\r\n$500000000\r\nabc")
	}
	p := dial(t, ts.addr)
	p.write("*2\r\n$4\r\nECHO\r\n$10000000\r\n" + strings.Repeat("x", 1<<20))
	eventually(t, func() bool { return ts.inputHeld.Load() >= 1<<20-ReadBufferKept })
	if held := ts.inputHeld.Load(); held > 4<<20 {
		t.Errorf("%d bytes are held", held)
	}
	p.c.Close()
	eventually(t, func() bool { return ts.inputHeld.Load() == 0 })
	ts.inputHeld.Store(InputBytesMax)
	q := dial(t, ts.addr)
	q.write("*2\r\n$4\r\nECHO\r\n$10000000\r\n" + strings.Repeat("x", 1<<18))
	if got := q.closed(); !strings.Contains(got, "too many unfinished commands") {
		t.Errorf("beyond the bound the client was told %q", got)
	}
	ts.inputHeld.Store(0)
}

// A connection that was given a large command, and had a large reply, keeps
// neither once it is idle.
func TestIdleConnectionsKeepLittle(t *testing.T) {
	ts := serveFake(t, Config{})
	heap := func() int64 {
		runtime.GC()
		used, _ := memoryUsed()
		return int64(used)
	}
	before := heap()
	const size = 1 << 20
	for range 100 {
		p := dial(t, ts.addr)
		p.write(fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\nGET k\r\n", size, strings.Repeat("x", size)))
		p.read()
		p.read()
		p.br = nil
	}
	eventually(t, func() bool { return ts.inputHeld.Load() == 0 })
	if grown := heap() - before; grown > 20*size {
		t.Errorf("100 idle connections hold %d MiB", grown>>20)
	}
}

// A command over the limit is read past and refused; the connection goes on.
func TestCommandTooLong(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	go func() {
		fmt.Fprintf(p.c, "PING\r\n*2\r\n$4\r\nECHO\r\n$%d\r\n", fsm.CommandMax+1)
		io.Copy(p.c, io.LimitReader(zeros{}, fsm.CommandMax+1))
		io.WriteString(p.c, "\r\nECHO after\r\n")
	}()
	for _, want := range []string{"+PONG\r\n", "-" + refusedBytes + "\r\n", "$5\r\nafter\r\n"} {
		if got := p.read(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if held := ts.inputHeld.Load(); held > 1<<20 {
		t.Errorf("%d bytes are held for a command that was refused", held)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// Shutdown answers what was read and closes; who comes later finds nobody.
func TestShutdownAnswersWhatIsInFlight(t *testing.T) {
	ts := serveFake(t, Config{})
	entered, release := make(chan struct{}), make(chan struct{})
	ts.fake.before = func([]fsm.Command) {
		close(entered)
		<-release
	}
	p, idle := dial(t, ts.addr), dial(t, ts.addr)
	idle.want("PING", "+PONG\r\n")
	p.write("SET k v\r\n")
	<-entered
	down := make(chan error, 1)
	go func() { down <- ts.Shutdown(context.Background()) }()
	idle.closed()
	close(release)
	if got := p.closed(); got != "+OK\r\n" {
		t.Errorf("in flight was answered with %q", got)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", ts.addr); err == nil {
		t.Error("the port still accepts")
	}
}

// A Shutdown that may not wait gives up what hangs: its client is told if the
// backend notices, and is not waited for if it doesn't.
func TestShutdownDoesNotHang(t *testing.T) {
	ts := serveFake(t, Config{})
	entered, release := make(chan struct{}, 2), make(chan struct{})
	defer close(release)
	ts.fake.before = func(cmds []fsm.Command) {
		entered <- struct{}{}
		if cmds[0].Args[0] == "get" {
			<-ts.ctx.Done()
		} else {
			<-release
		}
	}
	p, q := dial(t, ts.addr), dial(t, ts.addr)
	p.write("SET k v\r\n")
	q.write("GET k\r\n")
	<-entered
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := ts.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("shutdown:", err)
	}
	if got := p.closed(); got != "" {
		t.Errorf("a command without an answer was answered %q", got)
	}
	if got := q.closed(); got != "-"+errClosed.Str+"\r\n" {
		t.Errorf("a command that was given up was answered %q", got)
	}
}

// Clients come over IPv6 and a unix socket, too; a socket's file that a dead
// process left is replaced, one that is served is not.
func TestListen(t *testing.T) {
	ts := serveFake(t, Config{})
	path := filepath.Join(t.TempDir(), "s.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	for _, addr := range []string{"unix:" + path, "[::1]:0"} {
		ln, err := Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		go ts.Serve(ln, fsm.SharedSpace)
		c, err := net.Dial(ln.Addr().Network(), ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(10 * time.Second))
		io.WriteString(c, "PING\r\n")
		expect(t, c, "+PONG\r\n")
	}
	if _, err := Listen("unix:" + path); err == nil {
		t.Error("a socket that is served was taken over")
	}
}

// What connections make the node keep is bounded for each and for all, and is
// given back (promises 8 and 10).
func TestHeldIsBounded(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	long := strings.Repeat("k", 1<<20)
	tooMuch := "-" + errHeldTooMuch.Str + "\r\n"
	bulk := func(args ...string) string {
		w := writer{proto: 2}
		w.header('*', len(args))
		for _, a := range args {
			w.buf = appendBulk(w.buf, a)
		}
		return string(w.buf)
	}
	full := func(what string, do func(i int) string) {
		t.Helper()
		for i := range 20 {
			p.write(do(i))
			if got := p.read(); got == tooMuch {
				if i < 14 {
					t.Errorf("%s: refused after %d MiB", what, i)
				}
				return
			}
		}
		t.Errorf("%s: never refused", what)
	}
	empty := func(what string) {
		t.Helper()
		p.want("PING", "+PONG\r\n")
		if held := ts.inputHeld.Load(); held != 0 {
			t.Errorf("%s: %d bytes are held", what, held)
		}
	}
	p.do("MULTI")
	full("MULTI", func(int) string { return bulk("GET", long) })
	p.want("EXEC", "-EXECABORT Transaction discarded because of previous errors.\r\n")
	empty("after EXEC")
	full("WATCH", func(i int) string { return bulk("WATCH", fmt.Sprint(i, long[2:])) })
	p.want("UNWATCH", "+OK\r\n")
	empty("after UNWATCH")
	full("SUBSCRIBE", func(i int) string { return bulk("SUBSCRIBE", fmt.Sprint(i, long[2:])) })
	for i := range 3 {
		p.write(bulk("SUBSCRIBE", fmt.Sprint(i, long[2:]))) // listened to already
		p.read()
	}
	p.want("RESET", "+RESET\r\n")
	empty("after RESET")
	ts.inputHeld.Store(InputBytesMax)
	p.do("MULTI")
	p.want("GET k", tooMuch)
	p.c.Close()
	eventually(t, func() bool { return ts.connected() == 0 })
	if held := ts.inputHeld.Load(); held != InputBytesMax {
		t.Errorf("%d bytes are not given back", held-InputBytesMax)
	}
	ts.inputHeld.Store(0)
	q := dial(t, ts.addr)
	q.write(bulk("CLIENT", "SETNAME", long))
	if got := q.read(); got != "-"+errNameTooLong.Str+"\r\n" {
		t.Errorf("a name of a megabyte: %.100q", got)
	}
}
