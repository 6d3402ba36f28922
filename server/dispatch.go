package server

import (
	"strings"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// handler executes a command of the edge. It must not keep args beyond the
// connection. It runs on the connection's goroutine.
type handler func(c *session, args []string) reply.Value

// one takes one command of what was read: it answers it, queues it in a MULTI,
// or adds it to the run that goes to the machine. The order of the checks is
// Redis's, since clients see which error comes first.
func (c *session) one(req *request) {
	c.skipping, c.skipNext = c.skipNext, false
	if req.refusal != "" {
		c.reject(nil, reply.Err(req.refusal))
		return
	}
	args := req.args
	if attack(args[0]) {
		c.server.warnAttack(c)
		c.closing = true
		return
	}
	spec, refusal := resolve(args)
	if spec == nil {
		c.noteDebug(args)
		c.reject(fsm.Find(strings.ToLower(args[0])), refusal)
		return
	}
	c.last.Store(spec)
	if v, refused := c.forbidden(spec); refused {
		c.server.stats.of(spec).rejected.Add(1)
		c.reject(spec, v)
		return
	}
	args[0] = baseName(spec)
	if args[0] != "client" {
		defer c.endCaching()
	}
	if c.tx.open && !unqueued[spec.Name] {
		c.queue(spec, args)
		return
	}
	c.server.stats.of(spec).calls.Add(1)
	if spec.Where == fsm.Machine {
		c.submit(spec, args)
		return
	}
	start := time.Now()
	v := c.atEdge(spec, args)
	took := time.Since(start)
	if spec.Name != "exec" { // its run counts itself
		c.server.stats.of(spec).ran(took)
	}
	if !neverSlow[spec.Name] {
		c.server.slow.note(c, args, took)
	}
	if v.IsError() {
		c.server.stats.of(spec).failed.Add(1)
	}
	c.answer(v)
}

// endCaching ends what CLIENT CACHING said, which is for one command or one MULTI.
func (c *session) endCaching() {
	if !c.tx.open {
		c.caching = ""
	}
}

// forbidden says why the connection may not execute a command at this moment.
func (c *session) forbidden(spec *fsm.Spec) (reply.Value, bool) {
	switch {
	case !c.authenticated && !spec.Has(fsm.NoAuth):
		return errNoAuth, true
	case c.tx.open && spec.Has(fsm.NoMulti):
		return errNotInMulti, true
	case c.subs.count() > 0 && c.w.proto == 2 && !(spec.Where == fsm.Edge && spec.Has(fsm.PubSub)):
		return reply.Err("ERR Can't execute '" + spec.Name + "': only (P|S)SUBSCRIBE / " +
			"(P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"), true
	case c.undebuggable(spec):
		return errNotDebugged, true
	case !spec.Has(fsm.Loading) && c.server.backend.Loading():
		return errLoading, true
	}
	return reply.Value{}, false
}

// reject answers a command that was not executed. One that was meant for a
// MULTI makes its EXEC fail.
func (c *session) reject(spec *fsm.Spec, v reply.Value) {
	if c.tx.open {
		c.tx.broken = true
	}
	if spec != nil && spec.Name == "exec" {
		c.leaveTransaction()
		v = reply.Err("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(v.Str, "ERR "))
	}
	c.answer(v)
}

// attack recognises HTTP: a browser that was made to talk to this port must not
// get a command through in a request's body.
func attack(name string) bool {
	return strings.EqualFold(name, "post") || strings.EqualFold(name, "host:")
}

// baseName is the name by which the machine knows a row's command.
func baseName(spec *fsm.Spec) string {
	name, _, _ := strings.Cut(spec.Name, "|")
	return name
}
