package fsm

import (
	"sort"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// Flags of a command. They are Redis's words where Redis has them, because
// COMMAND answers with them.
type Flags uint32

const (
	Write        Flags = 1 << iota // changes the machine: always an entry
	Read                           // reads the machine: may run beside the log
	DenyOOM                        // refused while memory is over its limit
	NoScript                       // not from scripts
	NoMulti                        // not queued by MULTI but refused
	NoAuth                         // allowed before AUTH
	Blocking                       // may wait
	PubSub                         // allowed while subscribed under RESP2
	Admin                          // for operators
	Fast                           // O(1) or O(log n), as Redis says
	Loading                        // answered while the node starts
	MayReplicate                   // writes though it is no write of keys (PUBLISH, EVAL)
	MovableKeys                    // keys can't be told from First, Last and Step
	Script                         // runs a script: its cost is not known before
	Walks                          // visits the whole keyspace: a node runs few of them at once
)

// Where says who executes a command.
type Where uint8

const (
	// Machine: this package, at the same place of the log on every replica, or
	// as a read on the leader.
	Machine Where = iota + 1
	// Edge: the node that read it; nothing of it enters the log.
	Edge
	// Absent: Redis has it and Redfence doesn't; Text says what it answers.
	Absent
)

// Spec is one row of the command table, the only place that says which commands
// there are. Dispatch, COMMAND, docs/commands.md and the differential test come from it.
type Spec struct {
	Name  string // lower case; "container|sub" for a subcommand
	Arity int    // as Redis counts: with the name, negative for "at least"
	Flags Flags
	Where Where
	// First, Last and Step say which arguments are keys, as COMMAND does; 0 for none.
	First, Last, Step int
	Group             string // as in COMMAND DOCS: string, generic, lock, ...
	Since             string // the Redis version that brought it, or "redfence"
	Args              string // how its arguments are written
	Summary           string // one line
	Text              string // of an Absent one: the error, "" for unknown command
	run               func(*call) reply.Value
	want              func(args []string) (want, reply.Value) // of one that may wait
}

// Has says whether all of the flags are set.
func (s *Spec) Has(f Flags) bool { return s.Flags&f == f }

// ArityFits says whether n arguments, with the name, are as many as the command takes.
func (s *Spec) ArityFits(n int) bool {
	if s.Arity < 0 {
		return n >= -s.Arity
	}
	return n == s.Arity
}

// byName is filled once, before anything runs.
var byName = map[string]*Spec{}

// Find finds a row by its lower-case name, nil if there is none.
func Find(name string) *Spec { return byName[name] }

// Table lists all rows by name.
func Table() []*Spec {
	rows := make([]*Spec, 0, len(byName))
	for _, s := range byName {
		rows = append(rows, s)
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Name < rows[j].Name })
	return rows
}

func init() {
	for _, rows := range [][]Spec{
		stringRows, hashRows, listRows, setRows, zsetRows, blockingRows, genericRows, expireRows, scriptRows, lockRows, acquireRows, operatorRows, lockAllRows, sessionRows, lockListRows, lockWaitRows, seatRows, serverRows, memoryRows, edgeRows, absentRows,
	} {
		for i := range rows {
			s := &rows[i]
			if byName[s.Name] != nil || s.Name != strings.ToLower(s.Name) || (s.Where == Machine) != (s.run != nil) ||
				s.Has(Blocking) && s.Where == Machine && s.want == nil {
				panic("fsm: bad row of the command table: " + s.Name)
			}
			byName[s.Name] = s
			if container, _, ok := strings.Cut(s.Name, "|"); ok {
				containers[container] = true
			}
		}
	}
}
