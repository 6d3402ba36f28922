package fsm

import (
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// Sessions: one lease over many locks, renewed by one command.

var sessionRows = []Spec{
	{
		Name: "session.open", Arity: -2, Flags: Write | DenyOOM | Fast, Where: Machine,
		Group: "lock", Since: "redfence", Args: "ttl-ms [NAME name]",
		Summary: "Opens a session, one lease for many locks, and answers its id", run: runSessionOpen,
	},
	{
		Name: "session.keepalive", Arity: 2, Flags: Write | Fast, Where: Machine,
		Group: "lock", Since: "redfence", Args: "id",
		Summary: "Makes a session's lease end its ttl from now: 1, or 0 if it has ended", run: runSessionKeepAlive,
	},
	{
		Name: "session.close", Arity: 2, Flags: Write, Where: Machine,
		Group: "lock", Since: "redfence", Args: "id",
		Summary: "Ends a session and releases its locks, all at once: 1, or 0 if it has ended", run: runSessionClose,
	},
	{
		Name: "session.list", Arity: -1, Flags: Read, Where: Machine,
		Group: "lock", Since: "redfence", Args: "[COUNT n] [CURSOR c]",
		Summary: "The sessions that are open: a cursor, \"0\" at the end, and a map for each", run: runSessionList,
	},
}

// session finds a session that a client names, if its lease runs.
func (c *call) session(text string) (*session, reply.Value) {
	id, ok := ParseInt(text)
	if !ok || id < 0 {
		return nil, errNotInteger
	}
	x := c.s.sessions.live(uint64(id), c.s.clock.now)
	if x == nil {
		return nil, errNoSession
	}
	return x, reply.Value{}
}

func runSessionOpen(c *call) reply.Value {
	name := ""
	switch {
	case c.db.space != SharedSpace:
		return errLockOnSeat
	case len(c.args) == 4 && is(c.args[2], "name"):
		name = c.args[3]
	case len(c.args) != 2:
		return errSyntax
	}
	ttl, bad := c.lockMillis(c.args[1])
	switch {
	case bad.IsError():
		return bad
	case len(name) > NoteMax:
		return errSessionName
	case c.s.sessions.byID.Len() >= SessionsMax:
		return errSessionsMax
	}
	c.s.tokens++
	c.s.putSession(nil, &session{
		id: c.s.tokens, name: strings.Clone(name), ttl: ttl * 1000, deadline: c.s.clock.deadlineAfter(ttl),
		since: c.s.clock.now, holder: c.s.holderOf(c.client),
	})
	return reply.Integer(int64(c.s.tokens))
}

func runSessionKeepAlive(c *call) reply.Value {
	x, bad := c.session(c.args[1])
	switch {
	case c.db.space != SharedSpace:
		return errLockOnSeat
	case bad.IsError():
		return noSession(bad)
	}
	fresh := *x
	fresh.deadline = c.s.clock.deadlineAfter(x.ttl / 1000)
	c.s.putSession(x, &fresh)
	return reply.Integer(1)
}

func runSessionClose(c *call) reply.Value {
	x, bad := c.session(c.args[1])
	switch {
	case c.db.space != SharedSpace:
		return errLockOnSeat
	case bad.IsError():
		return noSession(bad)
	}
	c.visit(c.s.endSession(x, false))
	return reply.Integer(1)
}

// noSession is the answer for a session that has ended: 0, where a word that is
// no id is an error.
func noSession(bad reply.Value) reply.Value {
	if bad.Str == errNoSession.Str {
		return reply.Integer(0)
	}
	return bad
}

func runSessionList(c *call) reply.Value {
	p, bad := parsePage(c.args[1:], false)
	if bad.IsError() {
		return bad
	}
	after := int64(0)
	if p.cursor != "" {
		var ok bool
		if after, ok = ParseInt(p.cursor); !ok || after < 0 {
			return errCursor
		}
	}
	next, list, seen := "0", []reply.Value{}, int64(0)
	c.s.sessions.byID.Ascend(uint64(after)+1, func(id uint64, x *session) bool {
		if seen == p.count {
			next = strconv.FormatUint(id-1, 10)
			return false
		}
		seen++
		c.visit(1)
		if x.deadline > c.s.clock.now {
			list = append(list, c.sessionInfo(x))
		}
		return !c.exhausted()
	})
	return reply.List(reply.String(next), reply.List(list...))
}

func (c *call) sessionInfo(x *session) reply.Value {
	return reply.Pairs(append([]reply.Value{
		reply.String("id"), reply.Integer(int64(x.id)),
		reply.String("name"), reply.String(x.name),
		reply.String("ttl-ms"), reply.Integer(x.ttl / 1000),
		reply.String("pttl"), reply.Integer(leftMillis(x.deadline, c.now)),
		reply.String("open-ms"), reply.Integer((c.now - x.since) / 1000),
		reply.String("locks"), reply.Integer(int64(x.locks)),
	}, holderInfo(x.holder)...)...)
}
