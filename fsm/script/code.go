package script

// opcode is one instruction of the machine. Operands a, b and c are registers of
// the running function unless the comment says otherwise; "rk" is a register, or
// if negative the constant ^x.
type opcode uint8

const (
	opMove      opcode = iota // R[a] = R[b]
	opLoadK                   // R[a] = K[b]
	opLoadNil                 // R[a..a+b-1] = nil
	opGetUp                   // R[a] = U[b]
	opSetUp                   // U[a] = rk(b)
	opNewCell                 // R[a] = cell holding R[a]
	opGetCell                 // R[a] = what cell R[b] holds
	opSetCell                 // cell R[a] holds rk(b)
	opGetGlobal               // R[a] = G[K[b]]
	opSetGlobal               // G[K[a]] = rk(b)
	opGetTable                // R[a] = R[b][rk(c)]
	opSetTable                // R[a][rk(b)] = rk(c)
	opSelf                    // R[a+1] = R[b]; R[a] = R[b][K[c]]
	opNewTable                // R[a] = {}
	opSetList                 // R[a][c+i] = R[a+1+i] for i < b, or up to the top if b < 0
	opArithAdd                // R[a] = rk(b) + rk(c), and so on
	opArithSub
	opArithMul
	opArithDiv
	opArithMod
	opArithPow
	opUnm     // R[a] = -R[b]
	opNot     // R[a] = not R[b]
	opLen     // R[a] = #R[b]
	opJoin    // R[a] = R[b] .. ... .. R[c]
	opJump    // pc = a
	opJumpIf  // if truthy(R[b]) then pc = a
	opJumpNot // if not truthy(R[b]) then pc = a
	opJumpEq  // if rk(b) == rk(c) then pc = a
	opJumpNe
	opJumpLt
	opJumpNotLt
	opJumpLe
	opJumpNotLe
	opCall     // R[a..] = R[a](R[a+1..a+b]), c results; b < 0: args to the top, c < 0: all results
	opTailCall // return R[a](R[a+1..a+b])
	opReturn   // return R[a..a+b-1], to the top if b < 0
	opVararg   // R[a..a+b-1] = ..., all of them if b < 0
	opClosure  // R[a] = function P[b]
	opForPrep  // check R[a..a+2]; R[a] -= R[a+2]; pc = b
	opForLoop  // R[a] += R[a+2]; if it is within R[a+1] then R[a+3] = R[a]; pc = b
	opForCall  // R[a+3..a+2+b] = R[a](R[a+1], R[a+2])
	opForIn    // if R[a+3] ~= nil then R[a+2] = R[a+3]; pc = b
	opCount
)

type instr struct {
	op      opcode
	a, b, c int32
}

// proto is a compiled function. It is never changed, so any number of engines may
// run it.
type proto struct {
	code      []instr
	lines     []int32 // of each instruction
	consts    []value
	protos    []*proto
	ups       []upvalDesc
	numParams int
	isVararg  bool
	maxRegs   int
	line      int
	locals    []localInfo // for error texts
}

type upvalDesc struct {
	name    string
	inStack bool // register index of the function around, else its upvalue index
	index   int32
}

type localInfo struct {
	name       string
	reg        int32
	start, end int32 // instructions between which it is in scope
}
