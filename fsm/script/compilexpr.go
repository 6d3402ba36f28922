package script

// exprList puts a list's values into n new registers, cutting or filling with nil.
func (c *compiler) exprList(list []expr, n int) {
	for i, e := range list {
		rest := n - i
		switch {
		case i == len(list)-1 && rest > 1 && isOpen(e):
			base := c.free
			c.open(e, base, rest)
			c.free = base
			c.alloc(rest)
			return
		case rest > 0:
			c.exprTo(e, c.alloc(1))
		default: // too many values: evaluated, then dropped
			free := c.free
			c.temp(e)
			c.free = free
		}
	}
	if missing := n - len(list); missing > 0 {
		c.emit(opLoadNil, c.alloc(missing), missing, 0)
	}
}

// openList puts a list's values into new registers; the count is -1 if the last
// one decides at run time how many there are.
func (c *compiler) openList(list []expr) int {
	for i, e := range list {
		if i == len(list)-1 && isOpen(e) {
			c.open(e, c.free, -1)
			return -1
		}
		c.exprTo(e, c.alloc(1))
	}
	return len(list)
}

// isOpen reports whether e can give other than one value.
func isOpen(e expr) bool {
	switch e.(type) {
	case *callExpr, *varargExpr:
		return true
	}
	return false
}

// open evaluates an open expression to n values from register base on.
func (c *compiler) open(e expr, base, n int) {
	if call, ok := e.(*callExpr); ok {
		c.call(call, base, n)
		return
	}
	c.emit(opVararg, base, n, 0)
}

// call evaluates a call at the top of the registers, where base must be.
func (c *compiler) call(e *callExpr, base, n int) {
	fn := c.alloc(1)
	if e.method != "" {
		obj := c.operandIn(e.fn, fn)
		c.alloc(1)
		c.line = e.line
		c.emit(opSelf, fn, obj, c.constant(str(e.method)))
	} else {
		c.exprTo(e.fn, fn)
	}
	args := c.openList(e.args)
	if args >= 0 && e.method != "" {
		args++
	}
	c.line = e.line
	c.emit(opCall, fn, args, n)
	c.free = base
	if n > 0 {
		c.alloc(n) // only to count the registers
		c.free = base
	}
}

// temp evaluates e into a new register.
func (c *compiler) temp(e expr) int {
	r := c.alloc(1)
	c.exprTo(e, r)
	return r
}

// operand is a constant, a local's own register, or a new register.
func (c *compiler) operand(e expr) int {
	switch e := unparen(e).(type) {
	case *constExpr:
		return ^c.constant(e.v)
	case *localExpr:
		if !e.v.captured {
			return e.v.reg
		}
	}
	return c.temp(e)
}

// begin evaluates an operand that others are evaluated after. A local keeps its
// register, so that what those assign to it is seen, as in Lua; the value of one in
// a cell is therefore fetched by finish.
// What needs a new register is put in dst if that is one, so that a long chain of
// operators or indexes takes no more registers than a short one.
func (c *compiler) begin(e expr, dst int, constants bool) (rk int, late *localVar) {
	if l, ok := unparen(e).(*localExpr); ok {
		if l.v.captured {
			return c.alloc(1), l.v
		}
		return l.v.reg, nil
	}
	if _, ok := unparen(e).(*constExpr); ok && constants {
		return c.operand(e), nil
	}
	if c.isTop(dst) {
		c.exprTo(e, dst)
		return dst, nil
	}
	return c.temp(e), nil
}

// isTop reports whether a register is the last one taken, and not a variable's.
func (c *compiler) isTop(reg int) bool { return reg >= 0 && reg == c.free-1 && !c.isLocal(reg) }

func (c *compiler) finish(reg int, late *localVar) {
	if late != nil {
		c.emit(opGetCell, reg, late.reg, 0)
	}
}

func (c *compiler) operands(l, r expr, dst int) (int, int) {
	lrk, late := c.begin(l, dst, true)
	rrk := c.operand(r)
	c.finish(lrk, late)
	return lrk, rrk
}

