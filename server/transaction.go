package server

import (
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// transaction is what MULTI and WATCH remember.
type transaction struct {
	open    bool
	broken  bool // a command was refused: EXEC fails
	queued  []queued
	bytes   int                   // held for queued
	watched map[watchedKey]uint64 // version, as the machine told
	// watchedBytes is held for watched.
	watchedBytes int
}

type queued struct {
	spec *fsm.Spec
	args []string
}

type watchedKey struct {
	db  uint8
	key string
}

// unqueued commands are executed at once inside a MULTI.
var unqueued = map[string]bool{
	"exec": true, "discard": true, "multi": true, "watch": true, "quit": true, "reset": true,
}

var queuedReply = reply.Simple("QUEUED")

// queue adds a command to the MULTI. Its strings are copied: they may share
// memory with a large pipeline.
func (c *session) queue(spec *fsm.Spec, args []string) {
	size := 0
	for _, a := range args {
		size += argBytes + len(a)
	}
	if !c.hold(size) {
		c.letGo(c.tx.bytes)
		c.tx.queued, c.tx.bytes, c.tx.broken = nil, 0, true
		c.answer(errHeldTooMuch)
		return
	}
	c.tx.bytes += size
	own := make([]string, len(args))
	for i, a := range args {
		own[i] = strings.Clone(a)
	}
	if !c.tx.broken {
		c.tx.queued = append(c.tx.queued, queued{spec, own})
	}
	c.showQueue()
	c.answer(queuedReply)
}

func (c *session) showQueue() {
	n := -1
	if c.tx.open {
		n = len(c.tx.queued)
	}
	c.setShown(func(s *shown) { s.queued = n })
}

// leaveTransaction forgets what was queued and what was watched.
func (c *session) leaveTransaction() {
	c.letGo(c.tx.bytes + c.tx.watchedBytes)
	c.tx = transaction{}
	c.showQueue()
}

func multi(c *session, _ []string) reply.Value {
	if c.tx.open {
		return errNestedMulti
	}
	c.tx.open = true
	c.showQueue()
	return reply.OK
}

func discard(c *session, _ []string) reply.Value {
	if !c.tx.open {
		return errDiscardNone
	}
	c.leaveTransaction()
	return reply.OK
}

// watch asks the machine for the versions that EXEC will compare.
func watch(c *session, args []string) reply.Value {
	if c.tx.open {
		return errWatchInMulti
	}
	v := c.ask(c.db, append([]string{"_watch"}, args[1:]...)...)
	if v.IsError() {
		return v
	}
	if len(v.Elems) != len(args)-1 {
		return errInternal
	}
	if c.tx.watched == nil {
		c.tx.watched = map[watchedKey]uint64{}
	}
	for i, key := range args[1:] {
		version, err := strconv.ParseUint(v.Elems[i].Str, 10, 64)
		if err != nil {
			return errInternal
		}
		k := watchedKey{c.db, strings.Clone(key)}
		if _, known := c.tx.watched[k]; known {
			continue
		}
		if !c.hold(entryBytes + len(key)) {
			return errHeldTooMuch
		}
		c.tx.watchedBytes += entryBytes + len(key)
		c.tx.watched[k] = version
	}
	return reply.OK
}

func unwatch(c *session, _ []string) reply.Value {
	c.letGo(c.tx.watchedBytes)
	c.tx.watched, c.tx.watchedBytes = nil, 0
	return reply.OK
}

// exec sends what was queued as one command. What the edge answers among it is
// executed when the machine's answer is there, since it may be that nothing was.
func exec(c *session, _ []string) reply.Value {
	tx := c.tx
	if !tx.open {
		return errExecNoMulti
	}
	c.leaveTransaction()
	if tx.broken {
		return errExecAbort
	}
	cmd := fsm.Command{Space: c.space, DB: c.db, Args: []string{"exec"}, Exec: &fsm.Exec{}}
	for k, version := range tx.watched {
		cmd.Exec.Watched = append(cmd.Exec.Watched, fsm.Watched{DB: k.db, Key: k.key, Version: version})
	}
	refusals := c.fillExec(cmd.Exec, tx.queued)
	edge := len(cmd.Exec.Commands) < len(tx.queued)
	if edge {
		c.settle() // a HELLO among it doesn't concern the replies to what came before
	}
	if len(cmd.Exec.Commands) == 0 && len(cmd.Exec.Watched) == 0 {
		return c.mergeExec(tx.queued, refusals, nil)
	}
	spec := fsm.Find("exec")
	c.add(spec, cmd, c.tellBehind(spec, tx.queued, func(got fsm.Answer) reply.Value {
		if got.Value.Kind != reply.Array {
			return got.Value
		}
		return c.mergeExec(tx.queued, refusals, got.Value.Elems)
	}))
	if edge {
		c.settle() // a SELECT among it concerns what comes next
	}
	return noReply // the place of the reply is taken
}

// fillExec makes the machine's share of a transaction, with the database that
// each command will have selected. It answers the errors of commands that the
// edge refuses, by their place in the queue.
func (c *session) fillExec(e *fsm.Exec, queue []queued) map[int]reply.Value {
	refusals := map[int]reply.Value{}
	db := c.db
	for i := range queue {
		q := &queue[i]
		if q.spec.Where != fsm.Machine {
			if q.spec.Name == "select" {
				if n, ok := databaseOf(q.args[1]); ok {
					db = n
				}
			}
			continue
		}
		cmd := fsm.Command{Space: c.space, DB: db, Args: q.args}
		if a, ok := adapters[q.spec.Name]; ok {
			if v := a.before(c, &cmd); v.IsError() {
				refusals[i] = v
				continue
			}
		}
		c.trackKeys(q.spec, q.args)
		e.Commands = append(e.Commands, fsm.Queued{DB: db, Args: cmd.Args})
	}
	return refusals
}

// mergeExec puts the machine's replies and the edge's in their places. What comes
// before a HELLO is spelled in the protocol of that moment, as in Redis.
func (c *session) mergeExec(queue []queued, refusals map[int]reply.Value, fromMachine []reply.Value) reply.Value {
	values := make([]reply.Value, 0, len(queue))
	c.inExec = true
	defer func() { c.inExec = false }()
	proto, plain, held := c.w.proto, 0, int64(0)
	for i := range queue {
		q := &queue[i]
		c.server.stats.of(q.spec).calls.Add(1)
		v, refused := refusals[i]
		switch {
		case refused:
		case q.spec.Where != fsm.Machine:
			v = c.atEdgeInExec(q.spec, q.args, &held)
			if c.w.proto != proto {
				for ; plain < len(values); plain++ {
					values[plain] = reply.Value{Kind: spelled, Str: string(spell(proto, values[plain]))}
				}
				proto = c.w.proto
			}
		case len(fromMachine) == 0:
			return errInternal
		default:
			v, fromMachine = fromMachine[0], fromMachine[1:]
			if a, ok := adapters[q.spec.Name]; ok {
				v = a.after(c, &fsm.Command{Space: c.space, Args: q.args}, v)
			}
		}
		values = append(values, v)
	}
	return reply.List(values...)
}
