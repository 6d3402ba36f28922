package compat_test

import (
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// topology is a way to be connected to Redfence.
type topology struct {
	name string
	// masters says that the client is told three masters: seats.
	masters bool
	// dead says that one of them can't be reached.
	dead  bool
	start func(t *testing.T) (addresses string)
}

// topologies are all ways, in the order of docs/clients.md's columns.
var topologies = []topology{
	{name: "one node", start: func(t *testing.T) string {
		return process.Start(t, 1).Nodes[0].Client
	}},
	{name: "follower of three", start: func(t *testing.T) string {
		c := process.Start(t, 3)
		return c.Others(c.Leader())[0].Client
	}},
	{name: "seats of three nodes", masters: true, start: func(t *testing.T) string {
		return seats(process.Start(t, 3), 0, 1, 2)
	}},
	{name: "seats, a node dead", masters: true, dead: true, start: func(t *testing.T) string {
		c := process.Start(t, 3)
		addrs := seats(c, 0, 1, 2)
		c.Nodes[2].Kill()
		c.Leader()
		return addrs
	}},
	{name: "seats of one node", masters: true, start: func(t *testing.T) string {
		return seats(process.Start(t, 3), 1, 1, 1)
	}},
}

// seats lists the seat ports, seat i on the i-th of the named nodes.
func seats(c *process.Cluster, nodes ...int) string {
	var addrs []string
	for seat, node := range nodes {
		addrs = append(addrs, c.Nodes[node].Seats[seat])
	}
	return strings.Join(addrs, ",")
}
