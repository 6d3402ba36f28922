package server

import (
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

var (
	errWatchOnSeat = reply.Err("ERR native locks and sessions are of the shared port: a seat port stands for one of several masters")
	errWatchPlace  = reply.Err("ERR invalid place: AFTER takes the first word of the last message seen")
	errWatchMissed = reply.Err("ERR can't resume: this node does not know all events after that place; watch anew without AFTER, and read LOCK.LIST behind it")
	errWatchAhead  = reply.Err("TRYAGAIN this node has not come to that place yet")
)

// lockWatch is LOCK.WATCH: the pattern subscription of the channel that the
// events of the locks have, begun with the events after a place that the client
// has seen, or else with a message that tells the place at which it begins.
func lockWatch(c *session, args []string) reply.Value {
	if c.space != fsm.SharedSpace {
		return errWatchOnSeat
	}
	var seen *fsm.Place
	if len(args) > 2 {
		p, ok := parsePlace(args[len(args)-1])
		switch {
		case len(args) != 4 || !strings.EqualFold(args[2], "after"):
			return errSyntax
		case !ok:
			return errWatchPlace
		}
		seen = &p
	}
	return c.watchLocks(strings.Clone(lockChannel(c.db, args[1])), seen)
}

// watchLocks subscribes and tells what was missed in one step, so that nothing
// comes between.
func (c *session) watchLocks(pattern string, seen *fsm.Place) reply.Value {
	if !c.hold(entryBytes + len(pattern)) {
		return errHeldTooMuch
	}
	c.startPump()
	return c.changeSubscriptions(func() []reply.Value {
		h := &c.server.hub
		first, refusal := h.sinceWatched(c, pattern, seen)
		if c.subs.names[patternTopic][pattern] || refusal.IsError() {
			c.letGo(entryBytes + len(pattern))
		}
		if refusal.IsError() {
			return []reply.Value{refusal}
		}
		if c.subs.names[patternTopic] == nil {
			c.subs.names[patternTopic] = map[string]bool{}
		}
		c.subs.names[patternTopic][pattern] = true
		h.join(patternTopic, pattern, c)
		return append([]reply.Value{c.confirmation(patternTopic, "psubscribe", reply.String(pattern))}, first...)
	})
}

// sinceWatched are the first messages of a watcher, or why it can't resume.
func (h *hub) sinceWatched(c *session, pattern string, seen *fsm.Place) ([]reply.Value, reply.Value) {
	last := h.locks.last()
	if seen == nil {
		return []reply.Value{message("pmessage", pattern, lockChannel(c.db, ""), placeText(last)+" watch 0 ")}, reply.Value{}
	}
	if last.Before(*seen) && last != (fsm.Place{}) {
		return nil, errWatchAhead
	}
	events, ok := h.locks.after(*seen)
	if !ok {
		return nil, errWatchMissed
	}
	var missed []reply.Value
	for e := range events {
		channel := lockChannel(e.DB, e.Key)
		if concerns(pattern, e, channel) {
			missed = append(missed, message("pmessage", pattern, channel, lockMessage(e)))
		}
	}
	return missed, reply.Value{}
}
