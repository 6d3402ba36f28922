package script

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// Host is what a script's redis.call reaches. The state machine implements it.
type Host interface {
	// Call runs one command in the script's database. args[0] is the command's
	// name in whatever case; there is at least one. What the command visits and
	// copies the host charges to b; when b is exceeded it may answer anything. An
	// error reply is an ordinary Value of Kind Error. Call must not keep args.
	Call(args []string, b *Budget) reply.Value

	// Log receives the lines of redis.log, level 0 (debug) to 3 (warning). It must
	// not affect the state.
	Log(level int, text string)
}

// Call is one run of a script.
type Call struct {
	Program  *Program
	Keys     []string
	Args     []string
	Seed     uint64 // of math.random; from the entry
	ReadOnly bool   // EVAL_RO; see Budget.ReadOnly
}

// Result is how a run ended.
type Result struct {
	Value        reply.Value // what the client is answered
	Instructions int64       // steps that were charged
	Memory       int64       // bytes that were charged
	OverBudget   bool        // a limit was passed: what the script wrote must be undone
	Failed       bool        // it ended with an error of its own; what it wrote before stays
}

// Engine is one interpreter. It is made once and runs any number of scripts, one
// at a time: it is not safe for concurrent use.
type Engine struct{ m *machine }

// New makes an interpreter.
func New() *Engine { return &Engine{newMachine()} }

// Run runs a script to its end. It never panics and leaves nothing behind that a
// later Run could see.
func (e *Engine) Run(c Call, h Host, lim Limits) (res Result) {
	m := e.m
	m.begin(c, h, lim)
	defer func() {
		r := recover()
		switch t := r.(type) {
		case nil:
		case *thrown:
			res.Value, res.Failed = m.errorReply(t, c.Program.SHA1), true
		case overBudget:
			res.OverBudget = true
		default:
			// A fault of the engine. It is the same on every replica, so the answer
			// must be too; what the interpreter looks like now is anyone's guess.
			res.Value, res.Failed = reply.Err(engineFault), true
			e.m = newMachine()
		}
		if m.budget.Exceeded() {
			res.OverBudget, res.Failed = true, true
			res.Value = reply.Err(m.budgetText())
		}
		res.Instructions = lim.Instructions - m.budget.steps
		res.Memory = lim.Memory - m.budget.bytes
		m.end()
	}()
	m.setStrings("KEYS", c.Keys)
	m.setStrings("ARGV", c.Args)
	res.Value = m.toReply(m.callOne(c.Program.main))
	return res
}

// begin sets all that a call may change.
func (m *machine) begin(c Call, h Host, lim Limits) {
	m.lim = lim
	m.budget = Budget{
		steps: lim.Instructions, bytes: lim.Memory,
		readOnly: c.ReadOnly || c.Program.Flags.NoWrites,
	}
	m.host = h
	m.depth, m.native, m.top, m.high = 0, 0, 0, 0
	m.nextID = firstCallID
	m.random.seed(c.Seed)
	m.json = defaultJSON()
}

// end drops what the call leaves, and gives back a stack that grew large.
func (m *machine) end() {
	const keep = 4096
	if len(m.stack) > keep {
		m.stack = make([]value, keep)
	} else {
		clear(m.stack[:min(m.high, len(m.stack))])
	}
	if len(m.frames) > keep/8 {
		m.frames = m.frames[:0:0]
	}
	for _, f := range m.frames {
		if f.regs == nil && f.cl == nil {
			break // frames are taken in order
		}
		*f = frame{}
	}
	m.ret = nil
	m.host = nil
	for _, name := range [...]string{"KEYS", "ARGV"} {
		m.globals.setString(name, falseValue) // keeps their places in the walk of _G
	}
}

// setStrings makes one of the globals KEYS and ARGV. The strings themselves are
// the command's and cost nothing.
func (m *machine) setStrings(name string, list []string) {
	m.grow(sizeTable + int64(len(list))*sizeArraySeg)
	m.spend(int64(len(list)) / 4)
	t := &table{}
	if len(list) > 0 {
		t.list = make([]value, len(list))
		for i, s := range list {
			t.list[i] = str(s)
		}
	}
	m.globals.setString(name, tab(t))
}

func (m *machine) budgetText() string {
	if m.budget.over == overBytes {
		return "ERR script exceeded its budget of " + formatArg(float64(m.lim.Memory)) + " bytes of memory"
	}
	return "ERR script exceeded its budget of " + formatArg(float64(m.lim.Instructions)) + " instructions"
}

// errorReply words an error that nobody caught.
func (m *machine) errorReply(t *thrown, sha string) reply.Value {
	var text string
	switch t.val.kind {
	case kTable:
		text = "ERR unknown error"
		err := t.val.table().getString("err")
		if s, ok := toStr(&err); ok {
			text = s
		}
	case kString, kNumber:
		s, _ := toStr(&t.val)
		text = "ERR " + s
	default:
		text = "ERR " + m.plainString(&t.val)
	}
	text = strings.TrimRight(text, "\r\n")
	if t.known {
		text += " script: " + sha + ", on " + t.source + ":" + formatNumber(float64(t.line)) + "."
	}
	return reply.Err(oneLine(text))
}
