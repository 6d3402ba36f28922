package server

import (
	"encoding/hex"

	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/redlockcompat"
)

// redfenceStatus is what the status command of the binary reads: a map of what
// this node knows, with its members as a list of maps. Numbers that nobody but
// a leader knows are null elsewhere.
func redfenceStatus(c *session, _ []string) reply.Value {
	st := c.server.backend.Status()
	out := reply.Pairs()
	add := func(name string, v reply.Value) { out.Elems = append(out.Elems, reply.String(name), v) }
	add("node", reply.String(st.Node))
	add("version", reply.String(c.server.cfg.Version))
	add("role", reply.String(st.Role))
	add("leader", reply.String(st.Leader))
	add("term", reply.Integer(int64(st.Term)))
	add("cluster", reply.String(st.Cluster))
	add("ready", reply.Truth(c.server.backend.Ready() == nil))
	add("loading", reply.Truth(c.server.backend.Loading()))
	add("uptime_ms", reply.Integer(st.Uptime.Milliseconds()))
	add("last_index", reply.Integer(int64(st.LastIndex)))
	add("commit_index", reply.Integer(int64(st.CommitIndex)))
	add("applied_index", reply.Integer(int64(st.AppliedIndex)))
	add("seats", reply.Integer(int64(st.Seats)))
	add("tokens", reply.Integer(int64(st.Tokens)))
	add("memory_bytes", reply.Integer(st.Memory))
	add("lost_time_ms", reply.Integer(st.LostTime.Milliseconds()))
	add("locks_without_lease", reply.Integer(int64(unleased(st.Counts))))
	locks := reply.Pairs()
	for space, n := range st.Keys {
		locks.Elems = append(locks.Elems, reply.String(redlockcompat.PortName(uint8(space))), reply.Integer(int64(n)))
	}
	add("locks", locks)
	var members []reply.Value
	for _, m := range st.Members {
		lag, heard := reply.Null, reply.Null
		if m.Lag >= 0 {
			lag = reply.Integer(m.Lag)
		}
		if m.Heard >= 0 {
			heard = reply.Integer(m.Heard.Milliseconds())
		}
		members = append(members, reply.Pairs(
			reply.String("node"), reply.String(m.Node),
			reply.String("leader"), reply.Truth(m.Leader),
			reply.String("voter"), reply.Truth(m.Voter),
			reply.String("lag"), lag,
			reply.String("heard_ms"), heard,
			reply.String("raft"), reply.String(m.Raft),
			reply.String("client"), reply.String(m.Client),
			reply.String("seats"), reply.Strings(m.Seats),
			reply.String("http"), reply.String(m.HTTP),
			reply.String("version"), reply.String(m.Version),
		))
	}
	add("members", reply.List(members...))
	return out
}

// redfenceHash answers [index, digest]. It reads all records of this node.
func redfenceHash(c *session, _ []string) reply.Value {
	index, digest := c.server.backend.StateHash()
	return reply.List(reply.Integer(int64(index)), reply.String(hex.EncodeToString(digest[:])))
}
