package script

// handlers run one instruction each, and report whether execute is done. A handler
// may keep f.regs only until it calls something that could move the stack.
var handlers [opCount]func(m *machine, f *frame, i *instr) bool

func init() {
	handlers = [opCount]func(m *machine, f *frame, i *instr) bool{
		opMove: doMove, opLoadK: doLoadK, opLoadNil: doLoadNil,
		opGetUp: doGetUp, opSetUp: doSetUp,
		opNewCell: doNewCell, opGetCell: doGetCell, opSetCell: doSetCell,
		opGetGlobal: doGetGlobal, opSetGlobal: doSetGlobal,
		opGetTable: doGetTable, opSetTable: doSetTable, opSelf: doSelf,
		opNewTable: doNewTable, opSetList: doSetList,
		opArithAdd: doAdd, opArithSub: doSub, opArithMul: doMul, opArithDiv: doDiv,
		opArithMod: doMod, opArithPow: doArith,
		opUnm: doUnm, opNot: doNot, opLen: doLen, opJoin: doJoin,
		opJump: doJump, opJumpIf: doJumpIf, opJumpNot: doJumpNot,
		opJumpEq: doJumpEq, opJumpNe: doJumpNe,
		opJumpLt: doJumpLt, opJumpNotLt: doJumpNotLt,
		opJumpLe: doJumpLe, opJumpNotLe: doJumpNotLe,
		opCall: doCall, opTailCall: doTailCall, opReturn: doReturn, opVararg: doVararg,
		opClosure: doClosure, opForPrep: doForPrep, opForLoop: doForLoop,
		opForCall: doForCall, opForIn: doForIn,
	}
}

// rk is the register or constant that an operand names.
func (f *frame) rk(x int32) *value {
	if x >= 0 {
		return &f.regs[x]
	}
	return &f.consts[^x]
}

func doMove(m *machine, f *frame, i *instr) bool {
	f.regs[i.a] = *f.rk(i.b)
	return false
}

func doLoadK(m *machine, f *frame, i *instr) bool {
	f.regs[i.a] = f.consts[i.b]
	return false
}

func doLoadNil(m *machine, f *frame, i *instr) bool {
	clear(f.regs[i.a : i.a+i.b])
	return false
}

func doGetUp(m *machine, f *frame, i *instr) bool {
	f.regs[i.a] = f.cl.ups[i.b].v
	return false
}

func doSetUp(m *machine, f *frame, i *instr) bool {
	f.cl.ups[i.a].v = *f.rk(i.b)
	return false
}

func doNewCell(m *machine, f *frame, i *instr) bool {
	m.grow(sizeValue)
	f.regs[i.a] = value{kind: kCell, ref: &cell{f.regs[i.a]}}
	return false
}

func doGetCell(m *machine, f *frame, i *instr) bool {
	f.regs[i.a] = f.regs[i.b].ref.(*cell).v
	return false
}

func doSetCell(m *machine, f *frame, i *instr) bool {
	f.regs[i.a].ref.(*cell).v = *f.rk(i.b)
	return false
}

func doGetGlobal(m *machine, f *frame, i *instr) bool {
	k := &f.consts[i.b]
	v := m.globals.getString(k.ref.(string))
	if v.kind == kNil {
		v = m.index(tab(m.globals), k)
	}
	f.regs[i.a] = v
	return false
}

func doSetGlobal(m *machine, f *frame, i *instr) bool {
	m.setIndex(tab(m.globals), &f.consts[i.a], *f.rk(i.b))
	return false
}

func doGetTable(m *machine, f *frame, i *instr) bool {
	obj, k := &f.regs[i.b], f.rk(i.c)
	if obj.kind == kTable {
		t := obj.ref.(*table)
		m.chargeKey(k)
		if v := t.get(k); v.kind != kNil || t.meta == nil {
			f.regs[i.a] = v
			return false
		}
	} else if obj.kind != kString {
		if h := m.metamethod(obj, "__index"); h.kind == kNil {
			m.operandError("index", f, i.b, obj)
		}
	}
	v := m.index(*obj, k)
	f.regs[i.a] = v
	return false
}

func doSetTable(m *machine, f *frame, i *instr) bool {
	obj := &f.regs[i.a]
	if obj.kind != kTable {
		if h := m.metamethod(obj, "__newindex"); h.kind == kNil {
			m.operandError("index", f, i.a, obj)
		}
	}
	m.setIndex(*obj, f.rk(i.b), *f.rk(i.c))
	return false
}

