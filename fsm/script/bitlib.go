package script

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// The bit library works on 32 bits and answers signed numbers, as LuaJIT's does.
var bitLibrary = []entry{
	{"arshift", bitShift(func(x uint32, n uint) uint32 { return uint32(int32(x) >> n) })},
	{"band", bitFold(func(a, b uint32) uint32 { return a & b })},
	{"bnot", bitUnary(func(x uint32) uint32 { return ^x })},
	{"bor", bitFold(func(a, b uint32) uint32 { return a | b })},
	{"bswap", bitUnary(bits.ReverseBytes32)},
	{"bxor", bitFold(func(a, b uint32) uint32 { return a ^ b })},
	{"lshift", bitShift(func(x uint32, n uint) uint32 { return x << n })},
	{"rol", bitShift(func(x uint32, n uint) uint32 { return bits.RotateLeft32(x, int(n)) })},
	{"ror", bitShift(func(x uint32, n uint) uint32 { return bits.RotateLeft32(x, -int(n)) })},
	{"rshift", bitShift(func(x uint32, n uint) uint32 { return x >> n })},
	{"tobit", bitUnary(func(x uint32) uint32 { return x })},
	{"tohex", bitToHex},
}

// bitArg rounds a number to the nearest integer and keeps its low 32 bits, by the
// same addition as the original.
func (m *machine) bitArg(args []value, n int) uint32 {
	return uint32(math.Float64bits(m.checkNumber(args, n) + 6755399441055744.0))
}

func (m *machine) bitResult(x uint32) []value { return m.one(number(float64(int32(x)))) }

func bitUnary(fn func(uint32) uint32) func(m *machine, args []value) []value {
	return func(m *machine, args []value) []value { return m.bitResult(fn(m.bitArg(args, 1))) }
}

func bitFold(fn func(a, b uint32) uint32) func(m *machine, args []value) []value {
	return func(m *machine, args []value) []value {
		x := m.bitArg(args, 1)
		m.spend(int64(len(args)) / 8)
		for i := 2; i <= len(args); i++ {
			x = fn(x, m.bitArg(args, i))
		}
		return m.bitResult(x)
	}
}

func bitShift(fn func(x uint32, n uint) uint32) func(m *machine, args []value) []value {
	return func(m *machine, args []value) []value {
		x, n := m.bitArg(args, 1), m.bitArg(args, 2)
		return m.bitResult(fn(x, uint(n&31)))
	}
}

func bitToHex(m *machine, args []value) []value {
	x := m.bitArg(args, 1)
	n := int32(8)
	if len(args) > 1 {
		n = int32(m.bitArg(args, 2))
	}
	upper := n < 0
	if upper {
		n = -n
	}
	if n > 8 || n < 0 {
		n = 8
	}
	s := "0000000" + strconv.FormatUint(uint64(x), 16)
	s = s[len(s)-int(n):]
	if upper {
		s = strings.ToUpper(s)
	}
	return m.one(m.newString(s))
}
