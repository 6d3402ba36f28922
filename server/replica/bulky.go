package replica

import (
	"slices"
	"strings"

	"github.com/redfence/redfence/fsm"
)

// valueWrites are the writes that answer values. What else writes answers a number
// or a status.
var valueWrites = map[string]bool{
	"getset": true, "getdel": true, "getex": true, "lpop": true, "rpop": true, "lmpop": true, "lmove": true,
	"rpoplpush": true, "spop": true, "zpopmin": true, "zpopmax": true, "zmpop": true,
	"blpop": true, "brpop": true, "blmpop": true, "blmove": true, "brpoplpush": true, "bzpopmin": true, "bzpopmax": true, "bzmpop": true,
}

// bulky says whether a command's reply may be large. Such commands are not
// proposed while the budget of replies is spent: an entry's answers can't be made
// a second time, so they must have room when they come.
func (c *costs) bulky(cmd *fsm.Command) bool {
	if cmd.Exec == nil {
		return c.bulkyCommand(cmd.Args)
	}
	return slices.ContainsFunc(cmd.Exec.Commands, func(q fsm.Queued) bool { return c.bulkyCommand(q.Args) })
}

func (c *costs) bulkyCommand(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if script := scriptOf(args); script != "" {
		return c.replyOfScript(script) > ReplyFree
	}
	spec := fsm.Find(args[0])
	switch {
	case spec == nil:
		return false
	case spec.Name == "set":
		return slices.ContainsFunc(args[min(3, len(args)):], func(a string) bool { return strings.EqualFold(a, "get") })
	}
	return spec.Has(fsm.Read) || valueWrites[spec.Name]
}

// sortBulky moves bulky parts between the queue of those that may go at once and
// that of those that wait for room. The lock is held.
func (o *origin) sortBulky(crowded bool) {
	if !crowded {
		if len(o.bulky) > 0 {
			o.quick, o.bulky = append(o.bulky, o.quick...), nil
		}
		return
	}
	keep := o.quick[:0]
	for _, p := range o.quick {
		if p.bulky {
			o.bulky = append(o.bulky, p)
		} else {
			keep = append(keep, p)
		}
	}
	clear(o.quick[len(keep):])
	o.quick = keep
}

// poke makes the present target look again whether there is something to take.
func (o *origin) poke() {
	o.mu.Lock()
	signal := o.signal
	o.mu.Unlock()
	signal()
}
