package fsm

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// containers are the commands that are named by their first argument, too:
// "script" has the rows "script|load", "script|exists", ...
var containers = map[string]bool{}

// shownMax is how much of a client's words an error repeats, as in Redis.
const shownMax = 128

// Resolve finds the row for a command as a client sent it: the name, and a
// container's subcommand, in any case. If there is none, or the number of
// arguments doesn't fit, or Redfence lacks the command, the row is nil and the
// Value is the error for the client. Rows whose name begins with an underscore
// are not for clients. args has at least one element.
//
// The server calls it for what it reads, before anything enters the log. A
// Command that it makes has the name (but not the subcommand) in lower case.
func Resolve(args []string) (*Spec, reply.Value) {
	name := lower(args[0])
	spec := byName[name]
	if strings.HasPrefix(name, "_") || strings.Contains(name, "|") || spec == nil {
		return nil, unknownCommand(args)
	}
	if containers[name] && len(args) > 1 {
		sub := byName[name+"|"+lower(args[1])]
		if sub == nil {
			return nil, unknownSubcommand(args)
		}
		spec = sub
	}
	if spec.Where == Absent {
		if spec.Text == "" {
			return nil, unknownCommand(args)
		}
		return nil, reply.Err(spec.Text)
	}
	if !spec.ArityFits(len(args)) {
		return nil, WrongArity(spec.Name)
	}
	return spec, reply.Value{}
}

// rowOf finds the row for a command of the log: its name is in lower case, and
// it may be one of those that are not for clients.
func rowOf(args []string) *Spec {
	name := args[0]
	if len(args) > 1 && containers[name] {
		return byName[name+"|"+lower(args[1])]
	}
	return byName[name]
}

func unknownCommand(args []string) reply.Value {
	var shown strings.Builder
	for _, a := range args[1:] {
		if shown.Len() >= shownMax {
			break
		}
		shown.WriteString("'" + cut(a, shownMax-shown.Len()) + "' ")
	}
	return errorLine("ERR unknown command '" + cut(args[0], shownMax) + "', with args beginning with: " + shown.String())
}

func unknownSubcommand(args []string) reply.Value {
	return errorLine("ERR unknown subcommand '" + cut(args[1], shownMax) + "'. Try " + strings.ToUpper(lower(args[0])) + " HELP.")
}

// errorLine is an error that repeats a client's words, made to fit on one line
// as Redis does it.
func errorLine(text string) reply.Value {
	return reply.Err(strings.NewReplacer("\r", " ", "\n", " ").Replace(strings.TrimRight(text, "\r\n")))
}

// cut is s up to n bytes or its first NUL, as C prints it.
func cut(s string, n int) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s[:min(n, len(s))]
}
