package server

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// slowLog remembers the last commands of the edge that took long, and the last
// runs that did, from being sent to the machine to being answered. A run is shown
// by its first command, since its commands are answered together. It is safe for
// concurrent use.
type slowLog struct {
	mu      sync.Mutex
	entries []slowEntry // the newest first
	lastID  int64
}

type slowEntry struct {
	id   int64
	at   time.Time
	took time.Duration
	args []string
	addr string
	name string
}

func (l *slowLog) init() { l.lastID = -1 }

// neverSlow are the commands of the edge that the slow log leaves out.
var neverSlow = map[string]bool{
	"exec": true,                // its run is noted
	"auth": true, "hello": true, // they bring a password
	"wait": true, "waitaof": true, // they take long because they were told to
}

// note adds a command, or a run by its first command, if it was slow.
func (l *slowLog) note(c *session, args []string, took time.Duration) {
	limit := c.server.settings.slowMicros.Load()
	if limit < 0 || took.Microseconds() < limit {
		return
	}
	e := slowEntry{at: time.Now(), took: took, args: slowArgs(args), addr: c.addr, name: c.name}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	e.id = l.lastID
	keep := min(len(l.entries), max(0, int(c.server.settings.slowMax.Load())-1))
	l.entries = append([]slowEntry{e}, l.entries[:keep]...)
}

// slowArgs shortens a command as Redis does.
func slowArgs(args []string) []string {
	out := make([]string, 0, min(len(args), SlowLogArgsMax))
	for i, a := range args {
		if i == SlowLogArgsMax-1 && len(args) > SlowLogArgsMax {
			return append(out, fmt.Sprintf("... (%d more arguments)", len(args)-i))
		}
		if len(a) > SlowLogArgMax {
			a = fmt.Sprintf("%s... (%d more bytes)", a[:SlowLogArgMax], len(a)-SlowLogArgMax)
		}
		out = append(out, strings.Clone(a))
	}
	return out
}

func slowlogGet(c *session, args []string) reply.Value {
	count := int64(10)
	if len(args) > 3 {
		return subcommandSyntax(args)
	}
	if len(args) == 3 {
		n, ok := fsm.ParseInt(args[2])
		if !ok || n < -1 {
			return reply.Err("ERR count should be greater than or equal to -1")
		}
		count = n
	}
	l := &c.server.slow
	l.mu.Lock()
	defer l.mu.Unlock()
	if count < 0 || count > int64(len(l.entries)) {
		count = int64(len(l.entries))
	}
	out := make([]reply.Value, 0, count)
	for _, e := range l.entries[:count] {
		out = append(out, reply.List(
			reply.Integer(e.id), reply.Integer(e.at.Unix()), reply.Integer(e.took.Microseconds()),
			reply.Strings(e.args), reply.String(e.addr), reply.String(e.name)))
	}
	return reply.List(out...)
}

func slowlogLen(c *session, _ []string) reply.Value {
	l := &c.server.slow
	l.mu.Lock()
	defer l.mu.Unlock()
	return reply.Integer(int64(len(l.entries)))
}

func slowlogReset(c *session, _ []string) reply.Value {
	l := &c.server.slow
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
	return reply.OK
}
