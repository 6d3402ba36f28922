package script

// machine runs compiled functions. Lua functions that call one another take frames
// here and nothing of Go's stack; library functions and metamethods that call back
// do recurse, at most MaxNativeDepth deep.
type machine struct {
	stack  []value
	frames []*frame
	depth  int // frames in use
	native int64
	top    int // end of an open list of values; where a library function may push
	high   int // how much of the stack this call has used
	budget Budget
	lim    Limits
	ret    []value // what a library function returns, reused

	globals  *table
	strings  *table // the string library: what s:method() finds
	strMeta  *table
	nullJSON value

	nextID int64 // for printing tables and functions
	host   Host
	random rng
	json   jsonConfig
}

// frame is one running function; cl is nil for a library function.
type frame struct {
	cl      *closure
	code    []instr
	consts  []value
	regs    []value
	varargs []value
	base    int
	pc      int
	fn      int  // where the function was, and its results go
	want    int  // how many results the caller takes, -1 for all
	tails   int  // calls that this one replaced
	entry   bool // execute ends when this frame returns
}

// stackFree is how much stack a call may use without being charged.
const stackFree = 1024

// spend charges steps and ends the script if there are none left.
func (m *machine) spend(n int64) {
	if !m.budget.Spend(n) {
		panic(overBudget{})
	}
}

// grow charges memory before it is taken, and ends the script if there is none.
func (m *machine) grow(bytes int64) {
	if !m.budget.Grow(bytes) {
		panic(overBudget{})
	}
}

// newString charges for a string of Go's making and for having made it.
func (m *machine) newString(s string) value {
	m.chargeString(len(s))
	return str(s)
}

func (m *machine) chargeString(n int) {
	m.grow(int64(n) + sizeString)
	if n >= 64 {
		m.spend(int64(n) / 64)
	}
}

// ensure makes room for n values in all.
func (m *machine) ensure(n int) {
	if n <= m.high {
		return
	}
	if int64(n) > m.lim.MaxStack {
		m.runtimeError("stack overflow")
	}
	if n > stackFree {
		m.grow(int64(n-max(m.high, stackFree)) * sizeValue)
	}
	m.high = n
	if n <= len(m.stack) {
		return
	}
	bigger := make([]value, max(2*len(m.stack), n))
	copy(bigger, m.stack)
	m.stack = bigger
	for _, f := range m.frames[:m.depth] {
		if f.cl != nil {
			f.regs = m.stack[f.base : f.base+f.cl.p.maxRegs]
		}
	}
}

func (m *machine) pushFrame() *frame {
	if int64(m.depth) >= m.lim.MaxCallDepth {
		m.runtimeError("stack overflow")
	}
	if m.depth == len(m.frames) {
		chunk := make([]frame, 16)
		for i := range chunk {
			m.frames = append(m.frames, &chunk[i])
		}
	}
	f := m.frames[m.depth]
	m.depth++
	f.tails, f.entry, f.varargs = 0, false, nil
	return f
}

// precall starts the function at stack[fn] with the nargs values behind it. A
// library function has returned when precall does; a Lua function has a frame.
func (m *machine) precall(fn, nargs, want int) {
	for {
		switch v := &m.stack[fn]; v.kind {
		case kClosure:
			m.pushLua(v.ref.(*closure), fn, nargs, want)
			return
		case kBuiltin:
			m.callBuiltin(v.ref.(*builtin), fn, nargs, want)
			return
		}
		h := m.metamethod(&m.stack[fn], "__call")
		if !h.isFunction() {
			m.typeError("call", fn)
		}
		m.ensure(fn + nargs + 2)
		copy(m.stack[fn+1:fn+nargs+2], m.stack[fn:fn+nargs+1])
		m.stack[fn] = h
		nargs++
	}
}

func (m *machine) pushLua(cl *closure, fn, nargs, want int) {
	p := cl.p
	base := fn + 1
	m.ensure(base + max(p.maxRegs, nargs))
	f := m.pushFrame()
	f.cl, f.code, f.consts = cl, p.code, p.consts
	f.base, f.pc, f.fn, f.want = base, 0, fn, want
	f.regs = m.stack[base : base+p.maxRegs]
	for i := nargs; i < p.numParams; i++ {
		f.regs[i] = nilValue
	}
	if p.isVararg && nargs > p.numParams {
		extra := m.stack[base+p.numParams : base+nargs]
		m.grow(int64(len(extra)) * sizeValue)
		m.spend(int64(len(extra)) / 4)
		f.varargs = append([]value(nil), extra...)
	}
}

func (m *machine) callBuiltin(b *builtin, fn, nargs, want int) {
	f := m.pushFrame()
	f.cl, f.fn = nil, fn
	m.top = fn + 1 + nargs
	m.ensure(m.top)
	res := b.fn(m, m.stack[fn+1:fn+1+nargs:fn+1+nargs])
	if m.budget.Exceeded() {
		panic(overBudget{}) // whoever charged without looking
	}
	m.depth--
	m.finish(fn, want, res)
}

// finish puts results where the caller wants them. res may be part of the stack.
func (m *machine) finish(fn, want int, res []value) {
	if want < 0 {
		m.ensure(fn + len(res))
		m.spend(int64(len(res)) / 4)
		copy(m.stack[fn:], res)
		m.top = fn + len(res)
		return
	}
	if len(res) > want {
		res = res[:want]
	}
	m.ensure(fn + want)
	n := copy(m.stack[fn:fn+want], res)
	for ; n < want; n++ {
		m.stack[fn+n] = nilValue
	}
}

// call runs a function from Go. The results are a view of the stack: to be used
// before anything else is called.
func (m *machine) call(fn value, args ...value) []value {
	if m.native++; m.native > m.lim.MaxNativeDepth {
		m.native--
		m.runtimeError("C stack overflow")
	}
	at, depth := m.top, m.depth
	m.ensure(at + 1 + len(args))
	m.stack[at] = fn
	copy(m.stack[at+1:], args)
	m.spend(int64(len(args)) / 4)
	m.precall(at, len(args), -1)
	if m.depth > depth {
		m.frames[m.depth-1].entry = true
		m.execute()
	}
	res := m.stack[at:m.top]
	m.top = at
	m.native--
	return res
}

// callOne is call for those who want one value.
func (m *machine) callOne(fn value, args ...value) value {
	if res := m.call(fn, args...); len(res) > 0 {
		return res[0]
	}
	return nilValue
}

// protected is call that catches what Lua code throws. What ends a script for good
// passes through.
func (m *machine) protected(fn value, args []value) (res []value, caught *thrown) {
	depth, native, top := m.depth, m.native, m.top
	defer func() {
		if r := recover(); r != nil {
			t, ok := r.(*thrown)
			if !ok {
				panic(r)
			}
			m.depth, m.native, m.top = depth, native, top
			caught = t
		}
	}()
	return m.call(fn, args...), nil
}

// execute runs until the frame marked entry returns.
func (m *machine) execute() {
	for {
		f := m.frames[m.depth-1]
		i := &f.code[f.pc]
		f.pc++
		if m.budget.steps--; m.budget.steps < 0 {
			m.budget.steps = 0
			m.budget.over = overSteps
			panic(overBudget{})
		}
		if handlers[i.op](m, f, i) {
			return
		}
	}
}

// one and none return from a library function.
func (m *machine) one(v value) []value {
	m.ret = append(m.ret[:0], v)
	return m.ret
}

func (m *machine) two(a, b value) []value {
	m.ret = append(m.ret[:0], a, b)
	return m.ret
}
