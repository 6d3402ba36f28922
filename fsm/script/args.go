package script

// What library functions demand of their arguments, with Lua's errors. n counts
// from 1.

func (m *machine) checkAny(args []value, n int) {
	if n > len(args) {
		m.argError(n, "value expected")
	}
}

func (m *machine) checkTable(args []value, n int) *table {
	if n > len(args) || args[n-1].kind != kTable {
		m.argTypeError(args, n, "table")
	}
	return args[n-1].ref.(*table)
}

// checkString accepts numbers too. What a number becomes is charged.
func (m *machine) checkString(args []value, n int) string {
	if n <= len(args) {
		switch v := &args[n-1]; v.kind {
		case kString:
			return v.ref.(string)
		case kNumber:
			s := formatNumber(v.num)
			m.chargeString(len(s))
			return s
		}
	}
	m.argTypeError(args, n, "string")
	return ""
}

// checkNumber accepts strings that are numbers too.
func (m *machine) checkNumber(args []value, n int) float64 {
	if n <= len(args) {
		if f, ok := m.toNumber(&args[n-1]); ok {
			return f
		}
	}
	m.argTypeError(args, n, "number")
	return 0
}

func (m *machine) checkInt(args []value, n int) int64 {
	return truncate(m.checkNumber(args, n))
}

func (m *machine) optInt(args []value, n int, otherwise int64) int64 {
	if n > len(args) || args[n-1].kind == kNil {
		return otherwise
	}
	return m.checkInt(args, n)
}

func (m *machine) checkFunction(args []value, n int) value {
	if n > len(args) || !args[n-1].isFunction() {
		m.argTypeError(args, n, "function")
	}
	return args[n-1]
}
