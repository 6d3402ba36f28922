package server

import (
	"runtime/debug"
	goruntime "runtime/metrics"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// text answers what people read: a verbatim string under RESP3.
func text(s string) reply.Value { return reply.Value{Kind: reply.Verbatim, Str: s} }

func ok(*session, []string) reply.Value        { return reply.OK }
func emptyList(*session, []string) reply.Value { return reply.List() }

// help lists a container's subcommands from the command table.
func help(_ *session, args []string) reply.Value {
	container := strings.ToLower(args[0])
	lines := []string{strings.ToUpper(container) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	for _, spec := range commands().subs[container] {
		_, sub, _ := strings.Cut(spec.Name, "|")
		lines = append(lines, strings.TrimRight(strings.ToUpper(sub)+" "+spec.Args, " "), "    "+spec.Summary)
	}
	out := make([]reply.Value, len(lines))
	for i, l := range lines {
		out[i] = reply.Simple(l)
	}
	return reply.List(out...)
}

// subcommandSyntax is Redis's error for a subcommand with the wrong arguments.
func subcommandSyntax(args []string) reply.Value {
	return reply.Err("ERR unknown subcommand or wrong number of arguments for '" + args[1] + "'. Try " +
		strings.ToUpper(args[0]) + " HELP.")
}

func noCluster(*session, []string) reply.Value { return errCluster }

// role says master on every node: each serves every command.
func role(*session, []string) reply.Value {
	return reply.List(reply.String("master"), reply.Integer(0), reply.List())
}

// functionList and functionFlush answer as a Redis without libraries does: what
// clears a server before its tests flushes them, too.
func functionList(_ *session, args []string) reply.Value {
	code, library := false, false
	for i := 2; i < len(args); i++ {
		switch {
		case !code && strings.EqualFold(args[i], "withcode"):
			code = true
		case library || !strings.EqualFold(args[i], "libraryname"):
			return reply.Err("ERR Unknown argument " + args[i])
		case i+1 == len(args):
			return reply.Err("ERR library name argument was not given")
		default:
			library = true
			i++
		}
	}
	return reply.List()
}

func functionFlush(_ *session, args []string) reply.Value {
	if len(args) > 3 {
		return subcommandSyntax(args)
	}
	if len(args) == 3 && !strings.EqualFold(args[2], "sync") && !strings.EqualFold(args[2], "async") {
		return reply.Err("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
	}
	return reply.OK
}

func scriptKill(*session, []string) reply.Value { return errNoScriptRuns }

func aclWhoami(*session, []string) reply.Value { return reply.String("default") }
func aclUsers(*session, []string) reply.Value  { return reply.Strings([]string{"default"}) }

func memoryPurge(*session, []string) reply.Value {
	debug.FreeOSMemory()
	return reply.OK
}

func memoryDoctor(c *session, _ []string) reply.Value {
	held := c.server.inputHeld.Load()
	if held > InputBytesMax/2 {
		return text("Clients have sent large commands and not finished them: CLIENT LIST shows who is idle.\n")
	}
	return text("Hi, I can't find any memory issue in this node. Records are counted in INFO (used_memory_dataset).\n")
}

// memoryUsed is what objects take and what the process has from the system,
// read without stopping it.
func memoryUsed() (heap, resident uint64) {
	samples := []goruntime.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	goruntime.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64() - samples[2].Value.Uint64()
}

func memoryStats(c *session, _ []string) reply.Value {
	heap, resident := memoryUsed()
	return reply.Pairs(
		reply.String("total.allocated"), reply.Integer(int64(heap)),
		reply.String("dataset.bytes"), reply.Integer(c.server.backend.Status().Memory),
		reply.String("clients.normal"), reply.Integer(c.server.inputHeld.Load()+c.server.outputHeld.Load()),
		reply.String("allocator.resident"), reply.Integer(int64(resident)),
	)
}
