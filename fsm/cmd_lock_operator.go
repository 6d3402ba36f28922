package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// What others than its owner can do about a lock.

var operatorRows = []Spec{
	{
		Name: "lock.break", Arity: 2, Flags: Write | Admin, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name",
		Summary: "For operators: takes a lock from whoever holds it, through either kind of port, and ends its delay: 1, or 0 if nobody does", run: runLockBreak,
	},
	{
		Name: "lock.ask", Arity: 2, Flags: MayReplicate | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name",
		Summary: "Tells whoever watches a lock, its holder for one, that somebody would like it: 1, or 0 if nobody holds it", run: runLockAsk,
	},
}

// runLockBreak frees a name on both kinds of port. What was taken away is gone as
// if it had been released: no delay follows.
func runLockBreak(c *call) reply.Value {
	name, found := c.args[1], false
	for space := range c.s.cluster.Seats + 1 {
		d := c.s.db(space, c.db.num)
		found = c.s.get(d, name) != nil || found
		r, ok := d.keys.Get(name)
		if !ok {
			continue
		}
		c.s.drop(d, r)
		c.s.keyEvent(d, 'g', "del", name)
	}
	if found {
		c.s.tellOf(c.s.db(SharedSpace, c.db.num), Event{
			Name: "break", Key: strings.Clone(name), Payload: c.client.describe(), Node: strings.Clone(c.client.Node),
		})
	}
	return reply.Truth(found)
}

// runLockAsk changes nothing: that somebody asked is known to those who listen.
func runLockAsk(c *call) reply.Value {
	name := c.args[1]
	if c.nobodyHolds(name) {
		return reply.Integer(0)
	}
	c.s.tellOf(c.s.db(SharedSpace, c.db.num), Event{
		Name: "ask", Key: strings.Clone(name), Payload: c.client.describe(), Node: strings.Clone(c.client.Node),
	})
	return reply.Integer(1)
}

// nobodyHolds says whether a name is free or in its delay.
func (c *call) nobodyHolds(name string) bool {
	r := c.find(name)
	h, several := holdingsOf(r)
	return r == nil || several && h.len() == 0
}
