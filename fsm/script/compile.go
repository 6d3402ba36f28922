package script

// compiler turns one function's tree into instructions. Registers below free are
// locals and pending temporaries; everything above may be overwritten.
type compiler struct {
	p      *proto
	fs     *funcState
	lim    *Limits
	free   int
	line   int
	consts map[value]int32
	breaks [][]int // jumps out of each loop around
}

func compileFunction(fs *funcState, lim *Limits) *proto {
	c := &compiler{
		p:      &proto{numParams: len(fs.params), isVararg: fs.isVararg, line: fs.line},
		fs:     fs,
		lim:    lim,
		consts: map[value]int32{},
		line:   fs.line,
	}
	for _, ref := range fs.ups {
		d := upvalDesc{name: ref.name, inStack: ref.local != nil, index: int32(ref.index)}
		if d.inStack {
			d.index = int32(ref.local.reg)
		}
		c.p.ups = append(c.p.ups, d)
	}
	for _, v := range fs.params {
		c.bind(v, c.alloc(1))
	}
	c.block(fs.body)
	c.line = fs.lastLine
	c.emit(opReturn, 0, 0, 0)
	c.closeLocals(0)
	return c.p
}

func (c *compiler) emit(op opcode, a, b, cc int) int {
	c.p.code = append(c.p.code, instr{op, int32(a), int32(b), int32(cc)})
	c.p.lines = append(c.p.lines, int32(c.line))
	return len(c.p.code) - 1
}

func (c *compiler) here() int { return len(c.p.code) }

// patch lets jumps lead to the next instruction.
func (c *compiler) patch(jumps []int) {
	for _, j := range jumps {
		c.p.code[j].a = int32(c.here())
	}
}

func (c *compiler) alloc(n int) int {
	r := c.free
	c.free += n
	if c.free > c.p.maxRegs {
		c.p.maxRegs = c.free
		if int64(c.free) > c.lim.MaxRegisters {
			panic(syntaxError{c.line, "function or expression too complex"})
		}
	}
	return r
}

func (c *compiler) constant(v value) int {
	if v.kind == kNumber && (v.num != v.num || v.num == 0) {
		// A NaN never equals itself, and 0 and -0 would share a place.
		c.p.consts = append(c.p.consts, v)
		return len(c.p.consts) - 1
	}
	if i, ok := c.consts[v]; ok {
		return int(i)
	}
	c.p.consts = append(c.p.consts, v)
	i := len(c.p.consts) - 1
	c.consts[v] = int32(i)
	return i
}

// bind gives a local its register. What an inner function uses is put into a cell
// of its own each time control passes here, so that each turn of a loop has its own.
func (c *compiler) bind(v *localVar, reg int) {
	v.reg = reg
	if v.captured {
		c.emit(opNewCell, reg, 0, 0)
	}
	c.p.locals = append(c.p.locals, localInfo{v.name, int32(reg), int32(c.here()), -1})
}

// closeLocals ends the scope of the locals in registers from reg on.
func (c *compiler) closeLocals(reg int) {
	for i := len(c.p.locals) - 1; i >= 0; i-- {
		if l := &c.p.locals[i]; l.end < 0 {
			if int(l.reg) < reg {
				break
			}
			l.end = int32(c.here())
		}
	}
	c.free = reg
}

func (c *compiler) block(b *block) {
	for i, s := range b.stats {
		c.statement(s, b.lines[i])
	}
}

func (c *compiler) scoped(b *block) {
	reg := c.free
	c.block(b)
	c.closeLocals(reg)
}

