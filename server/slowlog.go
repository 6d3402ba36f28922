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
	mu     sync.Mutex
	ring   [SlowLogMax]slowEntry // an entry is at its id modulo the length
	length int
	lastID int64
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
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	// Under load many runs are slow: the texts of the entry that goes are written over.
	e := l.at(0)
	e.id, e.at, e.took, e.addr, e.name = l.lastID, time.Now(), took, c.addr, c.name
	e.args = slowArgs(e.args[:0], args)
	l.length = min(l.length+1, max(1, int(c.server.settings.slowMax.Load())))
}

// at is the entry that is so many older than the newest. The lock is held.
func (l *slowLog) at(age int) *slowEntry {
	return &l.ring[(l.lastID-int64(age))%SlowLogMax]
}

// slowArgs appends a command to out, shortened as Redis does.
func slowArgs(out, args []string) []string {
	shown := args
	if len(args) > SlowLogArgsMax {
		shown = args[:SlowLogArgsMax-1]
	}
	for _, a := range shown {
		if len(a) > SlowLogArgMax {
			a = fmt.Sprintf("%s... (%d more bytes)", a[:SlowLogArgMax], len(a)-SlowLogArgMax)
		} else {
			a = strings.Clone(a) // it is a part of all that was read with it
		}
		out = append(out, a)
	}
	if len(args) > len(shown) {
		out = append(out, fmt.Sprintf("... (%d more arguments)", len(args)-len(shown)))
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
	if count < 0 || count > int64(l.length) {
		count = int64(l.length)
	}
	out := make([]reply.Value, 0, count)
	for i := range int(count) {
		e := l.at(i)
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
	return reply.Integer(int64(l.length))
}

func slowlogReset(c *session, _ []string) reply.Value {
	l := &c.server.slow
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring, l.length = [SlowLogMax]slowEntry{}, 0
	return reply.OK
}
