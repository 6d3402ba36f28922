package server

import (
	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/server/replica"
)

// longAnswers are the commands of the edge whose answers grow with what the node
// serves. They change nothing, so that they can be made again.
var longAnswers = map[string]bool{
	"client|list": true, "pubsub|channels": true, "pubsub|shardchannels": true, "slowlog|get": true,
	"command": true, "command|docs": true, "command|info": true, "command|list": true,
}

// atEdge executes a command of the edge. A long answer is made in turn, and kept
// only if the budget of replies has room for it.
func (c *session) atEdge(spec *fsm.Spec, args []string) reply.Value {
	if !longAnswers[spec.Name] {
		return handlers[spec.Name](c, args)
	}
	c.settle()
	c.release()
	defer c.replies.Trim()
	for {
		v, size := c.long(spec, args)
		if size == 0 {
			return v
		}
		if err := c.replies.Wait(c.server.ctx, size); err != nil {
			return answerFor(err)
		}
	}
}

// atEdgeInExec executes a command of the edge inside a MULTI, whose answers take
// held bytes so far. Many that are long together end in an error each.
func (c *session) atEdgeInExec(spec *fsm.Spec, args []string, held *int64) reply.Value {
	if *held > replica.ReplyFree && (*held > EdgeExecMax || c.server.backend.Replies().Full()) {
		return errNoRoom
	}
	v := handlers[spec.Name](c, args)
	size := replica.Footprint(&v)
	*held += size
	c.replies.Force(size)
	return v
}

// long makes a long answer. Without room for it there is none, but its size.
func (c *session) long(spec *fsm.Spec, args []string) (reply.Value, int64) {
	c.server.making <- struct{}{}
	defer func() { <-c.server.making }()
	v := handlers[spec.Name](c, args)
	size := replica.Footprint(&v)
	if c.replies.Add(size) {
		return v, 0
	}
	return reply.Value{}, size
}