func doSelf(m *machine, f *frame, i *instr) bool {
	obj, k := f.regs[i.b], &f.consts[i.c]
	f.regs[i.a+1] = obj
	m.chargeKey(k)
	switch {
	case obj.kind == kString:
		f.regs[i.a] = m.strings.getString(k.ref.(string))
	case obj.kind == kTable && obj.ref.(*table).meta == nil:
		f.regs[i.a] = obj.ref.(*table).get(k)
	default:
		if h := m.metamethod(&obj, "__index"); obj.kind != kTable && h.kind == kNil {
			m.operandError("index", f, i.b, &obj)
		}
		v := m.index(obj, k)
		f.regs[i.a] = v
	}
	return false
}

func doNewTable(m *machine, f *frame, i *instr) bool {
	f.regs[i.a] = tab(m.newTable())
	return false
}

func (m *machine) newTable() *table {
	m.grow(sizeTable)
	return &table{}
}

func doSetList(m *machine, f *frame, i *instr) bool {
	t := f.regs[i.a].ref.(*table)
	first := f.base + int(i.a) + 1
	n := int(i.b)
	if n < 0 {
		n = m.top - first
		m.ensure(first + n)
	}
	m.spend(int64(n) / 4)
	m.grow(int64(n) * sizeArraySeg)
	for j := 0; j < n; j++ {
		v := m.stack[first+j]
		if len(t.list) == int(i.c)+j {
			t.appendItem(v)
		} else {
			t.setInt(int(i.c)+j+1, v)
		}
	}
	return false
}

func doAdd(m *machine, f *frame, i *instr) bool {
	b, c := f.rk(i.b), f.rk(i.c)
	if b.kind == kNumber && c.kind == kNumber {
		f.regs[i.a] = value{kind: kNumber, num: b.num + c.num}
		return false
	}
	return doArith(m, f, i)
}

func doSub(m *machine, f *frame, i *instr) bool {
	b, c := f.rk(i.b), f.rk(i.c)
	if b.kind == kNumber && c.kind == kNumber {
		f.regs[i.a] = value{kind: kNumber, num: b.num - c.num}
		return false
	}
	return doArith(m, f, i)
}

func doMul(m *machine, f *frame, i *instr) bool {
	b, c := f.rk(i.b), f.rk(i.c)
	if b.kind == kNumber && c.kind == kNumber {
		f.regs[i.a] = value{kind: kNumber, num: b.num * c.num}
		return false
	}
	return doArith(m, f, i)
}

func doDiv(m *machine, f *frame, i *instr) bool {
	b, c := f.rk(i.b), f.rk(i.c)
	if b.kind == kNumber && c.kind == kNumber {
		f.regs[i.a] = value{kind: kNumber, num: b.num / c.num}
		return false
	}
	return doArith(m, f, i)
}

func doMod(m *machine, f *frame, i *instr) bool {
	b, c := f.rk(i.b), f.rk(i.c)
	if b.kind == kNumber && c.kind == kNumber {
		f.regs[i.a] = value{kind: kNumber, num: calculate(opArithMod, b.num, c.num)}
		return false
	}
	return doArith(m, f, i)
}

func doArith(m *machine, f *frame, i *instr) bool {
	v := m.arith(i.op, f, i.b, i.c)
	f.regs[i.a] = v
	return false
}

func doUnm(m *machine, f *frame, i *instr) bool {
	if b := &f.regs[i.b]; b.kind == kNumber {
		f.regs[i.a] = number(-b.num)
		return false
	}
	v := m.arith(opUnm, f, i.b, i.b)
	f.regs[i.a] = v
	return false
}

func doNot(m *machine, f *frame, i *instr) bool {
	f.regs[i.a] = boolean(!f.regs[i.b].truthy())
	return false
}

func doLen(m *machine, f *frame, i *instr) bool {
	switch b := &f.regs[i.b]; b.kind {
	case kString:
		f.regs[i.a] = number(float64(len(b.ref.(string))))
	case kTable:
		f.regs[i.a] = number(float64(b.ref.(*table).length()))
	default:
		h := m.metamethod(b, "__len")
		if h.kind == kNil {
			m.operandError("get length of", f, i.b, b)
		}
		v := m.callMeta(h, *b, nilValue)
		f.regs[i.a] = v
	}
	return false
}

func doJoin(m *machine, f *frame, i *instr) bool {
	v := m.concat(f, int(i.b), int(i.c))
	f.regs[i.a] = v
	return false
}

func doJump(m *machine, f *frame, i *instr) bool {
	f.pc = int(i.a)
	return false
}

func doJumpIf(m *machine, f *frame, i *instr) bool {
	if f.regs[i.b].truthy() {
		f.pc = int(i.a)
	}
	return false
}

func doJumpNot(m *machine, f *frame, i *instr) bool {
	if !f.regs[i.b].truthy() {
		f.pc = int(i.a)
	}
	return false
}

func doJumpEq(m *machine, f *frame, i *instr) bool {
	if m.equal(f.rk(i.b), f.rk(i.c)) {
		f.pc = int(i.a)
	}
	return false
}

