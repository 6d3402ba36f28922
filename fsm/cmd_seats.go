package fsm

import (
	"fmt"

	"github.com/redfence/redfence/fsm/reply"
)

// The number of seats is agreed at the cluster's birth and changed by one command.

var seatRows = []Spec{
	{
		Name: "redfence|seats", Arity: -2, Flags: Admin | NoScript | NoMulti, Where: Machine,
		Group: "server", Since: "redfence", Args: "[number CLIENTS-STOPPED]",
		Summary: "The number of seats; with a number changes it, while no seat holds anything and all clients of seats are stopped", run: runSeats,
	},
}

// runSeats changes the number of seats only while no seat has a record: a majority
// of the old number and one of the new need have no seat in common. Attempts
// that are under way count too, and only the operator knows that there are none.
func runSeats(c *call) reply.Value {
	args := c.args[2:]
	if len(args) == 0 {
		return reply.Integer(int64(c.s.cluster.Seats))
	}
	if len(args) != 2 || !is(args[1], "clients-stopped") {
		return errSeatsSyntax
	}
	n, ok := ParseInt(args[0])
	if !ok || n < 1 || n > SeatsMax {
		return reply.Err(fmt.Sprintf("ERR the number of seats must be between 1 and %d", SeatsMax))
	}
	for _, d := range c.s.databases[Databases:] {
		if d.keys.Len() > 0 {
			return errSeatsHeld
		}
	}
	if c.s.waiters.onSeats() {
		return errSeatsHeld
	}
	c.s.cluster.Seats = uint8(n)
	c.s.databases = c.s.databases[:min(len(c.s.databases), int(n+1)*Databases)]
	c.s.addSpaces(int(n))
	return reply.OK
}