func (c *compiler) statement(s stat, line int) {
	c.line = line
	switch s := s.(type) {
	case *localStat:
		base := c.free
		c.exprList(s.exprs, len(s.vars))
		for i, v := range s.vars {
			c.bind(v, base+i)
		}
		return // its registers stay
	case *localFuncStat:
		reg := c.alloc(1)
		if s.v.captured {
			c.emit(opLoadNil, reg, 1, 0) // it may call itself: the cell comes first
		}
		c.bind(s.v, reg)
		c.storeLocal(s.v, s.f)
		return
	case *doStat:
		c.scoped(s.body)
		return
	}
	reg := c.free
	switch s := s.(type) {
	case *assignStat:
		c.assign(s)
	case *callStat:
		c.call(s.call, c.free, 0)
	case *ifStat:
		c.ifStat(s)
	case *whileStat:
		c.whileStat(s)
	case *repeatStat:
		c.repeatStat(s)
	case *numForStat:
		c.numFor(s)
	case *genForStat:
		c.genFor(s)
	case *returnStat:
		c.line = s.line
		c.returnStat(s)
	case *breakStat:
		n := len(c.breaks) - 1
		c.breaks[n] = append(c.breaks[n], c.emit(opJump, 0, 0, 0))
	}
	c.free = reg
}

func (c *compiler) storeLocal(v *localVar, e expr) {
	if v.captured {
		r := c.operand(e)
		c.emit(opSetCell, v.reg, r, 0)
		return
	}
	if writesEarly(e) {
		r := c.temp(e)
		c.emit(opMove, v.reg, r, 0)
		return
	}
	c.exprTo(e, v.reg)
}

// writesEarly reports whether exprTo may write its target before it has read all
// that e needs, so that a local can't be the target directly.
func writesEarly(e expr) bool {
	switch e := e.(type) {
	case *binExpr:
		return e.op == opAnd || e.op == opOr
	case *parenExpr:
		return writesEarly(e.e)
	}
	return false
}

func (c *compiler) assign(s *assignStat) {
	if len(s.targets) == 1 && len(s.exprs) == 1 {
		c.assignOne(s.targets[0], s.exprs[0], s.line)
		return
	}
	// All targets' tables and keys, then all values, then the writing from the
	// last to the first. A local that is written before it is used as a table or key
	// is copied.
	refs := make([]targetRef, len(s.targets))
	for i, t := range s.targets {
		if ix, ok := t.(*indexExpr); ok {
			refs[i].obj, refs[i].lateObj = c.beginTarget(ix.obj, s.targets[i+1:], false)
			refs[i].key, refs[i].lateKey = c.beginTarget(ix.key, s.targets[i+1:], true)
		}
	}
	base := c.free
	c.exprList(s.exprs, len(s.targets))
	c.line = s.line
	for _, ref := range refs {
		c.finish(ref.obj, ref.lateObj)
		c.finish(ref.key, ref.lateKey)
	}
	for i := len(s.targets) - 1; i >= 0; i-- {
		c.store(s.targets[i], refs[i], base+i)
	}
}

type targetRef struct {
	obj, key         int
	lateObj, lateKey *localVar // see begin
}

func (c *compiler) beginTarget(e expr, later []expr, constants bool) (int, *localVar) {
	if l, ok := unparen(e).(*localExpr); ok {
		for _, t := range later {
			if other, ok := t.(*localExpr); ok && other.v == l.v {
				return c.temp(e), nil
			}
		}
	}
	return c.begin(e, -1, constants)
}

func (c *compiler) assignOne(target, e expr, line int) {
	switch t := target.(type) {
	case *localExpr:
		c.storeLocal(t.v, e)
	case *indexExpr:
		obj, lateObj := c.begin(t.obj, -1, false)
		key, lateKey := c.begin(t.key, -1, true)
		ref := targetRef{obj: obj, key: key}
		rk := c.operand(e)
		c.finish(obj, lateObj)
		c.finish(key, lateKey)
		c.line = line
		c.store(target, ref, rk)
	default:
		rk := c.operand(e)
		c.line = line
		c.store(target, targetRef{}, rk)
	}
}

