// Package server is one node's edge: it turns the bytes of Redis clients into
// commands of the machine, and answers into bytes.
//
// It promises that every command gets exactly one reply, in the order in which
// the commands came (whatever waits for a majority in between), that nothing a
// client sends takes more than a bounded share of the node's memory or stops it,
// that a refusal is Redis's own or in its style and changes nothing, and that a
// grant which ran out before it could be answered is not answered as one
// (promises 2, 6, 8 and 9).
//
// cmd/redfence makes a Server in front of a Backend (a *replica.Node), gives it
// listeners with Serve and the machine's events with Events, and ends it with
// Shutdown. It never holds lock logic, never sees raft, and keeps nothing that a
// restart must not lose.
//
// Data flows one way:
//
//	net.Conn -> link (framer, redcon) -> session.one -> run -> Backend.Do -> writer -> outbox -> net.Conn
//
// Read session.go first, then dispatch.go (what happens to a command), run.go
// (pipelines) and transaction.go (MULTI); link.go, frame.go and redcon.go for
// what comes in, writer.go and outbox.go for what goes out; hub.go and notify.go
// for messages to listeners; edge.go lists the commands that are answered here.
package server
