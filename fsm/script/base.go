package script

import "strconv"

// firstCallID is where the numbers start by which a call's own tables and
// functions are printed; those of the libraries are below it.
const firstCallID = 1 << 16

type entry struct {
	name string
	fn   func(m *machine, args []value) []value
}

func newMachine() *machine {
	m := &machine{stack: make([]value, stackFree), globals: &table{}, nextID: 1}
	g := m.globals
	g.id = m.newID()
	m.nullJSON = value{kind: kUserdata, ref: &userdata{}}
	m.install(g, baseLibrary)
	g.setString("_G", tab(g))
	g.setString("_VERSION", str("Lua 5.1"))
	m.strings = m.library("string", stringLibrary)
	m.library("table", tableLibrary)
	m.library("math", mathLibrary)
	m.library("bit", bitLibrary)
	m.library("redis", redisLibrary)
	m.library("cjson", jsonLibrary)
	m.mathConstants()
	m.redisConstants()
	m.jsonConstants()
	g.setString("KEYS", falseValue)
	g.setString("ARGV", falseValue)

	m.strMeta = &table{id: m.newID(), readOnly: true}
	m.strMeta.setString("__index", tab(m.strings))
	g.meta = &table{id: m.newID(), readOnly: true}
	g.meta.setString("__index", m.newBuiltin("?", missingGlobal))
	g.readOnly = true
	return m
}

func (m *machine) newID() int64 {
	m.nextID++
	return m.nextID
}

func (m *machine) newBuiltin(name string, fn func(m *machine, args []value) []value) value {
	return value{kind: kBuiltin, ref: &builtin{name: name, fn: fn, id: m.newID()}}
}

func (m *machine) install(t *table, list []entry) {
	for _, e := range list {
		t.setString(e.name, m.newBuiltin(e.name, e.fn))
	}
}

func (m *machine) library(name string, list []entry) *table {
	t := &table{id: m.newID()}
	m.install(t, list)
	t.readOnly = true
	m.globals.setString(name, tab(t))
	return t
}

// lib is a library's table, for adding constants while the machine is made.
func (m *machine) lib(name string) *table {
	v := m.globals.getString(name)
	return v.table()
}

func missingGlobal(m *machine, args []value) []value {
	name, _ := toStr(&args[1])
	m.errorf("Script attempted to access nonexistent global variable '", name, "'")
	return nil
}

var baseLibrary = []entry{
	{"assert", baseAssert},
	{"collectgarbage", baseCollect},
	{"error", baseError},
	{"gcinfo", func(m *machine, args []value) []value { return m.one(number(0)) }},
	{"getmetatable", baseGetMeta},
	{"ipairs", baseIpairs},
	{"next", baseNext},
	{"pairs", basePairs},
	{"pcall", basePcall},
	{"rawequal", baseRawEqual},
	{"rawget", baseRawGet},
	{"rawset", baseRawSet},
	{"select", baseSelect},
	{"setmetatable", baseSetMeta},
	{"tonumber", baseToNumber},
	{"tostring", baseToString},
	{"type", baseType},
	{"unpack", baseUnpack},
	{"xpcall", baseXpcall},
}

func baseAssert(m *machine, args []value) []value {
	m.checkAny(args, 1)
	if args[0].truthy() {
		return args
	}
	msg := "assertion failed!"
	if len(args) > 1 && args[1].kind != kNil {
		msg = m.checkString(args, 2)
	}
	m.errorf(msg)
	return nil
}

// baseCollect accepts what Lua's does. What memory is in use is each replica's own.
func baseCollect(m *machine, args []value) []value {
	opt := "collect"
	if len(args) > 0 && args[0].kind != kNil {
		opt = m.checkString(args, 1)
	}
	switch opt {
	case "collect", "stop", "restart", "count", "step", "setpause", "setstepmul":
		return m.one(number(0))
	}
	m.argError(1, "invalid option '"+opt+"'")
	return nil
}

