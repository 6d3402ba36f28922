package script

// The parser resolves names while it builds the tree, so the compiler knows of
// each local whether an inner function uses it before it emits the first
// instruction.

type expr interface{}

type (
	constExpr  struct{ v value } // nil, booleans, numbers, strings
	localExpr  struct{ v *localVar }
	upvalExpr  struct{ index int }
	globalExpr struct {
		name string
		line int
	}
	varargExpr struct{}
	indexExpr  struct {
		obj, key expr
		line     int
	}
	callExpr struct {
		fn     expr
		method string // obj:method(...) if not empty; fn is the object
		args   []expr
		line   int
	}
	funcExpr  struct{ f *funcState }
	parenExpr struct{ e expr } // cuts a call to one value
	binExpr   struct {
		op   binop
		l, r expr
		line int
	}
	unExpr struct {
		op   token // '-', '#' or tNot
		e    expr
		line int
	}
	tableExpr struct {
		items []tableItem
	}
	tableItem struct {
		key, val expr // key nil for a positional item
		line     int
	}
)

type stat interface{}

type (
	localStat struct {
		vars  []*localVar
		exprs []expr
	}
	localFuncStat struct {
		v *localVar
		f *funcExpr
	}
	assignStat struct {
		targets []expr
		exprs   []expr
		line    int
	}
	callStat struct{ call *callExpr }
	doStat   struct{ body *block }
	ifStat   struct {
		conds  []expr
		blocks []*block // one more than conds if there is an else
	}
	whileStat struct {
		cond expr
		body *block
	}
	repeatStat struct {
		body *block // the condition sees its locals
		cond expr
	}
	numForStat struct {
		v                 *localVar
		start, stop, step expr
		body              *block
		line              int
	}
	genForStat struct {
		vars  []*localVar
		exprs []expr
		body  *block
		line  int
	}
	returnStat struct {
		exprs []expr
		line  int
	}
	breakStat struct{}
)

// block is a list of statements, each with the line it begins on.
type block struct {
	stats []stat
	lines []int
}

type localVar struct {
	name     string
	captured bool // an inner function uses it: it lives in a cell
	reg      int
}

// funcState is one function while it is parsed and compiled.
type funcState struct {
	parent   *funcState
	line     int // where it was defined, 0 for the main chunk
	lastLine int
	params   []*localVar
	isVararg bool
	body     *block
	actives  []*localVar // in scope now
	ups      []upvalRef
	loops    int // loops around the current statement
}

// upvalRef says where a closure finds a variable when it is made: in a register of
// the function around it, or among that one's own upvalues.
type upvalRef struct {
	name  string
	local *localVar
	index int // in the parent's ups if local is nil
}

type binop uint8

const (
	opAdd binop = iota
	opSub
	opMul
	opDiv
	opMod
	opPow
	opConcat
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opAnd
	opOr
	noBinop
)

// priorities of the binary operators, left and right, as in Lua's grammar.
var priorities = [...]struct{ left, right int }{
	opAdd: {6, 6}, opSub: {6, 6}, opMul: {7, 7}, opDiv: {7, 7}, opMod: {7, 7},
	opPow: {10, 9}, opConcat: {5, 4}, opEq: {3, 3}, opNe: {3, 3}, opLt: {3, 3},
	opLe: {3, 3}, opGt: {3, 3}, opGe: {3, 3}, opAnd: {2, 2}, opOr: {1, 1},
}

const unaryPriority = 8

func binopOf(t token) binop {
	switch t {
	case '+':
		return opAdd
	case '-':
		return opSub
	case '*':
		return opMul
	case '/':
		return opDiv
	case '%':
		return opMod
	case '^':
		return opPow
	case tConcat:
		return opConcat
	case tEq:
		return opEq
	case tNe:
		return opNe
	case '<':
		return opLt
	case tLe:
		return opLe
	case '>':
		return opGt
	case tGe:
		return opGe
	case tAnd:
		return opAnd
	case tOr:
		return opOr
	}
	return noBinop
}
