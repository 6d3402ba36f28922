package server

import (
	"strings"
	"sync"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// hub knows which connections of this node listen to what, and hands them the
// machine's events. It is safe for concurrent use and never waits for a client.
type hub struct {
	mu     sync.Mutex
	tables [topicKinds]map[topic]map[*session]bool
	// lockTopics are those of tables that are of locks, and locks what was told of them.
	lockTopics [topicKinds]map[topic]map[*session]bool
	locks      lockHistory
	server     *Server
}

// topic is a channel or pattern of one keyspace: channels belong to a port's side.
type topic struct {
	space uint8
	name  string
}

// The kinds of topics; each has a table.
const (
	channelTopic = iota
	patternTopic
	shardTopic
	topicKinds
)

// subscriptions is what one connection listens to. Its own goroutine uses it;
// the hub's tables are what others see.
type subscriptions struct {
	names [topicKinds]map[string]bool
}

func (s *subscriptions) count() int {
	return len(s.names[channelTopic]) + len(s.names[patternTopic]) + len(s.names[shardTopic])
}

func (h *hub) init(s *Server) {
	h.server = s
	for kind := range h.tables {
		h.tables[kind] = map[topic]map[*session]bool{}
		h.lockTopics[kind] = map[topic]map[*session]bool{}
	}
}

// join makes a connection a listener. The lock is held.
func (h *hub) join(kind int, name string, c *session) {
	t := topic{c.space, name}
	if h.tables[kind][t] == nil {
		h.tables[kind][t] = map[*session]bool{}
		if strings.HasPrefix(name, lockPrefix) {
			h.lockTopics[kind][t] = h.tables[kind][t]
		}
	}
	if !h.tables[kind][t][c] {
		h.tables[kind][t][c] = true
		h.server.listening.add(1)
	}
}

// quit makes a connection no listener any more. The lock is held.
func (h *hub) quit(kind int, name string, c *session) {
	t := topic{c.space, name}
	if h.tables[kind][t][c] {
		delete(h.tables[kind][t], c)
		h.server.listening.add(-1)
	}
	if len(h.tables[kind][t]) == 0 {
		delete(h.tables[kind], t)
		delete(h.lockTopics[kind], t)
	}
}

// leave removes a connection from all tables.
func (h *hub) leave(c *session) {
	if c.subs.count() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind, names := range c.subs.names {
		for name := range names {
			h.quit(kind, name, c)
			c.letGo(entryBytes + len(name))
		}
		c.subs.names[kind] = nil
	}
}

// forgetLocks forgets the history of locks: what comes next doesn't follow it.
func (h *hub) forgetLocks() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.locks.clear()
}

// listeners counts who would get a message of PUBLISH (channelTopic) or
// SPUBLISH (shardTopic).
func (h *hub) listeners(kind int, space uint8, channel string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.tables[kind][topic{space, channel}])
	if kind == shardTopic {
		return n
	}
	for t, who := range h.tables[patternTopic] {
		if t.space == space && fsm.Match(t.name, channel) {
			n += len(who)
		}
	}
	return n
}

// sizes counts the channels, patterns and shard channels that somebody listens to.
func (h *hub) sizes() (channels, patterns, shards int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tables[channelTopic]), len(h.tables[patternTopic]), len(h.tables[shardTopic])
}

// audience is everybody who listens to something.
func (h *hub) audience() map[*session]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[*session]bool{}
	for _, table := range h.tables {
		for _, who := range table {
			for c := range who {
				all[c] = true
			}
		}
	}
	return all
}

// deliver pushes a message to all who listen.
func (h *hub) deliver(space uint8, channel, payload string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if who := h.tables[channelTopic][topic{space, channel}]; len(who) > 0 {
		h.pushAll(who, message("message", channel, payload))
	}
	for t, who := range h.tables[patternTopic] {
		if t.space == space && fsm.Match(t.name, channel) {
			h.pushAll(who, message("pmessage", t.name, channel, payload))
		}
	}
}

// deliverShard pushes a message of SPUBLISH.
func (h *hub) deliverShard(space uint8, channel, payload string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if who := h.tables[shardTopic][topic{space, channel}]; len(who) > 0 {
		h.pushAll(who, message("smessage", channel, payload))
	}
}

// pushAll spells a message once for each protocol and queues it.
func (h *hub) pushAll(who map[*session]bool, v reply.Value) {
	var spelled [4][]byte
	for c := range who {
		proto := int(c.proto.Load())
		if spelled[proto] == nil {
			spelled[proto] = spell(proto, v)
		}
		if !c.out.push(spelled[proto]) {
			h.server.stats.slowListeners.Add(1)
		}
	}
	h.server.stats.messages.Add(int64(len(who)))
}

func message(words ...string) reply.Value {
	v := reply.Strings(words)
	v.Kind = reply.Push
	return v
}

// Events takes what the machine tells this node, in the order of the log. It
// returns soon. The node's backend calls it, from one goroutine at a time.
func (s *Server) Events(events []fsm.Event) {
	s.trackers.changed(events)
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case fsm.Published:
			if e.Name == "spublish" {
				s.hub.deliverShard(e.Space, e.Key, e.Payload)
			} else {
				s.hub.deliver(e.Space, e.Key, e.Payload)
			}
		case fsm.KeyChanged:
			s.notify(e)
		case fsm.QuorumAsked:
			s.quorumAsked(e)
		case fsm.LockChanged:
			s.lockChanged(e)
		}
	}
}

// DropSubscribers closes the connections that listen to channels or keep a
// cache: this node may have missed events, and they must learn that they did.
func (s *Server) DropSubscribers() {
	s.hub.forgetLocks()
	gone := s.hub.audience()
	for _, c := range s.trackers.everybody() {
		gone[c] = true
	}
	for c := range gone {
		c.kill()
	}
	if len(gone) > 0 {
		s.log.Warn("connections that listen to channels were closed: events may have been missed", "connections", len(gone))
	}
}
