package replica

import (
	"hash/maphash"
	"sync"

	"github.com/redfence/redfence/fsm"
)

// costs remembers what scripts cost the last times they ran, so that a batch
// carries at most one that is costly or unknown: a hundred clients with endless
// loops then share the machine with everybody else.
type costs struct {
	mu       sync.Mutex
	seed     maphash.Seed
	seen     map[uint64]runs // by the hash of SHA1 or text
	previous map[uint64]runs // the generation before: together they bound the table
}

// runs is what a script cost lately.
type runs struct {
	instructions int64
	reply        int64 // its Footprint
}

func newCosts() *costs { return &costs{seed: maphash.MakeSeed(), seen: map[uint64]runs{}} }

// unknown is taken for a script that was never seen.
var unknown = runs{costlyScript, ReplyFree + 1}

// of is what a command is expected to cost in script instructions.
func (c *costs) of(cmd *fsm.Command) int64 {
	if cmd.Exec == nil {
		return c.ofScript(scriptOf(cmd.Args))
	}
	var sum int64
	for i := range cmd.Exec.Commands {
		sum += c.ofScript(scriptOf(cmd.Exec.Commands[i].Args))
	}
	return sum
}

func (c *costs) ofScript(script string) int64 {
	if script == "" {
		return 0
	}
	return c.known(script).instructions
}

// replyOfScript is how large a script's reply is expected to be.
func (c *costs) replyOfScript(script string) int64 { return c.known(script).reply }

func (c *costs) known(script string) runs {
	key := maphash.String(c.seed, script)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.seen[key]; ok {
		return r
	}
	if r, ok := c.previous[key]; ok {
		return r
	}
	return unknown
}

// note remembers what a command cost. A script that was costly once is
// forgiven slowly: its next arguments may be the costly ones again.
func (c *costs) note(cmd *fsm.Command, a *fsm.Answer) {
	now := runs{a.Cost, Footprint(&a.Value)}
	if cmd.Exec == nil {
		c.noteScript(scriptOf(cmd.Args), now)
		return
	}
	for i := range cmd.Exec.Commands {
		c.noteScript(scriptOf(cmd.Exec.Commands[i].Args), now)
	}
}

func (c *costs) noteScript(script string, now runs) {
	if script == "" {
		return
	}
	key := maphash.String(c.seed, script)
	c.mu.Lock()
	defer c.mu.Unlock()
	before, ok := c.seen[key]
	if !ok {
		before = c.previous[key]
	}
	if len(c.seen) >= costTableEntries {
		c.previous, c.seen = c.seen, map[uint64]runs{}
	}
	c.seen[key] = runs{
		max(now.instructions, before.instructions-before.instructions/8),
		max(now.reply, before.reply-before.reply/8),
	}
}

// scriptOf is the script that a command names by text or SHA1, "" if it runs none.
func scriptOf(args []string) string {
	if len(args) < 2 {
		return ""
	}
	if spec := fsm.Find(args[0]); spec == nil || !spec.Has(fsm.Script) {
		return ""
	}
	return args[1]
}
