// Package replica is one member of a Redfence cluster: it makes a node's
// commands one history with everybody else's and keeps it on disk.
//
// A Node takes commands from its own clients (Do), sends them to whichever node
// leads, and answers what the state machine of package fsm made of them. It
// promises that an acknowledged command is on the disks of a majority, that a
// command runs once whatever happens to the leader, that a read sees every
// write that was acknowledged before it was sent, and that the lease clock never
// runs faster than the leader's monotonic clock (promises 2, 4, 5, 6 and 7 of
// package fsm; docs/safety.md has the arguments).
//
// Package server calls it, from any number of goroutines; cmd/redfence starts
// and closes it. It never sees RESP and holds no lock logic; only here are raft
// types, files and the connections between nodes.
//
// Data flows one way:
//
//	Do -> origin -> (link -> leader's port) -> term -> raft -> machine -> origin -> Do
//
// Read node.go first, then origin.go (numbering, exactly once), term.go (the
// leader's one stamping goroutine), clock.go, machine.go (what is applied),
// reads.go (linearizable reads), waits.go and presence.go (commands that wait), port.go, link.go and serve.go (between nodes),
// birth.go and members.go (how a cluster begins and changes), and disk.go,
// stores.go, checkedlog.go and snapshots.go (what lies on disk, and how damage to
// it is noticed).
package replica
