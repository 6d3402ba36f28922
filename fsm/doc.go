// Package fsm is the machine: keyspaces, leases, fencing tokens, locks, the
// replicated script cache, and what each node's boot has sent, as one
// deterministic state that log entries move forward.
//
// A State takes the entries of the log in order (Apply), answers reads in between
// (Read), and can be written to a snapshot and made from one. Two States that took
// the same entries are alike byte for byte, on every machine and at every time.
// server/replica owns the one State of a node and is the only package that may
// call Apply; server reads the command table (Find, Table) and makes Commands.
//
// The package never reads a clock, a random source, a file, a socket or the
// environment, starts no goroutine, and lets no map's order reach a reply, an
// event or a snapshot: what isn't deterministic is settled by the leader and
// comes in the entry. tests/arch holds it to that.
//
// # Promises
//
// What Redfence promises its users. The tests cite them by number ("promise 2");
// docs/safety.md has the argument for each.
//
//	P1  One holder: at every point of the log an exclusive lock has at most one holder, and a key of a seat at most one value.
//	P2  Never early: a lease is not given away before its time has passed on the leader's monotonic clock; wall clocks decide nothing.
//	P3  Tokens only rise: each grant's fencing token is greater than every token before it, through restarts and snapshots.
//	P4  Acknowledged is durable: a reply to a write means that a majority has it on disk and the leader applied it.
//	P5  Reads are linearizable: a read reflects every write that was acknowledged before the read was sent.
//	P6  Exactly once through a failover: a command on a node that survives is executed once, or its error says "outcome unknown".
//	P7  Any node, any command: a follower forwards, a client need not know the leader.
//	P8  Nothing a client sends can stop a node: all of it is bounded, and fails alike on every replica.
//	P9  A refusal is clear and changes nothing: bad input gets Redis's error for it, or one in the same style.
//	P10 Nothing outlives its use: memory and disk grow with the locks that exist, not with the names ever used.
//
// # Reading order
//
// entry.go and command.go say what goes in and what comes out; apply.go takes one
// entry from its bytes to its result; clock.go is the lease clock and its term
// rule; record.go and keyspace.go are what a key is and the two places that change
// one; origin.go is exactly once; seats.go is the rule of one name on two kinds
// of port; lock_lease.go is how native locks end, holdings.go and session.go what
// they are; table.go and the *Rows beside the commands' functions are the command
// table, and resolve.go finds a client's command in it; script_run.go runs a
// script against the machine; waiter.go and serve.go are the commands that wait; codec.go and snapshot.go are the bytes (docs/format.md).
package fsm
