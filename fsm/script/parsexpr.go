package script

func (p *parser) exprList() []expr {
	list := []expr{p.expr()}
	for p.accept(',') {
		list = append(list, p.expr())
	}
	return list
}

func (p *parser) expr() expr { return p.subexpr(0) }

// subexpr parses operators that bind tighter than limit. Operators in a row are
// counted, because the tree leans to the left and the compiler descends it.
func (p *parser) subexpr(limit int) expr {
	p.enter()
	var e expr
	switch p.tok {
	case '-', '#', tNot:
		op := p.tok
		p.next()
		operand := p.subexpr(unaryPriority)
		e = foldUnary(&unExpr{op, operand, p.lastLine})
	default:
		e = p.simple()
	}
	for n := int64(0); ; n++ {
		op := binopOf(p.tok)
		if op == noBinop || priorities[op].left <= limit {
			break
		}
		if n >= p.lim.MaxOperators {
			p.fail("expression has too many operators", "")
		}
		p.next()
		right := p.subexpr(priorities[op].right)
		e = &binExpr{op, e, right, p.lastLine}
	}
	p.leave()
	return e
}

// foldUnary makes constants of -1 and not nil.
func foldUnary(u *unExpr) expr {
	c, ok := u.e.(*constExpr)
	if !ok {
		return u
	}
	switch {
	case u.op == '-' && c.v.kind == kNumber:
		return &constExpr{number(-c.v.num)}
	case u.op == tNot:
		return &constExpr{boolean(!c.v.truthy())}
	}
	return u
}

func (p *parser) simple() expr {
	var e expr
	switch p.tok {
	case tNumber:
		e = &constExpr{number(p.num)}
	case tString:
		e = &constExpr{str(p.text)}
	case tNil:
		e = &constExpr{nilValue}
	case tTrue:
		e = &constExpr{trueValue}
	case tFalse:
		e = &constExpr{falseValue}
	case tDots:
		if !p.fs.isVararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		e = &varargExpr{}
	case '{':
		return p.table()
	case tFunction:
		line := p.line
		p.next()
		return p.function(false, line)
	default:
		return p.suffixed()
	}
	p.next()
	return e
}

func (p *parser) primary() expr {
	switch p.tok {
	case '(':
		line := p.line
		p.next()
		e := p.expr()
		p.needClosing(')', '(', line)
		return &parenExpr{e} // one value, and nothing that can be assigned to
	case tName:
		return p.resolve(p.needName())
	}
	p.failHere("unexpected symbol")
	return nil
}

// suffixed parses a name with the indexes and calls behind it.
func (p *parser) suffixed() expr {
	e := p.primary()
	for n := int64(0); ; n++ {
		if n > p.lim.MaxOperators {
			p.fail("expression has too many operators", "")
		}
		switch p.tok {
		case '.':
			p.next()
			name := p.needName()
			e = &indexExpr{e, &constExpr{str(name)}, p.lastLine}
		case '[':
			p.next()
			key := p.expr()
			p.need(']')
			e = &indexExpr{e, key, p.lastLine}
		case ':':
			p.next()
			name := p.needName()
			e = p.call(e, name)
		case '(', tString, '{':
			e = p.call(e, "")
		default:
			return e
		}
	}
}

func (p *parser) call(fn expr, method string) expr {
	c := &callExpr{fn: fn, method: method, line: p.line}
	switch p.tok {
	case '(':
		if p.line != p.lastLine {
			p.failHere("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.tok != ')' {
			c.args = p.exprList()
		}
		p.needClosing(')', '(', c.line)
	case '{':
		c.args = []expr{p.table()}
	case tString:
		c.args = []expr{&constExpr{str(p.text)}}
		p.next()
	default:
		p.failHere("function arguments expected")
	}
	return c
}

func (p *parser) table() expr {
	line := p.line
	t := &tableExpr{}
	p.need('{')
	for p.tok != '}' {
		var item tableItem
		switch {
		case p.tok == tName && p.peek() == '=':
			item.key = &constExpr{str(p.text)}
			p.next()
			p.next()
		case p.tok == '[':
			p.next()
			item.key = p.expr()
			p.need(']')
			p.need('=')
		}
		item.val = p.expr()
		item.line = p.lastLine
		t.items = append(t.items, item)
		if !p.accept(',') && !p.accept(';') {
			break
		}
	}
	p.needClosing('}', '{', line)
	return t
}
