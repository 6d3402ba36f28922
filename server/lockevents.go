package server

import (
	"iter"
	"sort"
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm"
)

// lockHistory is the last lock events of this node, in the order of the log, for
// those who watch locks and come back. The hub's lock guards it.
type lockHistory struct {
	ring  []fsm.Event // grows up to LockEventsKept
	first int         // where the oldest is
	count int
	bytes int
}

// at is the event that has i older ones in the history.
func (h *lockHistory) at(i int) *fsm.Event { return &h.ring[(h.first+i)%len(h.ring)] }

// cost is what an event is taken to cost in the history.
func cost(e *fsm.Event) int {
	return entryBytes + len(e.Key) + len(e.Owner) + len(e.Payload)
}

// add remembers an event, and forgets the oldest beyond the bounds. It keeps none
// of the event's texts, which are parts of a whole entry.
func (h *lockHistory) add(e *fsm.Event) {
	if h.count == len(h.ring) && h.count < LockEventsKept {
		h.grow()
	}
	for h.bytes += cost(e); h.count == LockEventsKept || h.bytes > LockEventBytesMax && h.count > 0; {
		h.dropOldest()
	}
	h.count++
	kept := h.at(h.count - 1)
	*kept = *e
	kept.Key, kept.Owner, kept.Payload, kept.Node = cloneTexts(e)
}

// cloneTexts copies the texts of an event with one allocation.
func cloneTexts(e *fsm.Event) (key, owner, payload, node string) {
	all := e.Key + e.Owner + e.Payload + e.Node
	if len(all) == len(e.Key) { // a sum of one is that one
		return strings.Clone(e.Key), "", "", ""
	}
	key, all = all[:len(e.Key)], all[len(e.Key):]
	owner, all = all[:len(e.Owner)], all[len(e.Owner):]
	return key, owner, all[:len(e.Payload)], all[len(e.Payload):]
}

func (h *lockHistory) grow() {
	ring := make([]fsm.Event, min(max(64, 2*h.count), LockEventsKept))
	for i := range h.count {
		ring[i] = *h.at(i)
	}
	h.ring, h.first = ring, 0
}

func (h *lockHistory) dropOldest() {
	oldest := h.at(0)
	h.bytes -= cost(oldest)
	*oldest = fsm.Event{}
	h.first = (h.first + 1) % len(h.ring)
	h.count--
}

// clear forgets all: events may be missing behind them.
func (h *lockHistory) clear() { *h = lockHistory{} }

// last is the place of the newest event, zero if none is known.
func (h *lockHistory) last() fsm.Place {
	if h.count == 0 {
		return fsm.Place{}
	}
	return h.at(h.count - 1).Place
}

// after are the events behind a place that a watcher has seen, as long as the hub's
// lock is held. It answers false if some of them may be forgotten.
func (h *lockHistory) after(p fsm.Place) (iter.Seq[*fsm.Event], bool) {
	if h.count == 0 || p.Before(h.at(0).Place) {
		return nil, false
	}
	begin := sort.Search(h.count, func(i int) bool { return p.Before(h.at(i).Place) })
	return func(yield func(*fsm.Event) bool) {
		for i := begin; i < h.count && yield(h.at(i)); i++ {
		}
	}, true
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
	h.locks.add(e)
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
