package reply

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrCorrupt is returned by Decode for bytes that Append did not make.
var ErrCorrupt = errors.New("reply: corrupt encoding")

// maxDepth bounds nesting while decoding, so that hostile bytes can't exhaust
// the stack. Scripts bound what they return to far less.
const maxDepth = 300

// Append appends v's encoding to b: the kind, then what the kind carries
// (docs/format.md).
func Append(b []byte, v Value) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case Status, Error, Bulk, Verbatim, BigNumber:
		b = binary.AppendUvarint(b, uint64(len(v.Str)))
		b = append(b, v.Str...)
	case Int, Bool:
		b = binary.AppendVarint(b, v.Int)
	case Double:
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v.Float))
	case Array, Map, Set, Push, Couples:
		b = binary.AppendUvarint(b, uint64(len(v.Elems)))
		for i := range v.Elems {
			b = Append(b, v.Elems[i])
		}
	}
	return b
}

// Decode reads one Value from the front of b and returns what follows it. The
// Value shares no memory with b.
func Decode(b []byte) (Value, []byte, error) { return decode(b, 0) }

func decode(b []byte, depth int) (Value, []byte, error) {
	if len(b) == 0 || depth > maxDepth {
		return Value{}, nil, ErrCorrupt
	}
	v := Value{Kind: Kind(b[0])}
	b = b[1:]
	switch v.Kind {
	case Nil, NilArray:
		return v, b, nil
	case Status, Error, Bulk, Verbatim, BigNumber:
		n, rest, err := length(b, 1)
		if err != nil {
			return Value{}, nil, err
		}
		v.Str = string(rest[:n])
		return v, rest[n:], nil
	case Int, Bool:
		n, used := binary.Varint(b)
		if used <= 0 {
			return Value{}, nil, ErrCorrupt
		}
		v.Int = n
		return v, b[used:], nil
	case Double:
		if len(b) < 8 {
			return Value{}, nil, ErrCorrupt
		}
		v.Float = math.Float64frombits(binary.BigEndian.Uint64(b))
		return v, b[8:], nil
	case Array, Map, Set, Push, Couples:
		return decodeElems(v, b, depth)
	}
	return Value{}, nil, ErrCorrupt
}

func decodeElems(v Value, b []byte, depth int) (Value, []byte, error) {
	n, rest, err := length(b, 1)
	if err != nil {
		return Value{}, nil, err
	}
	v.Elems = make([]Value, n)
	for i := range v.Elems {
		if v.Elems[i], rest, err = decode(rest, depth+1); err != nil {
			return Value{}, nil, err
		}
	}
	return v, rest, nil
}

// length reads a count of things that take at least unit bytes each, so that a
// forged count can't reserve more memory than the bytes that came with it.
func length(b []byte, unit int) (int, []byte, error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used)/uint64(unit) {
		return 0, nil, ErrCorrupt
	}
	return int(n), b[used:], nil
}
