package server

import (
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// clusterArity has the subcommands of CLUSTER that Redis 7.0 knows, with their
// arity. They have no rows of their own, since all get the same error; but what
// isn't one of them, or has the wrong number of arguments, gets another.
var clusterArity = map[string]int{
	"addslots": -3, "addslotsrange": -4, "bumpepoch": 2, "count-failure-reports": 3, "countkeysinslot": 3,
	"delslots": -3, "delslotsrange": -4, "failover": -2, "flushslots": 2, "forget": 3, "getkeysinslot": 4, "help": 2,
	"info": 2, "keyslot": 3, "links": 2, "meet": -4, "myid": 2, "nodes": 2, "replicas": 3, "replicate": 3, "reset": -2,
	"saveconfig": 2, "set-config-epoch": 3, "setslot": -4, "shards": 2, "slaves": 3, "slots": 2,
}

// resolve finds the row for a command as fsm.Resolve does, and looks at CLUSTER's
// subcommand, too: in a MULTI a wrong one must not be queued.
func resolve(args []string) (*fsm.Spec, reply.Value) {
	spec, refusal := fsm.Resolve(args)
	if spec == nil || spec.Name != "cluster" {
		return spec, refusal
	}
	sub := strings.ToLower(args[1])
	arity, known := clusterArity[sub]
	switch {
	case !known:
		return nil, reply.Err("ERR unknown subcommand '" + args[1][:min(len(args[1]), 128)] + "'. Try CLUSTER HELP.")
	case !(&fsm.Spec{Arity: arity}).ArityFits(len(args)):
		return nil, fsm.WrongArity("cluster|" + sub)
	}
	return spec, refusal
}
