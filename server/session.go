package server

import (
	"bytes"
	"errors"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/redlockcompat"
	"github.com/redfence/redfence/server/replica"
)

// session is one client's connection. Its own goroutine (serve) reads, executes
// and answers; other goroutines only push messages into out, look at what mu
// guards, and end it.
type session struct {
	mu sync.Mutex // guards what CLIENT LIST of another session reads; only the own goroutine writes
	shown
	blocked blockedState

	server *Server
	id     int64
	space  uint8
	addr   string
	local  string
	since  time.Time
	link   link
	out    *outbox
	proto  atomic.Int32 // 2 or 3; publishers read it
	active atomic.Int64 // unix nanoseconds of the last command
	last   atomic.Pointer[fsm.Spec]

	authenticated bool
	quiet         bool            // CLIENT REPLY OFF
	skipping      bool            // CLIENT REPLY SKIP came before the command at hand
	skipNext      bool            // it is the command at hand
	held          int             // bytes that the node keeps for the connection
	undebugged    bool            // SCRIPT DEBUG was refused: so is the next script
	inExec        bool            // the edge's share of a transaction is being executed
	closing       bool            // after the replies that are due
	pumping       bool            // out.pump runs
	pushed        bool            // replies to what is being executed are in out
	wrote         map[string]bool // while it tracks: keys that the run may write, "" also for all
	track         *trackMode
	caching       string // "yes" or "no" after CLIENT CACHING
	tx            transaction
	subs          subscriptions
	run           run
	replies       *replica.Share // what the replies at hand take, until they are written
	client        fsm.Client     // how the machine sees the connection
	w             writer
}

// shown is what one session sees of another.
type shown struct {
	name       string
	libName    string
	libVersion string
	db         uint8
	channels   int
	patterns   int
	shards     int
	queued     int // commands of a MULTI, -1 outside of one
	tracking   bool
	noEvict    bool
	noTouch    bool
}

func newSession(s *Server, conn net.Conn, space uint8) *session {
	now := time.Now()
	c := &session{
		server: s, id: s.lastID.Add(1), space: space, since: now,
		addr: addressOf(conn.RemoteAddr(), conn.LocalAddr()), local: addressOf(conn.LocalAddr(), conn.LocalAddr()),
		out: newOutbox(conn, &s.stats.outputBytes, &s.outputHeld), replies: s.backend.Replies().Share(),
	}
	c.out.pressed = s.backend.Replies().Full
	c.link = link{
		conn: conn, shared: &s.inputHeld, input: &s.stats.inputBytes,
		idle: c.idleTime, stop: s.closing.Load,
	}
	c.w = writer{send: c.out.send}
	c.active.Store(now.UnixNano())
	c.blocked.woken = make(chan struct{}, 1)
	c.begin()
	c.renamed()
	return c
}

// begin sets what a connection begins with, and RESET goes back to.
func (c *session) begin() {
	c.proto.Store(2)
	c.w.proto = 2
	c.setAuthenticated(c.server.cfg.Password == "")
	c.letGo(c.tx.bytes + c.tx.watchedBytes)
	c.tx = transaction{}
	c.stopTracking()
	c.quiet, c.skipping, c.skipNext, c.undebugged = false, false, false, false
	c.mu.Lock()
	c.name, c.db, c.queued, c.noEvict, c.noTouch = "", 0, -1, false, false
	c.mu.Unlock()
}

func (c *session) setAuthenticated(yes bool) {
	c.authenticated = yes
	c.link.frame.authenticated = yes
}

// addressOf is how an end of a connection is shown. The far end of a unix
// socket has no address: the near one is shown with port 0, as Redis does.
func addressOf(a, local net.Addr) string {
	if a.Network() == "unix" {
		return local.String() + ":0"
	}
	return a.String()
}

// idleTime is how long the next read may wait. Who listens to channels may be silent for ever.
func (c *session) idleTime() time.Duration {
	if c.subs.count() > 0 {
		return 0
	}
	return c.server.settings.idleTimeout()
}

// serve runs the connection until it ends.
func (c *session) serve() {
	defer c.end()
	var reqs []request
	for !c.closing {
		var err error
		reqs, err = c.link.next(reqs[:0])
		if err != nil {
			c.farewell(err)
			return
		}
		c.execute(reqs)
		clear(reqs)
		if cap(reqs) > 1024 {
			reqs = nil
		}
	}
}

