package server

import (
	"slices"
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

func subscribe(c *session, args []string) reply.Value {
	return c.subscribeAll(channelTopic, "subscribe", args[1:])
}

func psubscribe(c *session, args []string) reply.Value {
	return c.subscribeAll(patternTopic, "psubscribe", args[1:])
}

func ssubscribe(c *session, args []string) reply.Value {
	return c.subscribeAll(shardTopic, "ssubscribe", args[1:])
}

func unsubscribe(c *session, args []string) reply.Value {
	return c.unsubscribeAll(channelTopic, "unsubscribe", args[1:])
}

func punsubscribe(c *session, args []string) reply.Value {
	return c.unsubscribeAll(patternTopic, "punsubscribe", args[1:])
}

func sunsubscribe(c *session, args []string) reply.Value {
	return c.unsubscribeAll(shardTopic, "sunsubscribe", args[1:])
}

// subscribeAll listens to channels or patterns. The confirmations go out under
// the hub's lock: whatever is published after one is delivered behind it.
func (c *session) subscribeAll(kind int, verb string, names []string) reply.Value {
	fresh := 0
	for _, name := range names {
		fresh += entryBytes + len(name)
	}
	if !c.hold(fresh) {
		return errHeldTooMuch
	}
	if c.subs.names[kind] == nil {
		c.subs.names[kind] = map[string]bool{}
	}
	c.startPump()
	return c.changeSubscriptions(func() []reply.Value {
		var said []reply.Value
		for _, name := range names {
			if c.subs.names[kind][name] {
				c.letGo(entryBytes + len(name))
			}
			name = strings.Clone(name)
			c.subs.names[kind][name] = true
			c.server.hub.join(kind, name, c)
			said = append(said, c.confirmation(kind, verb, reply.String(name)))
		}
		return said
	})
}

// startPump lets others push messages to the connection.
func (c *session) startPump() {
	if !c.pumping {
		c.pumping = true
		go c.out.pump()
	}
}

// unsubscribeAll stops listening to the named channels or patterns, or to all of them.
func (c *session) unsubscribeAll(kind int, verb string, names []string) reply.Value {
	return c.changeSubscriptions(func() []reply.Value {
		if len(names) == 0 {
			for name := range c.subs.names[kind] {
				names = append(names, name)
			}
			slices.Sort(names)
		}
		var said []reply.Value
		for _, name := range names {
			if c.subs.names[kind][name] {
				c.letGo(entryBytes + len(name))
			}
			delete(c.subs.names[kind], name)
			c.server.hub.quit(kind, name, c)
			said = append(said, c.confirmation(kind, verb, reply.String(name)))
		}
		if len(said) == 0 {
			said = append(said, c.confirmation(kind, verb, reply.Null))
		}
		return said
	})
}

// confirmation tells how many subscriptions are left: shard channels count apart.
func (c *session) confirmation(kind int, verb string, name reply.Value) reply.Value {
	n := len(c.subs.names[shardTopic])
	if kind != shardTopic {
		n = c.subs.count() - n
	}
	return reply.Value{Kind: reply.Push, Elems: []reply.Value{
		reply.String(verb), name, reply.Integer(int64(n)),
	}}
}

// changeSubscriptions runs change under the hub's lock and queues what it says in
// the same breath, behind all earlier replies. execute sees that it goes out: a
// connection that never subscribed has no pump.
func (c *session) changeSubscriptions(change func() []reply.Value) reply.Value {
	c.settle()
	// CLIENT REPLY doesn't silence these: in Redis they are messages like those of
	// a channel. In an EXEC they have their place among its replies, if it has any.
	inPlace := c.inExec && !c.quiet && !c.skipping
	if !inPlace && c.w.flush() != nil {
		c.closing = true
		return noReply
	}
	h := &c.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	said := reply.Value{Kind: several, Elems: change()}
	c.showSubscriptions()
	if inPlace {
		return said
	}
	c.pushed = true
	if !c.out.push(spell(c.w.proto, said)) {
		c.closing = true
	}
	return noReply
}

func (c *session) showSubscriptions() {
	names := &c.subs.names
	c.setShown(func(s *shown) {
		s.channels, s.patterns, s.shards = len(names[channelTopic]), len(names[patternTopic]), len(names[shardTopic])
	})
}

func pubsubChannels(c *session, args []string) reply.Value { return c.topics(channelTopic, args) }

func pubsubShardchannels(c *session, args []string) reply.Value { return c.topics(shardTopic, args) }

// topics lists the channels of this port's keyspace that somebody listens to.
func (c *session) topics(kind int, args []string) reply.Value {
	if len(args) > 3 {
		return subcommandSyntax(args)
	}
	h := &c.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for t := range h.tables[kind] {
		if t.space == c.space && (len(args) == 2 || fsm.Match(args[2], t.name)) {
			names = append(names, t.name)
		}
	}
	slices.Sort(names)
	return reply.Strings(names)
}

func pubsubNumsub(c *session, args []string) reply.Value { return c.audiences(channelTopic, args) }

func pubsubShardnumsub(c *session, args []string) reply.Value { return c.audiences(shardTopic, args) }

// audiences counts the listeners of channels.
func (c *session) audiences(kind int, args []string) reply.Value {
	h := &c.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]reply.Value, 0, 2*len(args))
	for _, name := range args[2:] {
		out = append(out, reply.String(name), reply.Integer(int64(len(h.tables[kind][topic{c.space, name}]))))
	}
	return reply.List(out...)
}

func pubsubNumpat(c *session, _ []string) reply.Value {
	h := &c.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for t := range h.tables[patternTopic] {
		if t.space == c.space {
			n++
		}
	}
	return reply.Integer(int64(n))
}

// publish answers for PUBLISH and SPUBLISH outside of a MULTI: the machine has
// made the message, and only this node knows who listens here.
func publish(kind int) adapter {
	return adapter{
		before: func(*session, *fsm.Command) reply.Value { return reply.Value{} },
		after: func(c *session, cmd *fsm.Command, v reply.Value) reply.Value {
			if c.inExec || v.Kind != reply.Int || len(cmd.Args) < 2 {
				return v
			}
			return reply.Integer(int64(c.server.hub.listeners(kind, c.space, cmd.Args[1])))
		},
	}
}
