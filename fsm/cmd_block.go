package fsm

import (
	"math/big"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that wait until a list or a sorted set has something. Each says what
// it wants in one place (Spec.want), for when it arrives and for when it is served.

var (
	errTimeoutFloat    = reply.Err("ERR timeout is not a float or out of range")
	errTimeoutNegative = reply.Err("ERR timeout is negative")
)

// runBlocking serves a blocking command at once, or makes it wait, or answers
// what there is to say where nothing may wait: in a MULTI and in a script.
func runBlocking(c *call) reply.Value {
	w, bad := c.spec.want(c.args)
	if bad.IsError() {
		return bad
	}
	for _, key := range w.keys {
		c.visit(1)
		r := c.own(key)
		switch {
		case r == nil && c.refusedByOther(key):
			return c.held
		case r == nil:
		case r.kind != w.kind:
			return errWrongType
		case c.mayWait() && c.s.waiters.queues[queueID{place{c.db.order, key}, w.kind}] != nil:
			// It is theirs who came before and whom an entry had no room to serve.
		default:
			return w.take(c, key)
		}
	}
	switch {
	case c.mayWait():
		return c.waitFor(w)
	case c.spec.Name == "blmove" || c.spec.Name == "brpoplpush":
		return reply.Null
	}
	return reply.NullArray
}

// mayWait says whether the command may wait: not in a MULTI or a script.
func (c *call) mayWait() bool { return c.ticket != 0 && c.origin != nil }

// runUnwait ends a wait of the batch's origin: 1 if nothing served it before.
func runUnwait(c *call) reply.Value {
	ticket, ok := ParseInt(c.args[1])
	if !ok || c.origin == nil {
		return errNotInteger
	}
	w, waits := c.origin.waiting.Get(uint64(ticket))
	if waits {
		c.s.unwait(w)
	}
	return reply.Truth(waits)
}

// Timeout is after how many milliseconds a blocking command ends that Resolve
// found right and that began to wait; 0 is never.
func Timeout(args []string) int64 {
	at, name := len(args)-1, lower(args[0])
	if name == "lock.acquire" || name == "lock.acquireall" {
		return lockWait(name, args)
	}
	if name == "blmpop" || name == "bzmpop" {
		at = 1
	}
	millis, _ := parseTimeout(args[at])
	return millis
}

// parseTimeout reads seconds with a fraction; what begins a millisecond counts as
// one. A time that Redis's number of milliseconds can't hold comes out negative there.
func parseTimeout(text string) (millis int64, bad reply.Value) {
	f, ok := parseLongDouble(text)
	if !ok {
		return 0, errTimeoutFloat
	}
	if f.IsInf() {
		return 0, errTimeoutNegative
	}
	f.Mul(f, new(big.Float).SetPrec(longDoublePrec).SetInt64(1000))
	millis, accuracy := f.Int64()
	if accuracy == big.Below && f.Cmp(big.NewFloat(1<<63)) < 0 { // it was cut, not too large
		millis++
	}
	if millis < 0 || f.Cmp(big.NewFloat(1<<63)) >= 0 {
		return 0, errTimeoutNegative
	}
	return millis, bad
}

// wantPop wants one text from an end of the first of several lists.
func wantPop(at end) func([]string) (want, reply.Value) {
	return func(args []string) (w want, bad reply.Value) {
		last := len(args) - 1
		if _, bad = parseTimeout(args[last]); bad.IsError() {
			return w, bad
		}
		return want{keys: args[1:last], kind: listKind, take: func(c *call, key string) reply.Value {
			e, old, bad := editable[*list](c, key)
			if bad.IsError() {
				return bad
			}
			return reply.List(reply.String(key), c.popFrom(e, old, at, 1)[0])
		}}, bad
	}
}

// wantMultiPop wants what LMPOP would take.
func wantMultiPop(args []string) (w want, bad reply.Value) {
	keys, rest, bad := numberedKeys(args, 2)
	if bad.IsError() {
		return w, bad
	}
	if len(rest) == 0 {
		return w, errSyntax
	}
	at, bad := parseEnd(rest[0])
	if bad.IsError() {
		return w, bad
	}
	count, bad := popCount(rest[1:])
	if bad.IsError() {
		return w, bad
	}
	_, bad = parseTimeout(args[1])
	return want{keys: keys, kind: listKind, take: func(c *call, key string) reply.Value {
		e, old, bad := editable[*list](c, key)
		if bad.IsError() {
			return bad
		}
		return reply.List(reply.String(key), reply.List(c.popFrom(e, old, at, count)...))
	}}, bad
}

// wantMove wants what LMOVE would take.
func wantMove(args []string) (w want, bad reply.Value) {
	from, bad := parseEnd(args[3])
	if bad.IsError() {
		return w, bad
	}
	to, bad := parseEnd(args[4])
	if bad.IsError() {
		return w, bad
	}
	return moveWanted(args, from, to)
}

func wantPopPush(args []string) (want, reply.Value) { return moveWanted(args, tail, head) }

func moveWanted(args []string, from, to end) (want, reply.Value) {
	_, bad := parseTimeout(args[len(args)-1])
	return want{keys: args[1:2], kind: listKind, take: func(c *call, _ string) reply.Value {
		return c.moveBetween(from, to)
	}}, bad
}

// wantScored wants one member from an end of the first of several sorted sets.
func wantScored(highest bool) func([]string) (want, reply.Value) {
	return func(args []string) (w want, bad reply.Value) {
		last := len(args) - 1
		if _, bad = parseTimeout(args[last]); bad.IsError() {
			return w, bad
		}
		return want{keys: args[1:last], kind: zsetKind, take: func(c *call, key string) reply.Value {
			e, old, bad := editable[*zset](c, key)
			if bad.IsError() {
				return bad
			}
			popped := c.scored(c.zpopFrom(e, old, highest, 1))
			return reply.List(append([]reply.Value{reply.String(key)}, popped...)...)
		}}, bad
	}
}

// wantMultiScored wants what ZMPOP would take.
func wantMultiScored(args []string) (w want, bad reply.Value) {
	keys, rest, bad := numberedKeys(args, 2)
	if bad.IsError() {
		return w, bad
	}
	if len(rest) == 0 || !is(rest[0], "min") && !is(rest[0], "max") {
		return w, errSyntax
	}
	count, bad := popCount(rest[1:])
	if bad.IsError() {
		return w, bad
	}
	_, bad = parseTimeout(args[1])
	return want{keys: keys, kind: zsetKind, take: func(c *call, key string) reply.Value {
		e, old, bad := editable[*zset](c, key)
		if bad.IsError() {
			return bad
		}
		return reply.List(reply.String(key), c.couples(c.zpopFrom(e, old, is(rest[0], "max"), count)))
	}}, bad
}
