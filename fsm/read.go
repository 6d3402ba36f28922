package fsm

import (
	"slices"

	"github.com/redfence/redfence/fsm/reply"
)

// At is by what a lone read is answered: the leader's running clocks.
type At struct {
	Now  int64 // microseconds on the lease clock
	Wall int64 // microseconds since 1970, raw
}

// Read answers a command of the table that is Read and neither Write nor
// Script. It may run beside other Reads. What is gone is decided by the machine's
// time as applied, so what was seen as gone can't come back; what a lease has
// left is shown by the running clock.
func (s *State) Read(cmd *Command, client *Client, at At) Answer {
	a, _ := s.ReadWithin(cmd, client, at, KeysStepsMax)
	return a
}

// ReadWithin is Read, but gives up a command that takes steps or more, up to
// KeysStepsMax, which is what a command may take: ok is then false.
func (s *State) ReadWithin(cmd *Command, client *Client, at At, steps int) (a Answer, ok bool) {
	spec := rowOf(cmd.Args)
	if spec == nil || spec.Where != Machine || !spec.Has(Read) || spec.Has(Write) || spec.Has(Script) {
		return Answer{Value: reply.Err("ERR internal error: not a read")}, true
	}
	shown := s.clock.at(at.Now, at.Wall, s.empty())
	c := call{s: s, client: client, now: shown.now, wall: shown.wall, spec: spec, args: cmd.Args, most: min(steps, KeysStepsMax)}
	if c.db = s.db(cmd.Space, cmd.DB); c.db == nil {
		return Answer{Value: errNoSuchSeat}, true
	}
	if !spec.ArityFits(len(cmd.Args)) {
		return Answer{Value: WrongArity(spec.Name)}, true
	}
	v := spec.run(&c)
	switch {
	case c.walked >= c.most && c.most < KeysStepsMax:
		return Answer{}, false
	case c.walked >= c.most && !v.IsError():
		v = errTooFar
	case v.Size() > ReplyMax:
		v = errReplyTooLong
	}
	return Answer{Value: v}, true
}

// ReadCopy is the State as it is now, for Reads that take long: they may run
// beside Apply of the original. It takes no time for the records, whose trees are
// shared until one side changes; like Apply it must have s for itself.
func (s *State) ReadCopy() *State {
	out := &State{
		applied: s.applied, clock: s.clock, tokens: s.tokens, version: s.version, memory: s.memory,
		cluster: s.cluster, removed: slices.Clone(s.removed), holders: map[Client]*holder{},
		deadlines: s.deadlines.Copy(), voters: s.voters, memoryMax: s.memoryMax,
		sessions: s.sessions.copy(), released: s.released.copy(),
	}
	out.scripts.init()
	out.waiters.queues = s.waiters.lockQueues()
	if !s.empty() {
		out.holders[Client{}] = &holder{} // so that the copy isn't empty either
	}
	for _, d := range s.databases {
		c := *d
		c.keys = d.keys.Copy()
		out.databases = append(out.databases, &c)
	}
	return out
}
