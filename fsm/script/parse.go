package script

import "strconv"

// parser turns tokens into a tree. It follows Lua 5.1's own parser, so that errors
// are worded alike. Every recursion goes through enter, which bounds it.
type parser struct {
	lexer
	lim   *Limits
	fs    *funcState
	depth int64
}

func parse(text string, lim *Limits) *funcState {
	p := &parser{lexer: lexer{src: text, line: 1, lastLine: 1}, lim: lim}
	p.fs = &funcState{isVararg: true}
	p.next()
	p.fs.body = p.block()
	if p.tok != tEOF {
		p.expected(tEOF)
	}
	p.fs.lastLine = p.line
	return p.fs
}

func (p *parser) enter() {
	if p.depth++; p.depth > p.lim.MaxNesting {
		p.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) expected(t token) {
	p.failHere("'" + t.spell() + "' expected")
}

func (p *parser) accept(t token) bool {
	if p.tok != t {
		return false
	}
	p.next()
	return true
}

func (p *parser) need(t token) {
	if p.tok != t {
		p.expected(t)
	}
	p.next()
}

// needClosing wants what ends a construct that began on an earlier line.
func (p *parser) needClosing(what, open token, line int) {
	if p.tok == what {
		p.next()
		return
	}
	if line == p.line {
		p.expected(what)
	}
	p.failHere("'" + what.spell() + "' expected (to close '" + open.spell() + "' at line " + strconv.Itoa(line) + ")")
}

func (p *parser) needName() string {
	if p.tok != tName {
		p.expected(tName)
	}
	s := p.text
	p.next()
	return s
}

// limit refuses a function that has more of something than the engine can hold.
func (p *parser) limit(n int, limit int64, what string) {
	if int64(n) <= limit {
		return
	}
	where := "main function"
	if p.fs.line > 0 {
		where = "function at line " + strconv.Itoa(p.fs.line)
	}
	p.fail(where+" has more than "+strconv.FormatInt(limit, 10)+" "+what, "")
}

func (p *parser) declare(v *localVar) {
	p.fs.actives = append(p.fs.actives, v)
	p.limit(len(p.fs.actives), p.lim.MaxLocals, "local variables")
}

// resolve finds what a name means here.
func (p *parser) resolve(name string) expr {
	for i := len(p.fs.actives) - 1; i >= 0; i-- {
		if v := p.fs.actives[i]; v.name == name {
			return &localExpr{v}
		}
	}
	if i := p.upvalue(p.fs, name); i >= 0 {
		return &upvalExpr{i}
	}
	return &globalExpr{name, p.lastLine}
}

// upvalue is the index of a variable of a function around fs, or -1.
func (p *parser) upvalue(fs *funcState, name string) int {
	for i := range fs.ups {
		if fs.ups[i].name == name {
			return i
		}
	}
	up := fs.parent
	if up == nil {
		return -1
	}
	ref := upvalRef{name: name, index: -1}
	for i := len(up.actives) - 1; i >= 0; i-- {
		if v := up.actives[i]; v.name == name {
			v.captured = true
			ref.local = v
			break
		}
	}
	if ref.local == nil {
		if ref.index = p.upvalue(up, name); ref.index < 0 {
			return -1
		}
	}
	fs.ups = append(fs.ups, ref)
	p.limit(len(fs.ups), p.lim.MaxUpvalues, "upvalues")
	return len(fs.ups) - 1
}

func (p *parser) blockEnds() bool {
	switch p.tok {
	case tElse, tElseif, tEnd, tEOF, tUntil:
		return true
	}
	return false
}

// scoped parses a block and forgets its locals.
func (p *parser) scoped() *block {
	n := len(p.fs.actives)
	b := p.block()
	p.fs.actives = p.fs.actives[:n]
	return b
}

func (p *parser) block() *block {
	b := &block{}
	p.enter()
	for last := false; !last && !p.blockEnds(); {
		var s stat
		b.lines = append(b.lines, p.line)
		s, last = p.statement()
		b.stats = append(b.stats, s)
		p.accept(';')
	}
	p.leave()
	return b
}

func (p *parser) statement() (s stat, last bool) {
	line := p.line
	switch p.tok {
	case tIf:
		return p.ifStatement(line), false
	case tWhile:
		p.next()
		cond := p.expr()
		p.need(tDo)
		return &whileStat{cond, p.loopBody(tWhile, line)}, false
	case tDo:
		p.next()
		body := p.scoped()
		p.needClosing(tEnd, tDo, line)
		return &doStat{body}, false
	case tFor:
		return p.forStatement(line), false
	case tRepeat:
		return p.repeatStatement(line), false
	case tFunction:
		return p.functionStatement(line), false
	case tLocal:
		p.next()
		if p.accept(tFunction) {
			v := &localVar{name: p.needName()}
			p.declare(v)
			return &localFuncStat{v, p.function(false, line)}, false
		}
		return p.localStatement(), false
	case tReturn:
		p.next()
		r := &returnStat{line: line}
		if !p.blockEnds() && p.tok != ';' {
			r.exprs = p.exprList()
		}
		return r, true
	case tBreak:
		p.next()
		if p.fs.loops == 0 {
			p.failHere("no loop to break")
		}
		return &breakStat{}, true
	}
	return p.exprStatement(), false
}

// loopBody parses to the loop's end.
func (p *parser) loopBody(open token, line int) *block {
	p.fs.loops++
	body := p.scoped()
	p.fs.loops--
	p.needClosing(tEnd, open, line)
	return body
}

func (p *parser) ifStatement(line int) stat {
	s := &ifStat{}
	for {
		p.next()
		s.conds = append(s.conds, p.expr())
		p.need(tThen)
		s.blocks = append(s.blocks, p.scoped())
		if p.tok != tElseif {
			break
		}
	}
	if p.accept(tElse) {
		s.blocks = append(s.blocks, p.scoped())
	}
	p.needClosing(tEnd, tIf, line)
	return s
}

func (p *parser) repeatStatement(line int) stat {
	p.next()
	n := len(p.fs.actives)
	p.fs.loops++
	body := p.block()
	p.fs.loops--
	p.needClosing(tUntil, tRepeat, line)
	cond := p.expr()
	p.fs.actives = p.fs.actives[:n]
	return &repeatStat{body, cond}
}

func (p *parser) forStatement(line int) stat {
	p.next()
	name := p.needName()
	n := len(p.fs.actives)
	s := p.forHead(name, line)
	p.fs.actives = p.fs.actives[:n]
	return s
}

// forHead parses either kind of for from behind its first name.
func (p *parser) forHead(name string, line int) stat {
	switch p.tok {
	case '=':
		p.next()
		s := &numForStat{v: &localVar{name: name}, line: line, start: p.expr()}
		p.need(',')
		s.stop = p.expr()
		if p.accept(',') {
			s.step = p.expr()
		}
		p.need(tDo)
		p.hidden(3)
		p.declare(s.v)
		s.body = p.loopBody(tFor, line)
		return s
	case ',', tIn:
		s := &genForStat{vars: []*localVar{{name: name}}, line: line}
		for p.accept(',') {
			s.vars = append(s.vars, &localVar{name: p.needName()})
			p.limit(len(p.fs.actives)+len(s.vars), p.lim.MaxLocals, "local variables")
		}
		p.need(tIn)
		s.exprs = p.exprList()
		p.need(tDo)
		p.hidden(3)
		for _, v := range s.vars {
			p.declare(v)
		}
		s.body = p.loopBody(tFor, line)
		return s
	}
	p.failHere("'=' or 'in' expected")
	return nil
}

// hidden counts a loop's own state as locals, as Lua does.
func (p *parser) hidden(n int) {
	for i := 0; i < n; i++ {
		p.declare(&localVar{name: "(for state)"})
	}
}

func (p *parser) functionStatement(line int) stat {
	p.next()
	target := p.resolve(p.needName())
	method := false
	for n := int64(0); p.tok == '.' || p.tok == ':'; n++ {
		if n > p.lim.MaxOperators {
			p.fail("function name is too long", "")
		}
		method = p.tok == ':'
		p.next()
		target = &indexExpr{target, &constExpr{str(p.needName())}, p.line}
		if method {
			break
		}
	}
	f := p.function(method, line)
	return &assignStat{targets: []expr{target}, exprs: []expr{f}, line: line}
}

func (p *parser) localStatement() stat {
	s := &localStat{}
	for {
		s.vars = append(s.vars, &localVar{name: p.needName()})
		p.limit(len(p.fs.actives)+len(s.vars), p.lim.MaxLocals, "local variables")
		if !p.accept(',') {
			break
		}
	}
	if p.accept('=') {
		s.exprs = p.exprList()
	}
	for _, v := range s.vars {
		p.declare(v)
	}
	return s
}

// exprStatement is a call or an assignment.
func (p *parser) exprStatement() stat {
	e := p.suffixed()
	if call, ok := e.(*callExpr); ok {
		return &callStat{call}
	}
	s := &assignStat{targets: []expr{e}}
	for {
		switch s.targets[len(s.targets)-1].(type) {
		case *localExpr, *upvalExpr, *globalExpr, *indexExpr:
		default:
			p.failHere("syntax error")
		}
		if !p.accept(',') {
			break
		}
		s.targets = append(s.targets, p.suffixed())
		p.limit(len(s.targets), p.lim.MaxNesting, "variables in assignment")
	}
	p.need('=')
	s.exprs = p.exprList()
	s.line = p.lastLine
	return s
}

// function parses parameters and body; the word function has been read.
func (p *parser) function(method bool, line int) *funcExpr {
	fs := &funcState{parent: p.fs, line: line}
	p.enter()
	p.fs = fs
	if method {
		p.param("self")
	}
	p.need('(')
	for p.tok != ')' {
		if p.tok == tDots {
			p.next()
			fs.isVararg = true
			break
		}
		if p.tok != tName {
			p.failHere("<name> or '...' expected")
		}
		p.param(p.needName())
		if !p.accept(',') {
			break
		}
		if p.tok == ')' {
			p.failHere("<name> or '...' expected")
		}
	}
	p.need(')')
	fs.body = p.block()
	fs.lastLine = p.line
	p.needClosing(tEnd, tFunction, line)
	p.fs = fs.parent
	p.leave()
	return &funcExpr{fs}
}

func (p *parser) param(name string) {
	v := &localVar{name: name}
	p.fs.params = append(p.fs.params, v)
	p.declare(v)
}
