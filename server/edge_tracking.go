package server

import (
	"slices"
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// clientTracking turns the telling of changes on or off. What Redfence can't
// keep is refused, since a client that believes itself told and isn't reads
// stale locks: messages go out of band in RESP3 only, and the node doesn't know
// which connection of the cluster changed a key (NOLOOP).
func clientTracking(c *session, args []string) reply.Value {
	on, ok := onOff(args[2])
	if !ok {
		return errSyntax
	}
	mode, refusal := trackModeOf(args[3:])
	switch {
	case refusal.IsError():
		return refusal
	case !on:
		c.tellFirst()
		c.stopTracking()
		return reply.OK
	case c.w.proto != 3:
		return reply.Err("ERR CLIENT TRACKING needs RESP3: say HELLO 3 first")
	case c.track != nil && c.track.broadcast != mode.broadcast:
		return reply.Err("ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.")
	case c.track != nil && (c.track.optIn && mode.optOut || c.track.optOut && mode.optIn):
		return reply.Err("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.")
	}
	if refusal := c.joinPrefixes(&mode); refusal.IsError() {
		return refusal
	}
	c.settle()
	first := c.track == nil
	c.track, c.caching = &mode, ""
	c.server.trackers.turnOn(c, mode)
	c.setShown(func(s *shown) { s.tracking = true })
	c.startPump()
	if first {
		// Before the first read that could be told of.
		c.server.keyEvents.add(1)
		c.server.listening.add(1)
	}
	return reply.OK
}

func trackModeOf(args []string) (mode trackMode, refusal reply.Value) {
	for i := 0; i < len(args); i++ {
		switch strings.ToLower(args[i]) {
		case "bcast":
			mode.broadcast = true
		case "optin":
			mode.optIn = true
		case "optout":
			mode.optOut = true
		case "prefix":
			if i++; i == len(args) {
				return mode, errSyntax
			}
			mode.prefixes = append(mode.prefixes, strings.Clone(args[i]))
		case "noloop":
			return mode, reply.Err("ERR NOLOOP is not supported: a connection is told of its own changes, too")
		case "redirect":
			return mode, reply.Err("ERR REDIRECT is not supported: use RESP3")
		default:
			return mode, errSyntax
		}
	}
	switch {
	case len(mode.prefixes) > 0 && !mode.broadcast:
		return mode, reply.Err("ERR PREFIX option requires BCAST mode to be enabled")
	case mode.broadcast && (mode.optIn || mode.optOut):
		return mode, reply.Err("ERR OPTIN and OPTOUT are not compatible with BCAST")
	case mode.optIn && mode.optOut:
		return mode, reply.Err("ERR You can't specify both OPTIN mode and OPTOUT mode")
	}
	return mode, reply.Value{}
}

// tellFirst executes what came before and tells what it changed, before the
// connection is not told any more.
func (c *session) tellFirst() {
	c.settle()
	if c.track != nil {
		c.flush()
		c.server.trackers.release(c)
		c.pushed = true
	}
}

// stopTracking turns tracking off, if it is on.
func (c *session) stopTracking() {
	c.track, c.caching = nil, ""
	if c.server.trackers.turnOff(c) {
		c.setShown(func(s *shown) { s.tracking = false })
		c.server.keyEvents.add(-1)
		c.server.listening.add(-1)
	}
}

// clientCaching is YES or NO for the next command, a whole MULTI included.
func clientCaching(c *session, args []string) reply.Value {
	if c.track == nil {
		return reply.Err("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	}
	switch word := strings.ToLower(args[2]); {
	case word == "yes" && !c.track.optIn:
		return reply.Err("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	case word == "no" && !c.track.optOut:
		return reply.Err("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	case word != "yes" && word != "no":
		return errSyntax
	default:
		c.caching = word
		return reply.OK
	}
}

// trackKeys remembers what a command is about to read, if the client asked for
// that. A read behind a write of the key waits for it: what the write changes is
// told behind its reply, and only a key that is remembered after that is told of again.
func (c *session) trackKeys(spec *fsm.Spec, args []string) {
	if c.track == nil || c.track.broadcast || c.track.optIn && c.caching != "yes" || c.caching == "no" {
		return
	}
	if !spec.Has(fsm.Read) && !spec.Has(fsm.Script) {
		return
	}
	keys, _, refusal := keysOf(args)
	if refusal.IsError() || len(keys) == 0 {
		return
	}
	c.settleWritten(keys)
	c.server.trackers.remember(c, keys)
}

// settleWritten settles the run if it may write one of the keys.
func (c *session) settleWritten(keys []string) {
	if c.wrote[""] || slices.ContainsFunc(keys, func(key string) bool { return c.wrote[key] }) {
		c.settle()
		clear(c.wrote)
	}
}

// tellBehind makes the reply to a command bring what the connection is told of
// the command's own changes right behind it, as Redis does. What else it is told
// comes behind all replies. Two commands that may change a key which the client
// has are not in one run, since then it isn't known which of them did.
func (c *session) tellBehind(spec *fsm.Spec, queue []queued, after func(fsm.Answer) reply.Value) func(fsm.Answer) reply.Value {
	if c.track == nil || spec.Has(fsm.Read) && !spec.Has(fsm.Write) && !spec.Has(fsm.Script) {
		return after
	}
	keys, all := keysOfQueue(queue)
	if c.server.trackers.hold(c, keys) {
		c.settleWritten(keys)
	}
	if c.wrote == nil {
		c.wrote = map[string]bool{}
	}
	for _, key := range keys {
		c.wrote[key] = true
	}
	if all {
		c.wrote[""] = true
	}
	if c.quiet || c.skipping {
		return after
	}
	return func(got fsm.Answer) reply.Value {
		v := got.Value
		if after != nil {
			v = after(got)
		}
		if v.IsError() { // errors are counted by those who see them bare
			return v
		}
		told := c.server.trackers.take(c, keys, all)
		if len(told) == 0 {
			return v
		}
		return reply.Value{Kind: several, Elems: append([]reply.Value{v}, told...)}
	}
}

// keysOfQueue are the keys of commands, and whether one of them is about all keys.
func keysOfQueue(queue []queued) (keys []string, all bool) {
	for i := range queue {
		q := &queue[i]
		all = all || q.spec.Name == "flushall" || q.spec.Name == "flushdb"
		if own, _, refusal := keysOf(q.args); !refusal.IsError() {
			keys = append(keys, own...)
		}
	}
	return keys, all
}

func clientGetredir(c *session, _ []string) reply.Value {
	if c.track == nil {
		return reply.Integer(-1)
	}
	return reply.Integer(0)
}

func clientTrackinginfo(c *session, _ []string) reply.Value {
	flags := []string{"off"}
	redirect := int64(-1)
	var prefixes []string
	if c.track != nil {
		flags, redirect, prefixes = []string{"on"}, 0, c.track.prefixes
		for _, f := range []struct {
			set  bool
			word string
		}{
			{c.track.broadcast, "bcast"}, {c.track.optIn, "optin"}, {c.track.optOut, "optout"},
			{c.caching == "yes", "caching-yes"}, {c.caching == "no", "caching-no"},
		} {
			if f.set {
				flags = append(flags, f.word)
			}
		}
	}
	return reply.Pairs(
		reply.String("flags"), reply.Value{Kind: reply.Set, Elems: reply.Strings(flags).Elems},
		reply.String("redirect"), reply.Integer(redirect),
		reply.String("prefixes"), reply.Strings(prefixes),
	)
}