// inRegister is operand for instructions that take no constant.
func (c *compiler) inRegister(e expr) int {
	if l, ok := unparen(e).(*localExpr); ok && !l.v.captured {
		return l.v.reg
	}
	return c.temp(e)
}

// operandIn is inRegister with the given register for what isn't a local.
func (c *compiler) operandIn(e expr, reg int) int {
	if l, ok := unparen(e).(*localExpr); ok && !l.v.captured {
		return l.v.reg
	}
	c.exprTo(e, reg)
	return reg
}

func unparen(e expr) expr {
	for {
		p, ok := e.(*parenExpr)
		if !ok || isOpen(p.e) {
			return e
		}
		e = p.e
	}
}

// exprTo evaluates e to one value in register dst. Registers above free are used
// and given back.
func (c *compiler) exprTo(e expr, dst int) {
	free := c.free
	switch e := unparen(e).(type) {
	case *constExpr:
		if e.v.kind == kNil {
			c.emit(opLoadNil, dst, 1, 0)
		} else {
			c.emit(opLoadK, dst, c.constant(e.v), 0)
		}
	case *localExpr:
		if e.v.captured {
			c.emit(opGetCell, dst, e.v.reg, 0)
		} else if e.v.reg != dst {
			c.emit(opMove, dst, e.v.reg, 0)
		}
	case *upvalExpr:
		c.emit(opGetUp, dst, e.index, 0)
	case *globalExpr:
		c.line = e.line
		c.emit(opGetGlobal, dst, c.constant(str(e.name)), 0)
	case *indexExpr:
		obj, late := c.begin(e.obj, dst, false)
		key := c.operand(e.key)
		c.finish(obj, late)
		c.line = e.line
		c.emit(opGetTable, dst, obj, key)
	case *callExpr:
		c.openTo(e, dst)
	case *varargExpr:
		c.emit(opVararg, dst, 1, 0)
	case *parenExpr:
		c.openTo(e.e, dst)
	case *funcExpr:
		c.p.protos = append(c.p.protos, compileFunction(e.f, c.lim))
		c.emit(opClosure, dst, len(c.p.protos)-1, 0)
	case *unExpr:
		c.unary(e, dst)
	case *binExpr:
		c.binary(e, dst)
	case *tableExpr:
		c.tableTo(e, dst)
	}
	c.free = free
}

// openTo evaluates a call or ... to one value in dst.
func (c *compiler) openTo(e expr, dst int) {
	if _, ok := e.(*varargExpr); ok {
		c.emit(opVararg, dst, 1, 0)
		return
	}
	base := c.free
	if c.isTop(dst) {
		base, c.free = dst, dst
	}
	c.call(e.(*callExpr), base, 1)
	if base != dst {
		c.emit(opMove, dst, base, 0)
	}
}

// isLocal reports whether a register is a variable's, which a call must not use
// as its own while the arguments still read it.
func (c *compiler) isLocal(reg int) bool {
	for i := len(c.p.locals) - 1; i >= 0; i-- {
		if l := &c.p.locals[i]; l.end < 0 {
			return int(l.reg) >= reg
		}
	}
	return false
}

func (c *compiler) unary(e *unExpr, dst int) {
	if e.op == tNot {
		c.truthTo(e, dst)
		return
	}
	op := opUnm
	if e.op == '#' {
		op = opLen
	}
	r, late := c.begin(e.e, dst, false)
	c.finish(r, late)
	c.line = e.line
	c.emit(op, dst, r, 0)
}

func (c *compiler) binary(e *binExpr, dst int) {
	switch e.op {
	case opAnd, opOr:
		c.exprTo(e.l, dst)
		op := opJumpNot
		if e.op == opOr {
			op = opJumpIf
		}
		end := c.emit(op, 0, dst, 0)
		c.exprTo(e.r, dst)
		c.patch([]int{end})
	case opConcat:
		c.concat(e, dst)
	case opAdd, opSub, opMul, opDiv, opMod, opPow:
		l, r := c.operands(e.l, e.r, dst)
		c.line = e.line
		c.emit(opArithAdd+opcode(e.op-opAdd), dst, l, r)
	default:
		c.truthTo(e, dst)
	}
}

