package fsm

import (
	"fmt"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/fsm/script"
)

// call is one command while it runs: what a command's function works with.
type call struct {
	s      *State
	spec   *Spec
	args   []string // args[0] is the name in lower case
	db     *database
	client *Client
	now    int64 // the running clock for what is shown (PTTL); s.clock.now decides what is gone
	wall   int64
	budget *script.Budget // of the script that called, or nil
	origin *origin        // of the batch; nil where nothing may wait
	ticket uint64         // see Command.Ticket
	waiter *waiter        // who waits once the command has ended well
	grant  int64          // see Answer.Grant
	cost   int64          // see Answer.Cost
	walked int            // steps of the walks so far, at most most
	most   int            // KeysStepsMax, or SmallSteps when the entry has no room for more
	held   reply.Value    // why the command must fail and be undone: see refusedByOther and refuse
}

// find is the record that the key's name has on either kind of port: for what
// forbids (NX, EXISTS, GET, PTTL, TYPE). See seats.go.
func (c *call) find(key string) *record {
	if r := c.own(key); r != nil {
		return r
	}
	return c.s.other(c.db, key)
}

// own is the key's record on this side: for what permits (XX, IFEQ, GT, LT) and
// for whatever reads in order to write.
func (c *call) own(key string) *record {
	c.spend(1)
	return c.s.get(c.db, key)
}

// spend charges the calling script for visited elements, and does nothing outside of one.
func (c *call) spend(n int) {
	if c.budget != nil {
		c.budget.Spend(int64(n))
	}
}

// grow charges the calling script for bytes that a reply copies.
func (c *call) grow(n int) {
	if c.budget != nil {
		c.budget.Grow(int64(n))
	}
}

// set makes the string value the key's, with the end of its lease. What the key
// held before decides the fencing token: a string that keeps its value keeps its
// token, everything else is a new grant.
func (c *call) set(key, value string, deadline int64) {
	old := c.own(key)
	if old != nil && old.kind == stringKind && old.str == value {
		c.renew(old, deadline)
		return
	}
	c.put(&record{key: strings.Clone(key), str: strings.Clone(value), kind: stringKind, deadline: deadline})
}

// put stores a record that is a new grant: it gives it its token, its version
// and its holder. The caller owns rec's texts.
func (c *call) put(rec *record) {
	old, due := c.s.get(c.db, rec.key), false
	if c.refusedByLock(old) || old == nil && c.refusedByOther(rec.key) {
		return
	}
	if rec.kind == stringKind {
		c.s.forgetRelease(c.db, rec.key, rec.str)
	}
	c.s.tokens++
	c.s.version++
	rec.token, rec.version, rec.since = c.s.tokens, c.s.version, c.s.clock.now
	rec.holder = c.s.holderOf(c.client)
	rec.grant = c.s.grantFor(c.db, rec)
	if old == nil {
		old, due = c.db.keys.Get(rec.key) // it was to be ended later
	}
	c.s.put(c.db, rec)
	c.s.voteLost(c.db, old, ended(due))
	c.s.grantEvent(c.db, rec)
}

// renew changes the end of a record's lease and keeps the grant.
func (c *call) renew(old *record, deadline int64) {
	if c.refusedByLock(old) {
		return
	}
	fresh := *old
	c.s.version++
	fresh.version, fresh.deadline = c.s.version, deadline
	c.s.put(c.db, &fresh)
}

// drop removes a record of this side.
func (c *call) drop(r *record) {
	if !c.refusedByLock(r) {
		c.s.drop(c.db, r)
		c.s.endEvent(c.db, r, "release")
	}
}

// refusedByLock says whether a record is one that only LOCK.* and FLUSH change:
// held by several, or in its delay. The command then fails and is undone.
func (c *call) refusedByLock(r *record) bool {
	if r == nil || r.kind != lockKind {
		return false
	}
	c.refuse(errWrongType)
	return true
}

// event tells subscribers of this node that key changed; class is the letter of
// notify-keyspace-events.
func (c *call) event(class byte, name, key string) { c.s.keyEvent(c.db, class, name, key) }

// granted notes a lease of ttlMillis that was granted under a condition that forbids.
func (c *call) granted(ttlMillis int64) {
	if ttlMillis > never/1000 {
		return
	}
	if micros := ttlMillis * 1000; c.grant == 0 || micros < c.grant {
		c.grant = micros
	}
}

// runCommands runs a batch's commands in order. Behind one that is put off, the
// same client's others are, too: they take effect in the order sent.
func (s *State) runCommands(b *Batch) []Answer {
	answers := make([]Answer, len(b.Commands))
	putOff, of := false, uint32(0)
	o := s.byID[b.Origin]
	for i := range b.Commands {
		cmd := &b.Commands[i]
		if putOff && cmd.Client == of {
			answers[i] = Answer{Value: ErrPutOff}
			continue
		}
		answers[i] = s.runCommand(cmd, &b.Clients[cmd.Client], o)
		putOff, of = PutOff(&answers[i]), cmd.Client
		s.undo = s.undo[:0]
	}
	return answers
}

