package server

import (
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

var errNotDebugged = reply.Err("ERR the script was not run: a script can't be stepped through on a server that replicates it. " +
	"Run it without --ldb, or debug it on a redis-server")

// noteDebug remembers that SCRIPT DEBUG was refused. redis-cli --ldb doesn't look
// at that reply and sends the script, which Redis would then run in a copy of its
// data: it must not run on the real ones.
func (c *session) noteDebug(args []string) {
	if len(args) == 3 && strings.EqualFold(args[0], "script") && strings.EqualFold(args[1], "debug") {
		c.undebugged = !strings.EqualFold(args[2], "no")
	}
}

// undebuggable says whether a command is the script that was to be stepped through.
func (c *session) undebuggable(spec *fsm.Spec) bool {
	if !c.undebugged || !spec.Has(fsm.Script) {
		return false
	}
	c.undebugged = false
	return true
}
