package script

// Version is the version of the engine: the machine writes it into its state,
// and it changes whenever any script could answer differently.
const Version = 1

// Limits bounds compiling and running. They are part of the replicated state:
// the same limits must be in force on every replica for the same entry.
type Limits struct {
	Instructions int64 // steps a call may take; see Budget.Spend
	Memory       int64 // bytes a call may allocate in all; see Budget.Grow

	MaxText        int64 // bytes of a script's text
	MaxNesting     int64 // syntax levels in a text; levels of a returned table
	MaxOperators   int64 // operators in a row in one expression, suffixes of one name
	MaxLocals      int64 // local variables of one function, at most 200
	MaxUpvalues    int64 // variables a function uses of those around it
	MaxRegisters   int64 // temporaries of one function, at most 250
	MaxCallDepth   int64 // Lua functions that wait for one another
	MaxNativeDepth int64 // library functions and metamethods that wait for one another
	MaxStack       int64 // values on the stack
	MaxUnpack      int64 // values that unpack, string.byte and a pattern may return
	MaxPatternDeep int64 // recursion of one pattern match
	MaxJSONNesting int64 // levels that cjson encodes or decodes, whatever a script asks for
}

// DefaultLimits are the limits of a new cluster. Where Lua 5.1 has a limit of its
// own, it is that one.
func DefaultLimits() Limits {
	return Limits{
		Instructions: 1_000_000,
		Memory:       16 << 20,

		MaxText:        64 << 10,
		MaxNesting:     200,
		MaxOperators:   250,
		MaxLocals:      200,
		MaxUpvalues:    60,
		MaxRegisters:   250,
		MaxCallDepth:   20_000,
		MaxNativeDepth: 200,
		MaxStack:       1 << 18,
		MaxUnpack:      8_000,
		MaxPatternDeep: 200,
		MaxJSONNesting: 1_000,
	}
}

// Fields lists every limit in a fixed order, for an encoding that needs no
// knowledge of the names. New limits are added at the end.
func (l *Limits) Fields() []*int64 {
	return []*int64{
		&l.Instructions, &l.Memory, &l.MaxText, &l.MaxNesting, &l.MaxOperators,
		&l.MaxLocals, &l.MaxUpvalues, &l.MaxRegisters, &l.MaxCallDepth, &l.MaxNativeDepth,
		&l.MaxStack, &l.MaxUnpack, &l.MaxPatternDeep, &l.MaxJSONNesting,
	}
}

// Budget is what one call may still use. The host charges it for what a command
// visits and copies. Once exceeded it stays so, and the script ends when the host
// returns. Not safe for concurrent use.
type Budget struct {
	steps    int64
	bytes    int64
	over     overKind
	readOnly bool
	resp3    bool
}

type overKind uint8

const (
	withinBudget overKind = iota
	overSteps
	overBytes
)

// NewBudget is a full budget, for tests of hosts; Run makes its own.
func NewBudget(lim Limits) *Budget {
	return &Budget{steps: lim.Instructions, bytes: lim.Memory}
}

// Spend charges n steps, each about as much work as one Lua instruction: an
// element visited, 64 bytes copied or compared. It reports whether the call may
// go on.
func (b *Budget) Spend(n int64) bool {
	if b.over != withinBudget {
		return false
	}
	if n > b.steps {
		b.steps = 0
		b.over = overSteps
		return false
	}
	if n > 0 {
		b.steps -= n
	}
	return true
}

// Grow charges bytes of new memory. What is freed is not credited: when garbage
// is collected differs between replicas. It reports whether the call may go on.
func (b *Budget) Grow(bytes int64) bool {
	if b.over != withinBudget {
		return false
	}
	if bytes > b.bytes {
		b.bytes = 0
		b.over = overBytes
		return false
	}
	if bytes > 0 {
		b.bytes -= bytes
	}
	return true
}

// Exceeded reports whether a limit was passed. It never goes back to false.
func (b *Budget) Exceeded() bool { return b.over != withinBudget }

// ReadOnly reports whether the running script may not write (EVAL_RO, or the flag
// no-writes): the host, which alone knows what writes, refuses such commands.
func (b *Budget) ReadOnly() bool { return b.readOnly }

// RESP3 reports whether the script asked for RESP3 replies (redis.setresp). Hosts
// rarely need it: replies are converted here.
func (b *Budget) RESP3() bool { return b.resp3 }