func baseError(m *machine, args []value) []value {
	level := m.optInt(args, 2, 1)
	var v value
	if len(args) > 0 {
		v = args[0]
	}
	if s, ok := toStr(&v); ok && level > 0 {
		v = m.newString(m.where(int(min(level, 1<<30))) + s)
	}
	m.throw(v)
	return nil
}

func baseGetMeta(m *machine, args []value) []value {
	m.checkAny(args, 1)
	mt := m.metatable(&args[0])
	if mt == nil {
		return m.one(nilValue)
	}
	if hidden := mt.getString("__metatable"); hidden.kind != kNil {
		return m.one(hidden)
	}
	return m.one(tab(mt))
}

func baseSetMeta(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	if len(args) < 2 || args[1].kind != kNil && args[1].kind != kTable {
		m.argError(2, "nil or table expected")
	}
	if t.meta != nil {
		if hidden := t.meta.getString("__metatable"); hidden.kind != kNil {
			m.errorf("cannot change a protected metatable")
		}
	}
	if t.readOnly {
		m.runtimeError("Attempt to modify a readonly table")
	}
	t.meta = nil
	if args[1].kind == kTable {
		t.meta = args[1].table()
	}
	return args[:1]
}

func baseIpairs(m *machine, args []value) []value {
	m.checkTable(args, 1)
	m.ret = append(m.ret[:0], ipairsStep, args[0], number(0))
	return m.ret
}

// ipairsStep and nextFunction are the iterators that ipairs and pairs return. They
// hold nothing, so every machine may share them.
var (
	ipairsStep   = value{kind: kBuiltin, ref: &builtin{name: "ipairs", fn: stepIpairs, id: 1}}
	nextFunction = value{kind: kBuiltin, ref: &builtin{name: "next", fn: baseNext, id: 2}}
)

func stepIpairs(m *machine, args []value) []value {
	i := m.checkInt(args, 2) + 1
	t := m.checkTable(args, 1)
	v := t.getInt(int(i))
	if v.kind == kNil {
		return m.one(nilValue)
	}
	return m.two(number(float64(i)), v)
}

func baseNext(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	k := nilValue
	if len(args) > 1 {
		k = args[1]
		m.chargeKey(&k)
	}
	key, val, steps, ok := t.next(&k)
	if steps >= 8 {
		m.spend(steps / 8)
	}
	if !ok {
		m.runtimeError("invalid key to 'next'")
	}
	if key.kind == kNil {
		return m.one(nilValue)
	}
	return m.two(key, val)
}

func basePairs(m *machine, args []value) []value {
	m.checkTable(args, 1)
	m.ret = append(m.ret[:0], nextFunction, args[0], nilValue)
	return m.ret
}

// costCatch is what catching an error is charged: Go unwinds its stack.
const costCatch = 50

// basePcall hands an error table's text to the script, as Redis's does.
func basePcall(m *machine, args []value) []value {
	if len(args) == 0 {
		return m.two(falseValue, str("attempt to call a boolean value")) // as Redis's does
	}
	res, caught := m.protected(args[0], args[1:])
	if caught != nil {
		m.spend(costCatch)
		v := caught.val
		if v.kind == kTable {
			if err := v.table().getString("err"); err.kind == kString || err.kind == kNumber {
				v = err
			}
		}
		return m.two(falseValue, v)
	}
	return m.prepend(trueValue, res)
}

func (m *machine) prepend(v value, list []value) []value {
	m.spend(int64(len(list)) / 4)
	m.ret = append(append(m.ret[:0], v), list...)
	return m.ret
}

func baseXpcall(m *machine, args []value) []value {
	if len(args) < 2 {
		m.argTypeError(args, 2, "value")
	}
	res, caught := m.protected(args[0], nil)
	if caught == nil {
		return m.prepend(trueValue, res)
	}
	m.spend(costCatch)
	res, again := m.protected(args[1], []value{caught.val})
	if again != nil {
		return m.two(falseValue, again.val)
	}
	return m.prepend(falseValue, res)
}

func baseRawEqual(m *machine, args []value) []value {
	m.checkAny(args, 1)
	m.checkAny(args, 2)
	m.chargeKey(&args[0])
	return m.one(boolean(rawEqual(&args[0], &args[1])))
}