// store writes the operand rk to a target.
func (c *compiler) store(target expr, ref targetRef, rk int) {
	switch t := target.(type) {
	case *localExpr:
		if t.v.captured {
			c.emit(opSetCell, t.v.reg, rk, 0)
		} else {
			c.emit(opMove, t.v.reg, rk, 0)
		}
	case *upvalExpr:
		c.emit(opSetUp, t.index, rk, 0)
	case *globalExpr:
		c.emit(opSetGlobal, c.constant(str(t.name)), rk, 0)
	case *indexExpr:
		c.emit(opSetTable, ref.obj, ref.key, rk)
	}
}

func (c *compiler) ifStat(s *ifStat) {
	var ends []int
	for i, cond := range s.conds {
		reg := c.free
		skip := c.jump(cond, false)
		c.free = reg
		c.scoped(s.blocks[i])
		if i+1 < len(s.blocks) {
			ends = append(ends, c.emit(opJump, 0, 0, 0))
		}
		c.patch(skip)
	}
	if len(s.blocks) > len(s.conds) {
		c.scoped(s.blocks[len(s.conds)])
	}
	c.patch(ends)
}

func (c *compiler) loop(body func()) {
	c.breaks = append(c.breaks, nil)
	body()
	n := len(c.breaks) - 1
	c.patch(c.breaks[n])
	c.breaks = c.breaks[:n]
}

func (c *compiler) whileStat(s *whileStat) {
	c.loop(func() {
		start := c.here()
		reg := c.free
		exit := c.jump(s.cond, false)
		c.free = reg
		c.scoped(s.body)
		c.emit(opJump, start, 0, 0)
		c.patch(exit)
	})
}

func (c *compiler) repeatStat(s *repeatStat) {
	c.loop(func() {
		start, reg := c.here(), c.free
		c.block(s.body)
		for _, j := range c.jump(s.cond, false) {
			c.p.code[j].a = int32(start)
		}
		c.closeLocals(reg)
	})
}

func (c *compiler) numFor(s *numForStat) {
	base := c.alloc(3)
	c.exprTo(s.start, base)
	c.exprTo(s.stop, base+1)
	if s.step != nil {
		c.exprTo(s.step, base+2)
	} else {
		c.emit(opLoadK, base+2, c.constant(number(1)), 0)
	}
	c.line = s.line
	c.loop(func() {
		prep := c.emit(opForPrep, base, 0, 0)
		start := c.here()
		c.bind(s.v, c.alloc(1))
		c.block(s.body)
		c.closeLocals(base + 3)
		c.p.code[prep].b = int32(c.here())
		c.line = s.line
		c.emit(opForLoop, base, start, 0)
	})
}

func (c *compiler) genFor(s *genForStat) {
	base := c.free
	c.exprList(s.exprs, 3)
	c.line = s.line
	c.loop(func() {
		first := c.emit(opJump, 0, 0, 0)
		start := c.here()
		vars := c.alloc(len(s.vars))
		for i, v := range s.vars {
			c.bind(v, vars+i)
		}
		c.block(s.body)
		c.closeLocals(base + 3)
		c.patch([]int{first})
		c.line = s.line
		c.alloc(3) // room for the call: function, state, control
		c.emit(opForCall, base, len(s.vars), 0)
		c.emit(opForIn, base, start, 0)
		c.free = base + 3
	})
}

func (c *compiler) returnStat(s *returnStat) {
	if len(s.exprs) == 1 {
		if call, ok := s.exprs[0].(*callExpr); ok {
			base := c.free
			c.call(call, base, -1)
			last := &c.p.code[len(c.p.code)-1]
			last.op = opTailCall
			c.emit(opReturn, base, -1, 0)
			return
		}
		if !isOpen(s.exprs[0]) {
			c.emit(opReturn, c.inRegister(s.exprs[0]), 1, 0)
			return
		}
	}
	base := c.free
	n := c.openList(s.exprs)
	c.emit(opReturn, base, n, 0)
}
