package server

import (
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm"
)

// lockHistory is the last lock events of this node, in the order of the log, for
// those who watch locks and come back. The hub's lock guards it.
type lockHistory struct {
	events []fsm.Event // from first on, the oldest first; a ring once it is full
	first  int
	bytes  int
}

// cost is what an event is taken to cost in the history.
func cost(e *fsm.Event) int {
	return entryBytes + len(e.Key) + len(e.Owner) + len(e.Payload)
}

// add remembers an event, and forgets the oldest beyond the bounds.
func (h *lockHistory) add(e fsm.Event) {
	// The machine's texts are parts of a whole entry.
	e.Key, e.Owner, e.Payload = strings.Clone(e.Key), strings.Clone(e.Owner), strings.Clone(e.Payload)
	h.events = append(h.events, e)
	h.bytes += cost(&e)
	for len(h.events)-h.first > LockEventsKept || h.bytes > LockEventBytesMax && len(h.events)-h.first > 1 {
		h.bytes -= cost(&h.events[h.first])
		h.events[h.first] = fsm.Event{}
		h.first++
	}
	if h.first > LockEventsKept {
		h.events = append([]fsm.Event(nil), h.events[h.first:]...)
		h.first = 0
	}
}

// clear forgets all: events may be missing behind them.
func (h *lockHistory) clear() { *h = lockHistory{} }

// last is the place of the newest event, zero if none is known.
func (h *lockHistory) last() fsm.Place {
	if len(h.events) == h.first {
		return fsm.Place{}
	}
	return h.events[len(h.events)-1].Place
}

// after are the events behind a place that a watcher has seen. It answers false
// if some of them may be forgotten.
func (h *lockHistory) after(p fsm.Place) ([]fsm.Event, bool) {
	known := h.events[h.first:]
	if len(known) == 0 || p.Before(known[0].Place) {
		return nil, false
	}
	for i := range known {
		if p.Before(known[i].Place) {
			return known[i:], true
		}
	}
	return nil, true
}

// placeText is a place as clients see it, for LOCK.WATCH ... AFTER.
func placeText(p fsm.Place) string {
	return strconv.FormatUint(p.Index, 10) + "-" + strconv.FormatUint(p.Number, 10)
}

// parsePlace reads what placeText wrote.
func parsePlace(text string) (fsm.Place, bool) {
	index, number, ok := strings.Cut(text, "-")
	i, err1 := strconv.ParseUint(index, 10, 64)
	n, err2 := strconv.ParseUint(number, 10, 64)
	return fsm.Place{Index: i, Number: n}, ok && err1 == nil && err2 == nil
}

// lockChannel is the channel of a lock's events.
func lockChannel(db uint8, name string) string {
	return "__lock@" + strconv.Itoa(int(db)) + "__:" + name
}

// lockMessage is an event as it is told: its place, what happened, the fencing
// token or 0, and whose it was or who did it.
func lockMessage(e *fsm.Event) string {
	who := e.Owner
	if e.Payload != "" {
		who = e.Payload
	}
	return placeText(e.Place) + " " + e.Name + " " + strconv.FormatUint(e.Token, 10) + " " + who
}

// lockChanged takes the machine's word about a lock. That an operator broke one
// is logged where it was asked for.
func (s *Server) lockChanged(e *fsm.Event) {
	s.hub.tellOfLock(e)
	if e.Name == "break" && e.Node == s.cfg.NodeID {
		s.log.Warn("a lock was broken", "lock", e.Key, "database", e.DB, "by", e.Payload)
	}
}

// lockPrefix begins the channels of locks. A pattern that doesn't begin with it
// hears nothing of them: who listens to all channels didn't ask for all locks.
const lockPrefix = "__lock@"

// tellOfLock remembers an event and pushes it to all who listen. A flush of all
// names concerns whoever listens to one of them.
func (h *hub) tellOfLock(e *fsm.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.locks.add(*e)
	if len(h.lockTopics[channelTopic])+len(h.lockTopics[patternTopic]) == 0 {
		return
	}
	channel, text := lockChannel(e.DB, e.Key), lockMessage(e)
	for t, who := range h.lockTopics[patternTopic] {
		if t.space == e.Space && concerns(t.name, e, channel) {
			h.pushAll(who, message("pmessage", t.name, channel, text))
		}
	}
	if e.Name != "flush" {
		if who := h.lockTopics[channelTopic][topic{e.Space, channel}]; len(who) > 0 {
			h.pushAll(who, message("message", channel, text))
		}
		return
	}
	for t, who := range h.lockTopics[channelTopic] {
		if t.space == e.Space && strings.HasPrefix(t.name, channel) {
			h.pushAll(who, message("message", t.name, text))
		}
	}
}

// concerns says whether who listens to a pattern is told of an event.
func concerns(pattern string, e *fsm.Event, channel string) bool {
	return fsm.Match(pattern, channel) || e.Name == "flush" && strings.HasPrefix(pattern, channel)
}