func baseRawGet(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	m.checkAny(args, 2)
	m.chargeKey(&args[1])
	return m.one(t.get(&args[1]))
}

func baseRawSet(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	m.checkAny(args, 2)
	m.checkAny(args, 3)
	m.chargeKey(&args[1])
	m.rawSet(t, &args[1], args[2])
	return args[:1]
}

func baseSelect(m *machine, args []value) []value {
	if len(args) > 0 && args[0].kind == kString && args[0].str() == "#" {
		return m.one(number(float64(len(args) - 1)))
	}
	n := m.checkInt(args, 1)
	if n < 0 {
		n += int64(len(args))
	}
	if n < 1 {
		m.argError(1, "index out of range")
	}
	if n >= int64(len(args)) {
		return nil
	}
	return args[n:]
}

func baseToNumber(m *machine, args []value) []value {
	base := m.optInt(args, 2, 10)
	if base == 10 {
		m.checkAny(args, 1)
		if f, ok := m.toNumber(&args[0]); ok {
			return m.one(number(f))
		}
		return m.one(nilValue)
	}
	s := m.checkString(args, 1)
	if base < 2 || base > 36 {
		m.argError(2, "base out of range")
	}
	m.spend(int64(len(s)) / 16)
	if f, ok := parseBase(s, int(base)); ok {
		return m.one(number(f))
	}
	return m.one(nilValue)
}

// parseBase is C's strtoul: blanks, a sign, digits, and no more than 64 bits.
func parseBase(s string, base int) (float64, bool) {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if base == 16 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	if len(s) == 0 || s[0] == '-' || s[0] == '+' || s[0] == '_' {
		return 0, false
	}
	for i := range len(s) {
		if !isDigit(s[i]) && !isAlpha(s[i]) {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil && n == 0 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return float64(n), true
}

func baseToString(m *machine, args []value) []value {
	m.checkAny(args, 1)
	return m.one(m.toString(&args[0]))
}

// toString is Lua's tostring.
func (m *machine) toString(v *value) value {
	if h := m.metamethod(v, "__tostring"); h.kind != kNil {
		return m.callMeta(h, *v, nilValue)
	}
	if v.kind == kString {
		return *v
	}
	return m.newString(m.plainString(v))
}

// plainString prints any value without metamethods. Tables and functions have
// numbers in the order in which the call printed them: no addresses.
func (m *machine) plainString(v *value) string {
	switch v.kind {
	case kNil:
		return "nil"
	case kBool:
		if v.num != 0 {
			return "true"
		}
		return "false"
	case kNumber:
		return formatNumber(v.num)
	case kString:
		return v.str()
	}
	var id *int64
	switch r := v.ref.(type) {
	case *table:
		id = &r.id
	case *closure:
		id = &r.id
	case *builtin:
		id = &r.id
	case *userdata:
		return "userdata: (nil)"
	}
	if *id == 0 {
		*id = m.newID()
	}
	hex := strconv.FormatInt(*id, 16)
	return v.kind.String() + ": 0x" + "00000000000000"[min(len(hex), 14):] + hex
}

func baseType(m *machine, args []value) []value {
	m.checkAny(args, 1)
	return m.one(kindValues[args[0].kind])
}

// kindValues are the names of types as values, made once.
var kindValues = func() (vs [len(kindNames)]value) {
	for k, name := range kindNames {
		vs[k] = str(name)
	}
	return vs
}()

func baseUnpack(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	i := int64(int32(m.optInt(args, 2, 1)))
	e := int64(t.length())
	if len(args) > 2 && args[2].kind != kNil {
		e = int64(int32(m.checkInt(args, 3)))
	}
	if i > e {
		return nil
	}
	n := e - i + 1
	if n >= m.lim.MaxUnpack {
		m.errorf("too many results to unpack")
	}
	m.spend(n / 2)
	m.ret = m.ret[:0]
	for ; i <= e; i++ {
		m.ret = append(m.ret, t.getInt(int(i)))
	}
	return m.ret
}