func doJumpNe(m *machine, f *frame, i *instr) bool {
	if !m.equal(f.rk(i.b), f.rk(i.c)) {
		f.pc = int(i.a)
	}
	return false
}

func doJumpLt(m *machine, f *frame, i *instr) bool {
	if m.less(f.rk(i.b), f.rk(i.c)) {
		f.pc = int(i.a)
	}
	return false
}

func doJumpNotLt(m *machine, f *frame, i *instr) bool {
	if !m.less(f.rk(i.b), f.rk(i.c)) {
		f.pc = int(i.a)
	}
	return false
}

func doJumpLe(m *machine, f *frame, i *instr) bool {
	if m.lessEqual(f.rk(i.b), f.rk(i.c)) {
		f.pc = int(i.a)
	}
	return false
}

func doJumpNotLe(m *machine, f *frame, i *instr) bool {
	if !m.lessEqual(f.rk(i.b), f.rk(i.c)) {
		f.pc = int(i.a)
	}
	return false
}

// nargs is how many arguments a call passes.
func (m *machine) nargs(f *frame, i *instr) int {
	if i.b >= 0 {
		return int(i.b)
	}
	return m.top - (f.base + int(i.a) + 1)
}

func doCall(m *machine, f *frame, i *instr) bool {
	m.precall(f.base+int(i.a), m.nargs(f, i), int(i.c))
	return false
}

// doTailCall gives the frame to the callee, so that such calls may go on for ever.
func doTailCall(m *machine, f *frame, i *instr) bool {
	fn, n := f.base+int(i.a), m.nargs(f, i)
	if m.stack[fn].kind != kClosure {
		// A library function has returned, and the return that follows passes its
		// results on; a callable table's handler runs as an ordinary call.
		m.precall(fn, n, -1)
		return false
	}
	m.spend(int64(n) / 4)
	copy(m.stack[f.fn:f.fn+1+n], m.stack[fn:fn+1+n])
	tails, entry := f.tails, f.entry
	m.depth--
	m.pushLua(m.stack[f.fn].ref.(*closure), f.fn, n, f.want)
	f.tails, f.entry = min(tails+1, 1<<20), entry
	return false
}

func doReturn(m *machine, f *frame, i *instr) bool {
	first := f.base + int(i.a)
	n := int(i.b)
	if n < 0 {
		n = m.top - first
	}
	m.depth--
	f.varargs = nil
	m.finish(f.fn, f.want, m.stack[first:first+n])
	return f.entry
}

func doVararg(m *machine, f *frame, i *instr) bool {
	n := int(i.b)
	if n < 0 {
		n = len(f.varargs)
		m.top = f.base + int(i.a) + n
		m.ensure(m.top)
	}
	m.spend(int64(n) / 4)
	at := f.base + int(i.a)
	for j := copy(m.stack[at:at+n], f.varargs); j < n; j++ {
		m.stack[at+j] = nilValue
	}
	return false
}

func doClosure(m *machine, f *frame, i *instr) bool {
	p := f.cl.p.protos[i.b]
	m.grow(sizeClosure + 8*int64(len(p.ups)))
	cl := &closure{p: p}
	if len(p.ups) > 0 {
		cl.ups = make([]*cell, len(p.ups))
	}
	for j, u := range p.ups {
		if u.inStack {
			cl.ups[j] = f.regs[u.index].ref.(*cell)
		} else {
			cl.ups[j] = f.cl.ups[u.index]
		}
	}
	f.regs[i.a] = value{kind: kClosure, ref: cl}
	return false
}

func doForPrep(m *machine, f *frame, i *instr) bool {
	for j, what := range [...]string{"initial value", "limit", "step"} {
		v := &f.regs[int(i.a)+j]
		n, ok := m.toNumber(v)
		if !ok {
			m.runtimeError("'for' " + what + " must be a number")
		}
		*v = number(n)
	}
	f.regs[i.a].num -= f.regs[i.a+2].num
	f.pc = int(i.b)
	return false
}

func doForLoop(m *machine, f *frame, i *instr) bool {
	r := f.regs[i.a : i.a+4]
	step := r[2].num
	next := r[0].num + step
	r[0].num = next
	if step > 0 && next <= r[1].num || step <= 0 && r[1].num <= next {
		r[3] = number(next)
		f.pc = int(i.b)
	}
	return false
}

func doForCall(m *machine, f *frame, i *instr) bool {
	copy(f.regs[i.a+3:i.a+6], f.regs[i.a:i.a+3])
	m.precall(f.base+int(i.a)+3, 2, int(i.b))
	return false
}

func doForIn(m *machine, f *frame, i *instr) bool {
	if v := &f.regs[i.a+3]; v.kind != kNil {
		f.regs[i.a+2] = *v
		f.pc = int(i.b)
	}
	return false
}
