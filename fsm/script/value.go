package script

// kind is the dynamic type of a value.
type kind uint8

const (
	kNil kind = iota
	kBool
	kNumber
	kString
	kTable
	kClosure
	kBuiltin
	kUserdata
	kCell // a captured local in its register; never seen by a script
)

var kindNames = [...]string{"nil", "boolean", "number", "string", "table", "function", "function", "userdata", "cell"}

func (k kind) String() string { return kindNames[k] }

// value is one Lua value. num holds numbers, and 0 or 1 for booleans; ref holds a
// string, *table, *closure, *builtin, *userdata or *cell.
type value struct {
	kind kind
	num  float64
	ref  any
}

// Sizes in bytes that the budget is charged for, rounded up from what Go takes.
const (
	sizeValue    = 32
	sizeString   = 32
	sizeTable    = 128
	sizeArraySeg = 48  // one element of a list, with the room that growth leaves
	sizeNode     = 128 // one entry of a hash, with its place in the index
	sizeClosure  = 64
)

// cell is a local variable that an inner function uses too.
type cell struct{ v value }

type closure struct {
	p   *proto
	ups []*cell
	id  int64
}

// builtin is a library function. The args are valid until it returns and must not
// be kept; what it returns is copied at once.
type builtin struct {
	name string
	fn   func(m *machine, args []value) []value
	id   int64
}

// userdata has a size, so that each has an address of its own.
type userdata struct{ _ byte }

var (
	nilValue   = value{}
	trueValue  = value{kind: kBool, num: 1}
	falseValue = value{kind: kBool}
)

func number(f float64) value { return value{kind: kNumber, num: f} }
func str(s string) value     { return value{kind: kString, ref: s} }
func tab(t *table) value     { return value{kind: kTable, ref: t} }

func boolean(b bool) value {
	if b {
		return trueValue
	}
	return falseValue
}

// truthy: everything but nil and false.
func (v *value) truthy() bool {
	return v.kind > kBool || v.kind == kBool && v.num != 0
}

func (v *value) str() string { return v.ref.(string) }

func (v *value) table() *table { return v.ref.(*table) }

func (v *value) isFunction() bool { return v.kind == kClosure || v.kind == kBuiltin }

// rawEqual compares without metamethods. The caller charges for long strings.
func rawEqual(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case kNil:
		return true
	case kBool, kNumber:
		return a.num == b.num
	case kString:
		return a.ref.(string) == b.ref.(string)
	}
	return a.ref == b.ref
}
