package script

import "strconv"

// thrown is a Lua error on its way to whoever catches it. Where it was raised is
// kept for Redis's "on @user_script:1".
type thrown struct {
	val    value
	source string
	line   int
	known  bool // source and line are known
}

// overBudget ends a script; nothing in Lua can catch it.
type overBudget struct{}

// throw raises any value, as error(v, 0) does.
func (m *machine) throw(v value) {
	t := &thrown{val: v}
	level := 0
	if m.depth > 0 && m.frames[m.depth-1].cl == nil {
		level = 1 // a library function raised it: its caller counts
	}
	if f, ok := m.level(level); ok {
		t.known = true
		t.source, t.line = "=[C]", -1
		if f != nil {
			t.source, t.line = "@"+chunkName, f.currentLine()
		}
	}
	panic(t)
}

// runtimeError raises what the interpreter itself objects to: with the place, if
// Lua code is what runs now.
func (m *machine) runtimeError(msg string) {
	msg = m.where(0) + msg
	m.throw(m.newString(msg))
}

// errorf raises what a library function objects to, with its caller's place.
func (m *machine) errorf(parts ...string) {
	msg := m.where(1)
	for _, p := range parts {
		msg += p
	}
	m.throw(m.newString(msg))
}

// argError objects to argument n of the library function that runs.
func (m *machine) argError(n int, msg string) {
	name, method := m.builtinName()
	if method {
		if n--; n == 0 {
			m.errorf("calling '", name, "' on bad self (", msg, ")")
		}
	}
	m.errorf("bad argument #", strconv.Itoa(n), " to '", name, "' (", msg, ")")
}

func (m *machine) argTypeError(args []value, n int, want string) {
	got := "no value"
	if n <= len(args) {
		got = args[n-1].kind.String()
	}
	m.argError(n, want+" expected, got "+got)
}

// level is the frame n calls up: nil for a library function or one that a tail call
// replaced, and not ok beyond the first.
func (m *machine) level(n int) (f *frame, ok bool) {
	for i := m.depth - 1; i >= 0; i-- {
		f := m.frames[i]
		if n == 0 {
			if f.cl == nil {
				return nil, true
			}
			return f, true
		}
		n--
		if f.cl != nil && f.tails > 0 {
			if n < f.tails {
				return nil, true
			}
			n -= f.tails
		}
	}
	return nil, false
}

// where is "user_script:1: " for Lua code n calls up, and nothing for Go code.
func (m *machine) where(n int) string {
	if f, ok := m.level(n); ok && f != nil {
		return chunkName + ":" + strconv.Itoa(f.currentLine()) + ": "
	}
	return ""
}

func (f *frame) currentLine() int {
	if f.pc == 0 {
		return f.cl.p.line
	}
	return int(f.cl.p.lines[f.pc-1])
}

// builtinName is what Lua code called the running library function.
func (m *machine) builtinName() (name string, method bool) {
	if m.depth >= 2 {
		if f := m.frames[m.depth-2]; f.cl != nil && f.pc > 0 {
			i := &f.code[f.pc-1]
			if i.op == opCall || i.op == opTailCall {
				m.spend(int64(f.pc) / 8)
				what, name := f.nameOf(int(i.a), f.pc-1)
				if name != "" {
					return name, what == "method"
				}
			}
		}
	}
	return "?", false
}

// typeError objects to doing op with the value at a place of the stack.
func (m *machine) typeError(op string, at int) {
	v := &m.stack[at]
	if m.depth > 0 {
		if f := m.frames[m.depth-1]; f.cl != nil {
			m.spend(int64(f.pc) / 8)
			if what, name := f.nameOf(at-f.base, f.pc-1); name != "" {
				m.runtimeError("attempt to " + op + " " + what + " '" + name + "' (a " + v.kind.String() + " value)")
			}
		}
	}
	m.runtimeError("attempt to " + op + " a " + v.kind.String() + " value")
}

// operandError is typeError for an operand of the running instruction.
func (m *machine) operandError(op string, f *frame, rk int32, v *value) {
	m.spend(int64(f.pc) / 8)
	if rk >= 0 {
		if what, name := f.nameOf(int(rk), f.pc-1); name != "" {
			m.runtimeError("attempt to " + op + " " + what + " '" + name + "' (a " + v.kind.String() + " value)")
		}
	}
	m.runtimeError("attempt to " + op + " a " + v.kind.String() + " value")
}

// nameOf finds what the script calls the value in a register at an instruction.
func (f *frame) nameOf(reg, pc int) (what, name string) {
	p := f.cl.p
	for _, l := range p.locals {
		if int(l.reg) == reg && int(l.start) <= pc && pc < int(l.end) {
			return "local", l.name
		}
	}
	set := p.setter(int32(reg), pc)
	if set < 0 {
		return "", ""
	}
	i := &p.code[set]
	switch i.op {
	case opMove, opGetCell:
		if i.b >= 0 && (i.b < i.a || i.op == opGetCell) {
			return f.nameOf(int(i.b), set)
		}
	case opGetGlobal:
		return "global", p.consts[i.b].str()
	case opGetUp:
		return "upvalue", p.ups[i.b].name
	case opGetTable:
		if i.c < 0 && p.consts[^i.c].kind == kString {
			return "field", p.consts[^i.c].str()
		}
		return "field", "?"
	case opSelf:
		return "method", p.consts[i.c].str()
	}
	return "", ""
}

// setter is the instruction before pc that last wrote a register, or -1 if that
// depends on the way control took.
func (p *proto) setter(reg int32, pc int) int {
	set, jump := -1, 0
	for n := 0; n < pc; n++ {
		i := &p.code[n]
		wrote := false
		switch i.op {
		case opJump, opJumpIf, opJumpNot, opJumpEq, opJumpNe, opJumpLt, opJumpNotLt, opJumpLe, opJumpNotLe:
			if t := int(i.a); t > n && t <= pc {
				jump = max(jump, t)
			}
		case opLoadNil:
			wrote = reg >= i.a && reg < i.a+i.b
		case opSelf:
			wrote = reg == i.a || reg == i.a+1
		case opCall, opTailCall, opVararg:
			wrote = reg >= i.a
		case opForCall:
			wrote = reg >= i.a+3
		case opSetUp, opSetCell, opSetGlobal, opSetTable, opSetList, opReturn, opNewCell, opForPrep, opForLoop, opForIn:
		default:
			wrote = reg == i.a
		}
		if wrote {
			set = n
			if n < jump {
				set = -1
			}
		}
	}
	return set
}
