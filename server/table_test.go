package server

import (
	"strings"
	"testing"

	"github.com/redfence/redfence/fsm"
)

// Each row of the edge has a handler and each handler a row; a container's row
// has none, since its subcommands have.
func TestEdgeRowsHaveHandlers(t *testing.T) {
	rows := map[string]bool{}
	for _, spec := range fsm.Table() {
		if spec.Where != fsm.Edge {
			continue
		}
		rows[spec.Name] = true
		container := len(commands().subs[spec.Name]) > 0 && !strings.Contains(spec.Name, "|") && spec.Name != "command"
		if (handlers[spec.Name] != nil) == container {
			t.Errorf("row %q: container %v, handler %v", spec.Name, container, !container)
		}
	}
	for name := range handlers {
		if !rows[name] {
			t.Errorf("handler %q has no row at the edge", name)
		}
	}
	for name := range adapters {
		if spec := fsm.Find(name); spec == nil || spec.Where != fsm.Machine {
			t.Errorf("adapter %q has no row of the machine", name)
		}
	}
	for name := range unqueued {
		if fsm.Find(name) == nil {
			t.Errorf("%q is no command", name)
		}
	}
}

// Every absent command is answered with an error that drivers take for an
// unknown command, or with the one that Redis has for it; the connection goes on.
func TestAbsentCommandsAreRefused(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	for _, spec := range fsm.Table() {
		if spec.Where != fsm.Absent {
			continue
		}
		got := p.do(strings.ReplaceAll(spec.Name, "|", " ") + " a b c")
		if !strings.HasPrefix(got, "-ERR unknown command '") && spec.Name != "debug" {
			t.Errorf("%s: %q", spec.Name, got)
		}
	}
	p.want("DEBUG SLEEP 1", "-ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", "+
		"you can run it from a local connection, otherwise you need to set this option in the configuration file, "+
		"and then restart the server.\r\n")
	p.want("PING", "+PONG\r\n")
}

// What a driver learns from COMMAND must be the table.
func TestCommandTellsTheTable(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	p.want("COMMAND GETKEYS SET a b", "*1\r\n$1\r\na\r\n")
	p.want("COMMAND GETKEYS EVAL x 2 a b c", "*2\r\n$1\r\na\r\n$1\r\nb\r\n")
	p.want("COMMAND GETKEYS PING x", "-ERR The command has no key arguments\r\n")
	p.want("COMMAND GETKEYS NOSUCH a", "-ERR Invalid command specified\r\n")
	p.want("COMMAND INFO nosuch", "*1\r\n$-1\r\n")
	p.want("COMMAND LIST FILTERBY PATTERN psub*", "*1\r\n$10\r\npsubscribe\r\n")
	if got := p.do("COMMAND INFO _watch xadd"); got != "*2\r\n$-1\r\n$-1\r\n" {
		t.Errorf("rows that are not for clients show: %q", got)
	}
	if got := p.do("COMMAND DOCS set"); !strings.HasPrefix(got, "*2\r\n$3\r\nset\r\n*6\r\n$7\r\nsummary\r\n") {
		t.Errorf("COMMAND DOCS set: %q", got)
	}
	p.do("HELLO 3")
	if got := p.do("COMMAND DOCS set"); !strings.HasPrefix(got, "%1\r\n$3\r\nset\r\n%3\r\n") {
		t.Errorf("COMMAND DOCS set in RESP3: %q", got)
	}
}
