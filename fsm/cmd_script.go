package fsm

import (
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/fsm/script"
)

// The commands for scripts. script_run.go is a script's side of the machine
// while it runs, scripts.go the cache.

var scriptRows = []Spec{
	{
		Name: "eval", Arity: -3, Flags: NoScript | MayReplicate | MovableKeys | Script, Where: Machine,
		Group: "scripting", Since: "2.6.0", Args: "script numkeys [key ...] [arg ...]", Summary: "Execute a Lua script server side", run: runEval,
	},
	{
		Name: "evalsha", Arity: -3, Flags: NoScript | MayReplicate | MovableKeys | Script, Where: Machine,
		Group: "scripting", Since: "2.6.0", Args: "sha1 numkeys [key ...] [arg ...]", Summary: "Execute a Lua script server side", run: runEvalSHA,
	},
	{
		Name: "eval_ro", Arity: -3, Flags: NoScript | Read | MovableKeys | Script, Where: Machine,
		Group: "scripting", Since: "7.0.0", Args: "script numkeys [key ...] [arg ...]", Summary: "Execute a read-only Lua script server side", run: runEval,
	},
	{
		Name: "evalsha_ro", Arity: -3, Flags: NoScript | Read | MovableKeys | Script, Where: Machine,
		Group: "scripting", Since: "7.0.0", Args: "sha1 numkeys [key ...] [arg ...]", Summary: "Execute a read-only Lua script server side", run: runEvalSHA,
	},
	{
		Name: "script", Arity: -2, Where: Machine, Group: "scripting", Since: "2.6.0", Args: "subcommand [arg ...]",
		Summary: "A container for Lua scripts management commands", run: runContainer,
	},
	{
		Name: "script|load", Arity: 3, Flags: NoScript | Script, Where: Machine,
		Group: "scripting", Since: "2.6.0", Args: "script", Summary: "Load the specified Lua script into the script cache", run: runScriptLoad,
	},
	{
		Name: "script|exists", Arity: -3, Flags: NoScript | Read, Where: Machine,
		Group: "scripting", Since: "2.6.0", Args: "sha1 [sha1 ...]", Summary: "Check existence of scripts in the script cache", run: runScriptExists,
	},
	{
		Name: "script|flush", Arity: -2, Flags: NoScript, Where: Machine,
		Group: "scripting", Since: "2.6.0", Args: "[ASYNC | SYNC]", Summary: "Remove all the scripts from the script cache", run: runScriptFlush,
	},
	{
		Name: "script|help", Arity: 2, Flags: Read, Where: Machine,
		Group: "scripting", Since: "5.0.0", Summary: "Show helpful text about the different subcommands", run: runScriptHelp,
	},
}

// shaLen is the length of a SHA1 in hexadecimal.
const shaLen = 40

// scriptKeys splits what follows numkeys into KEYS and ARGV.
func scriptKeys(args []string) (keys, rest []string, bad reply.Value) {
	n, ok := ParseInt(args[2])
	switch {
	case !ok:
		return nil, nil, errNotInteger
	case n > int64(len(args)-3):
		return nil, nil, reply.Err("ERR Number of keys can't be greater than number of args")
	case n < 0:
		return nil, nil, reply.Err("ERR Number of keys can't be negative")
	}
	return args[3 : 3+n], args[3+n:], reply.Value{}
}

func runEval(c *call) reply.Value {
	keys, rest, bad := scriptKeys(c.args)
	if bad.IsError() {
		return bad
	}
	item := c.s.scripts.use(script.SHA1(c.args[1]))
	if item == nil {
		if item = compileScript(c.args[1]); item.fault != "" {
			return reply.Err(item.fault)
		}
		c.s.scripts.add(item)
	}
	return c.runScript(item.program, keys, rest)
}

func runEvalSHA(c *call) reply.Value {
	if len(c.args[1]) != shaLen {
		return errNoScript
	}
	keys, rest, bad := scriptKeys(c.args)
	if bad.IsError() {
		return bad
	}
	item := c.s.scripts.use(lower(c.args[1]))
	if item == nil {
		return errNoScript
	}
	return c.runScript(item.program, keys, rest)
}

func runScriptLoad(c *call) reply.Value {
	item := compileScript(c.args[2])
	if item.fault != "" {
		return reply.Err(item.fault)
	}
	item.loaded = true
	c.s.scripts.add(item)
	return reply.String(item.sha)
}

func runScriptExists(c *call) reply.Value {
	found := make([]reply.Value, len(c.args)-2)
	for i, sha := range c.args[2:] {
		found[i] = reply.Truth(c.s.scripts.has(lower(sha)))
	}
	return reply.List(found...)
}

func runScriptFlush(c *call) reply.Value {
	if len(c.args) > 3 || len(c.args) == 3 && !is(c.args[2], "async") && !is(c.args[2], "sync") {
		return reply.Err("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	}
	c.s.scripts.init()
	return reply.OK
}

const scriptHelp = `SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:
EXISTS <sha1> [<sha1> ...]
    Return information about the existence of the scripts in the script cache.
FLUSH [ASYNC|SYNC]
    Flush the Lua scripts cache of the cluster. Both modes are the same.
KILL
    Kill the currently executing Lua script: none ever is when this is read.
LOAD <script>
    Load a script into the scripts cache of the cluster without executing it.
HELP
    Prints this help.`

func runScriptHelp(*call) reply.Value { return helpLines(scriptHelp) }
