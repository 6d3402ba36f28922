package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/fsm/script"
)

// scriptRun is one script while it runs: the script.Host that its redis.call
// reaches. What SELECT chooses holds for this script only.
type scriptRun struct {
	inner    call // the command that the script is calling
	noMemory bool // over the memory limit when the script began
	allowOOM bool
	wrote    bool // and so may go on writing, as in Redis
}

// runScript runs a compiled script as this command. One that passes its budget
// is undone whole; one that fails by itself keeps what it wrote.
func (c *call) runScript(p *script.Program, keys, args []string) reply.Value {
	readOnly := c.spec.Has(Read)
	noMemory := c.s.memoryMax > 0 && uint64(c.s.memory) > c.s.memoryMax
	if p.Flags.Shebang {
		if readOnly && !p.Flags.NoWrites {
			return reply.Err("ERR Can not execute a script with write flag using *_ro command.")
		}
		if noMemory && !p.Flags.AllowOOM && !p.Flags.NoWrites {
			return errOutOfMemory
		}
	}
	run := &scriptRun{
		inner:    call{s: c.s, db: c.db, client: c.client, now: c.now, wall: c.wall, most: KeysStepsMax},
		noMemory: noMemory,
		allowOOM: p.Flags.AllowOOM,
	}
	start := c.s.mark()
	limits := scriptLimits
	if c.most < KeysStepsMax {
		limits.Instructions = min(limits.Instructions, max(0, int64(c.most-c.walked)-c.cost))
	}
	res := c.s.engine.Run(script.Call{
		Program: p, Keys: keys, Args: args, Seed: c.s.draw(), ReadOnly: readOnly,
	}, run, limits)
	c.cost += res.Instructions
	c.walked += run.inner.walked
	if res.OverBudget {
		c.s.undoTo(start)
		return res.Value
	}
	if g := run.inner.grant; g != 0 && (c.grant == 0 || g < c.grant) {
		c.grant = g
	}
	return res.Value
}

// callCost is what one redis.call costs beside what it visits: finding the row,
// checking, and the undo list.
const callCost = 10

// Call executes one command of the script.
func (r *scriptRun) Call(args []string, b *script.Budget) reply.Value {
	r.inner.budget = b
	b.Spend(callCost)
	name := lower(args[0])
	if f := scriptOnly[name]; f != nil {
		return f(r, args)
	}
	spec := byName[name]
	if len(args) > 1 && containers[name] {
		spec = byName[name+"|"+lower(args[1])]
	}
	switch {
	case spec == nil || spec.Where == Absent || strings.HasPrefix(name, "_") || strings.Contains(name, "|"):
		return errUnknownScript
	case !spec.ArityFits(len(args)):
		return errScriptArity
	case spec.Has(NoScript) || spec.Where != Machine:
		return errNotInScript
	case b.ReadOnly() && spec.Flags&(Write|MayReplicate) != 0:
		return errReadOnly
	case spec.Has(DenyOOM) && r.noMemory && !r.wrote && !r.allowOOM:
		return errOutOfMemory
	}
	r.wrote = r.wrote || spec.Has(Write)
	return r.inner.perform(spec, args)
}

// Log hands a line of redis.log to the node.
func (r *scriptRun) Log(level int, text string) {
	if r.inner.s.ScriptLog != nil {
		r.inner.s.ScriptLog(level, text)
	}
}

// scriptOnly are the commands that a connection's own node answers, but that
// scripts may call, too.
var scriptOnly = map[string]func(*scriptRun, []string) reply.Value{
	"select": (*scriptRun).selectDB,
	"ping":   (*scriptRun).ping,
	"echo":   (*scriptRun).echo,
}

func (r *scriptRun) selectDB(args []string) reply.Value {
	if len(args) != 2 {
		return errScriptArity
	}
	db, bad := r.inner.database(args[1])
	if bad.IsError() {
		return bad
	}
	r.inner.db = db
	return reply.OK
}

func (r *scriptRun) ping(args []string) reply.Value {
	switch len(args) {
	case 1:
		return reply.Simple("PONG")
	case 2:
		return reply.String(args[1])
	}
	return WrongArity("ping")
}

func (r *scriptRun) echo(args []string) reply.Value {
	if len(args) != 2 {
		return errScriptArity
	}
	return reply.String(args[1])
}