// PutOff says whether an answer is ErrPutOff: the command was not executed.
func PutOff(a *Answer) bool { return a.Value.IsError() && a.Value.Str == ErrPutOff.Str }

// runCommand runs one command within what the entry has left, and serves who
// waited for what it brought.
func (s *State) runCommand(cmd *Command, client *Client, o *origin) Answer {
	start := s.mark()
	c := call{s: s, client: client, now: s.clock.now, wall: s.clock.wall, most: KeysStepsMax, origin: o, ticket: cmd.Ticket}
	if s.spent >= EntryStepsMax {
		c.most = SmallSteps
	}
	a := c.whole(cmd)
	size := a.Value.Size()
	c.walked += size / copyBytes
	s.spent += int64(c.walked) + c.cost
	noTime := c.most < KeysStepsMax && int64(c.walked)+c.cost >= int64(c.most)
	if noTime || s.replied >= EntryRepliesMax && size > SmallReply {
		s.undoTo(start)
		return Answer{Value: ErrPutOff, Cost: a.Cost}
	}
	if size > ReplyMax {
		s.undoTo(start)
		return Answer{Value: errReplyTooLong, Cost: a.Cost}
	}
	s.replied += size
	if c.waiter != nil && IsWaiting(&a) {
		s.enqueue(c.waiter)
	}
	s.serve()
	s.serveLocks()
	return a
}

func (c *call) whole(cmd *Command) Answer {
	if cmd.Exec != nil {
		c.ticket = 0
		return c.exec(cmd)
	}
	if c.db = c.s.db(cmd.Space, cmd.DB); c.db == nil {
		return Answer{Value: errNoSuchSeat}
	}
	v := c.run(cmd.Args)
	return Answer{Value: v, Grant: c.grant, Cost: c.cost}
}

// exec runs what a MULTI queued, if no watched key has changed. Its commands
// share one budget: an entry is applied whole, whatever else waits. A MULTI that
// is over it is undone.
func (c *call) exec(cmd *Command) Answer {
	for i := range cmd.Exec.Watched {
		w := &cmd.Exec.Watched[i]
		d := c.s.db(cmd.Space, w.DB)
		if d == nil || c.s.watchVersion(d, w.Key) != w.Version {
			return Answer{Value: reply.NullArray}
		}
	}
	start, size := c.s.mark(), 0
	values := make([]reply.Value, len(cmd.Exec.Commands))
	for i := range cmd.Exec.Commands {
		q := &cmd.Exec.Commands[i]
		if c.db = c.s.db(cmd.Space, q.DB); c.db == nil {
			values[i] = errNoSuchSeat
			continue
		}
		values[i] = c.run(q.Args)
		if size += values[i].Size(); size > ReplyMax {
			c.s.undoTo(start)
			return Answer{Value: errReplyTooLong, Cost: c.cost}
		}
		if c.cost > ExecInstructionsMax {
			c.s.undoTo(start)
			return Answer{Value: errExecCost, Cost: c.cost}
		}
		if c.walked+int(c.cost) >= c.most {
			c.s.undoTo(start)
			return Answer{Value: errTooFar, Cost: c.cost}
		}
	}
	return Answer{Value: reply.List(values...), Grant: c.grant, Cost: c.cost}
}

// run runs one command in c.db. A command that fails by the rule of the two
// kinds of port, by a limit of a value, or by a bug of ours, is undone whole.
func (c *call) run(args []string) (v reply.Value) {
	spec := rowOf(args)
	if spec == nil || spec.Where != Machine {
		return unknownCommand(args)
	}
	if !spec.ArityFits(len(args)) {
		return WrongArity(spec.Name)
	}
	return c.perform(spec, args)
}

// perform runs a row of the table whose arity was checked.
func (c *call) perform(spec *Spec, args []string) (v reply.Value) {
	// A script has its own rule for memory: see scriptRun.
	if c.budget == nil && spec.Has(DenyOOM) && c.s.memoryMax > 0 && uint64(c.s.memory) > c.s.memoryMax {
		return errOutOfMemory
	}
	c.spec, c.args = spec, args
	return c.guarded(spec.run)
}

// guarded runs the command at hand, and undoes it whole where run says.
func (c *call) guarded(f func(*call) reply.Value) (v reply.Value) {
	start := c.s.mark()
	defer func() {
		if r := recover(); r != nil {
			// The fault is alike on every replica, since the machine is
			// deterministic: undoing it keeps them alike and serving.
			c.s.undoTo(start)
			c.s.faults = append(c.s.faults, fmt.Sprintf("%s: %v", c.spec.Name, r))
			v = reply.Err("ERR internal error in '" + c.spec.Name + "', nothing was changed")
		}
	}()
	c.held = reply.Value{}
	before := c.walked
	v = f(c)
	if c.walked > before && c.walked >= c.most && !v.IsError() {
		c.refuse(errTooFar)
	}
	if c.held.IsError() {
		c.s.undoTo(start)
		return c.held
	}
	return v
}

// WrongArity is the error for a command with too few or too many arguments.
func WrongArity(name string) reply.Value {
	return reply.Err("ERR wrong number of arguments for '" + strings.ReplaceAll(name, " ", "|") + "' command")
}
