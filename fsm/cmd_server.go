package fsm

import (
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

var serverRows = []Spec{
	{
		Name: "time", Arity: 1, Flags: Read | Fast, Where: Machine,
		Group: "server", Since: "2.6.0", Summary: "Return the wall time: seconds and microseconds", run: runTime,
	},
	{
		Name: "publish", Arity: 3, Flags: MayReplicate | Fast, Where: Machine,
		Group: "pubsub", Since: "2.0.0", Args: "channel message", Summary: "Post a message to a channel", run: runPublish,
	},
	{
		Name: "spublish", Arity: 3, Flags: MayReplicate | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "pubsub", Since: "7.0.0", Args: "shardchannel message", Summary: "Post a message to a shard channel", run: runPublish,
	},
	{
		Name: "_watch", Arity: -2, Flags: Read, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "transactions", Since: "redfence", Args: "key [key ...]",
		Summary: "For the server: the versions that an EXEC compares", run: runWatch,
	},
}

// runTime answers in Redis's form. Every TIME of one script is the same, and so
// is what decides about leases in it.
func runTime(c *call) reply.Value {
	return reply.List(
		reply.String(strconv.FormatInt(c.wall/1_000_000, 10)),
		reply.String(strconv.FormatInt(c.wall%1_000_000, 10)),
	)
}

// runPublish answers 0: how many subscribers heard it is known to no replica,
// only to the node that was asked.
func runPublish(c *call) reply.Value {
	c.s.events = append(c.s.events, Event{
		Kind: Published, Space: c.db.space, DB: c.db.num, Name: c.spec.Name,
		Key: strings.Clone(c.args[1]), Payload: strings.Clone(c.args[2]),
	})
	return reply.Integer(0)
}

// runWatch answers the version of each key as a decimal text.
func runWatch(c *call) reply.Value {
	versions := make([]reply.Value, len(c.args)-1)
	for i, key := range c.args[1:] {
		versions[i] = reply.String(strconv.FormatUint(c.s.watchVersion(c.db, key), 10))
	}
	return reply.List(versions...)
}
