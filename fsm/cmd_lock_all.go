package fsm

import "github.com/redfence/redfence/fsm/reply"

var lockAllRows = []Spec{
	{
		Name: "lock.acquireall", Arity: -5, Flags: Write | DenyOOM | MovableKeys, Where: Machine,
		Group: "lock", Since: "redfence", Args: "owner ttl-ms numnames name [name ...] [WAIT 0]",
		Summary: "Takes several locks at once, all or none: their fencing tokens and the lease, null if others hold one", run: runLockAcquireAll,
	},
}

func runLockAcquireAll(c *call) reply.Value {
	owner := c.args[1]
	n, ok := ParseInt(c.args[3])
	if !ok {
		return errNotInteger
	}
	if n < 1 || n > LockNamesMax || n > int64(len(c.args)-4) {
		return errLockNames
	}
	names, rest := c.args[4:4+n], c.args[4+n:]
	if len(rest) > 0 && (len(rest) != 2 || !is(rest[0], "wait") || rest[1] != "0") {
		return errSyntax
	}
	if bad := c.lockNames(owner, names...); bad.IsError() {
		return bad
	}
	ttl, bad := c.lockMillis(c.args[2])
	if bad.IsError() {
		return bad
	}
	return c.acquireAll(owner, ttl, names)
}

// acquireAll takes the locks one after the other, in one entry: when one is not to
// be had, those taken before it are as they were.
func (c *call) acquireAll(owner string, ttl int64, names []string) reply.Value {
	start := c.s.mark()
	tokens, end := make([]reply.Value, len(names)), int64(never)
	for i, name := range names {
		a := acquisition{name: name, owner: owner, ttl: ttl, delay: -1, deadline: c.s.clock.deadlineAfter(ttl)}
		r, bad := c.acquire(&a)
		if bad.IsError() || r == nil {
			c.s.undoTo(start)
			if bad.IsError() {
				return bad
			}
			return reply.NullArray
		}
		tokens[i] = reply.Integer(int64(r.token))
		end = min(end, c.s.endOf(r))
	}
	return reply.List(reply.List(tokens...), reply.Integer(c.answered(end)))
}