// execute runs what was read at once and answers it in order, with one write
// where it fits into one.
func (c *session) execute(reqs []request) {
	c.active.Store(time.Now().UnixNano())
	c.run.read = c.server.lately()
	for i := range reqs {
		if c.closing {
			break
		}
		c.one(&reqs[i])
	}
	c.settle()
	c.flush()
	if c.track != nil {
		c.server.trackers.release(c)
		clear(c.wrote)
	}
}

// flush writes the replies that are gathered and waits for those that are in out.
func (c *session) flush() {
	err := c.w.flush()
	if c.pushed && err == nil {
		c.pushed = false
		err = c.out.send(nil)
	}
	if err != nil {
		c.closing = true
	}
}

// farewell tells a client why its connection ends, if it should be told.
func (c *session) farewell(err error) {
	var wrong protocolError
	if !errors.As(err, &wrong) {
		return
	}
	c.server.stats.protocolErrors.Add(1)
	c.w.raw(appendError(nil, "ERR "+wrong.Error()))
	c.w.flush()
}

// end frees what the connection held. A bug of ours ends one connection, not the node.
func (c *session) end() {
	if r := recover(); r != nil {
		c.server.log.Error("a connection ended in a bug", "client", c.addr, "panic", r, "stack", string(debug.Stack()))
	}
	c.server.hub.leave(c)
	c.stopTracking()
	c.out.close()
	c.link.close()
	c.replies.Release()
	if c.run.walks != nil {
		c.run.walks()
	}
	c.letGo(c.held)
	c.server.forget(c)
}

// hold counts n more bytes that the node keeps for the connection, or answers
// false if that would be too much.
func (c *session) hold(n int) bool {
	if c.held+n > HeldMax || c.server.inputHeld.Load()+int64(n) > InputBytesMax {
		return false
	}
	c.held += n
	c.server.inputHeld.Add(int64(n))
	return true
}

// letGo is the opposite of hold.
func (c *session) letGo(n int) {
	c.held -= n
	c.server.inputHeld.Add(-int64(n))
}

// kill ends the connection from another goroutine.
func (c *session) kill() {
	c.out.close()
	c.wake()
}

// renamed remembers how the machine and the other nodes see the connection.
func (c *session) renamed() {
	c.client = fsm.Client{Name: cutText(c.name), Addr: cutText(c.addr), Library: cutText(c.library()), Node: c.server.cfg.NodeID}
}

// library is the library's name and version as the client told them.
func (c *session) library() string {
	if c.libName == "" || c.libVersion == "" {
		return c.libName + c.libVersion
	}
	return c.libName + "/" + c.libVersion
}

func cutText(s string) string { return s[:min(len(s), fsm.ClientTextMax)] }

// setShown changes what other sessions see.
func (c *session) setShown(change func(*shown)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.shown)
}

// describe is the connection's line in CLIENT LIST and CLIENT INFO.
func (c *session) describe() string {
	c.mu.Lock()
	s, waits := c.shown, c.blocked.waits
	c.mu.Unlock()
	flags := ""
	for _, f := range []struct {
		set    bool
		letter string
	}{
		{s.channels+s.patterns+s.shards > 0, "P"}, {waits, "b"}, {s.queued >= 0, "x"}, {s.tracking, "t"}, {s.noEvict, "e"}, {s.noTouch, "T"},
	} {
		if f.set {
			flags += f.letter
		}
	}
	if flags == "" {
		flags = "N"
	}
	cmd := "NULL"
	if spec := c.last.Load(); spec != nil {
		cmd = spec.Name
	}
	now := time.Now()
	var b bytes.Buffer
	field := func(name, value string) { b.WriteString(" " + name + "=" + value) }
	number := func(name string, n int64) { field(name, strconv.FormatInt(n, 10)) }
	b.WriteString("id=" + strconv.FormatInt(c.id, 10))
	field("addr", c.addr)
	field("laddr", c.local)
	number("fd", -1)
	field("name", s.name)
	number("age", int64(now.Sub(c.since).Seconds()))
	number("idle", int64(now.Sub(time.Unix(0, c.active.Load())).Seconds()))
	field("flags", flags)
	number("db", int64(s.db))
	number("sub", int64(s.channels))
	number("psub", int64(s.patterns))
	number("ssub", int64(s.shards))
	number("multi", int64(s.queued))
	number("omem", int64(c.out.unread()))
	field("cmd", cmd)
	field("user", "default")
	number("redir", -1)
	number("resp", int64(c.proto.Load()))
	field("lib-name", s.libName)
	field("lib-ver", s.libVersion)
	field("port", strings.ReplaceAll(redlockcompat.PortName(c.space), " ", ""))
	return b.String()
}
