package redlockcompat

import (
	"fmt"
	"strings"
)

// Node is what a hint says of one member of the cluster.
type Node struct {
	Name  string
	Seats []string // addresses of its seat ports, seat 1 first; none if they are closed
}

// Hint is the text for a client that asked several nodes' shared ports for one
// lock as if they were masters of their own: safe, but its quorum can't form. It
// says what to list instead: seat i on the i-th node, by turns.
func Hint(client string, nodes []Node) string {
	var list []string
	seats := 0
	for _, n := range nodes {
		seats = max(seats, len(n.Seats))
	}
	for i := range seats {
		if n := nodes[i%len(nodes)]; i < len(n.Seats) {
			list = append(list, n.Seats[i])
		}
	}
	instead := "or open seat ports (--seats)"
	if len(list) > 0 {
		instead = "or the seat ports as its masters: " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("client %q asks the shared ports of several nodes for one lock, as if they were independent masters: "+
		"its quorum can't form. List one node (others as alternatives), %s", client, instead)
}