// concat joins a whole chain of .. in one instruction.
func (c *compiler) concat(e *binExpr, dst int) {
	first := c.temp(e.l)
	for {
		r, ok := e.r.(*binExpr)
		if !ok || r.op != opConcat {
			break
		}
		c.temp(r.l)
		e = r
	}
	last := c.temp(e.r)
	c.line = e.line
	c.emit(opJoin, dst, first, last)
}

// truthTo evaluates a comparison or a not to true or false.
func (c *compiler) truthTo(e expr, dst int) {
	no := c.jump(e, false)
	c.emit(opLoadK, dst, c.constant(trueValue), 0)
	end := c.emit(opJump, 0, 0, 0)
	c.patch(no)
	c.emit(opLoadK, dst, c.constant(falseValue), 0)
	c.patch([]int{end})
}

// jump emits jumps that are taken when e's truth is want; the others fall through.
// The caller patches them.
func (c *compiler) jump(e expr, want bool) []int {
	free := c.free
	defer func() { c.free = free }()
	switch e := unparen(e).(type) {
	case *constExpr:
		if e.v.truthy() == want {
			return []int{c.emit(opJump, 0, 0, 0)}
		}
		return nil
	case *unExpr:
		if e.op == tNot {
			return c.jump(e.e, !want)
		}
	case *binExpr:
		switch e.op {
		case opAnd, opOr:
			return c.jumpLogic(e, want)
		case opEq, opNe, opLt, opLe, opGt, opGe:
			return []int{c.compare(e, want)}
		}
	}
	op := opJumpNot
	if want {
		op = opJumpIf
	}
	return []int{c.emit(op, 0, c.inRegister(e), 0)}
}

func (c *compiler) jumpLogic(e *binExpr, want bool) []int {
	if (e.op == opAnd) != want {
		// Either side alone decides.
		return append(c.jump(e.l, want), c.jump(e.r, want)...)
	}
	skip := c.jump(e.l, !want)
	jumps := c.jump(e.r, want)
	c.patch(skip)
	return jumps
}

func (c *compiler) compare(e *binExpr, want bool) int {
	l, r := c.operands(e.l, e.r, -1)
	c.line = e.line
	var yes, no opcode
	switch e.op {
	case opEq:
		yes, no = opJumpEq, opJumpNe
	case opNe:
		yes, no = opJumpNe, opJumpEq
	case opLt, opGt:
		yes, no = opJumpLt, opJumpNotLt
	default:
		yes, no = opJumpLe, opJumpNotLe
	}
	if e.op == opGt || e.op == opGe {
		l, r = r, l
	}
	if want {
		return c.emit(yes, 0, l, r)
	}
	return c.emit(no, 0, l, r)
}

// listFlush is how many items of a constructor wait in registers at most.
const listFlush = 50

func (c *compiler) tableTo(e *tableExpr, dst int) {
	t := dst
	if !c.isTop(dst) {
		t = c.alloc(1)
	}
	c.emit(opNewTable, t, 0, 0)
	pending, stored := 0, 0
	for i, item := range e.items {
		if item.key != nil {
			free := c.free
			key := c.operand(item.key)
			val := c.operand(item.val)
			c.line = item.line
			c.emit(opSetTable, t, key, val)
			c.free = free
			continue
		}
		if i == len(e.items)-1 && isOpen(item.val) {
			c.open(item.val, c.free, -1)
			c.emit(opSetList, t, -1, stored)
			pending = 0
			break
		}
		c.exprTo(item.val, c.alloc(1))
		if pending++; pending == listFlush {
			c.emit(opSetList, t, pending, stored)
			stored += pending
			pending = 0
			c.free = t + 1
		}
	}
	if pending > 0 {
		c.emit(opSetList, t, pending, stored)
	}
	if t != dst {
		c.emit(opMove, dst, t, 0)
	}
}
