// Package reply holds the one form in which the state machine answers.
//
// A Value says what a command answered without saying how a client wants it
// spelled: the server turns it into RESP2 or RESP3, a script turns it into Lua
// values, and the machine keeps it for an origin that asks again. The package
// knows no protocol and imports none of ours.
//
// Values are immutable once built and may be shared between goroutines.
package reply

// Kind says which of a Value's fields carry the answer.
type Kind uint8

// The kinds, with their RESP2 and RESP3 spelling. Their numbers are part of the
// format of entries and snapshots (docs/format.md) and never change.
const (
	Nil       Kind = iota // $-1        _
	NilArray              // *-1        _
	Status                // +OK        +OK
	Error                 // -ERR text  -ERR text
	Int                   // :1         :1
	Bulk                  // $1 x       $1 x
	Array                 // *n         *n
	Map                   // *2n        %n        Elems alternate key and value
	Set                   // *n         ~n
	Double                // $3 1.5     ,1.5
	Bool                  // :1         #t        Int is 1 or 0
	Verbatim              // $n         =n txt:   Str without its "txt:"
	BigNumber             // $n         (n        Str holds the digits
	Push                  // *n         >n        pub/sub and invalidation messages
	Couples               // *2n        *n of *2  Elems alternate first and second
)

// Value is one answer. Which fields count depends on Kind: Str for Status,
// Error (with its first word, without the dash), Bulk, Verbatim and BigNumber;
// Int for Int and Bool; Float for Double; Elems for the aggregates.
type Value struct {
	Kind  Kind
	Int   int64
	Float float64
	Str   string
	Elems []Value
}

// OK is the status that most writes answer.
var OK = Value{Kind: Status, Str: "OK"}

// Null is the null bulk; NullArray the null array of EXEC and blocking pops.
var (
	Null      = Value{Kind: Nil}
	NullArray = Value{Kind: NilArray}
)

// Integer answers :n.
func Integer(n int64) Value { return Value{Kind: Int, Int: n} }

// Truth answers the integers 1 and 0 that Redis uses for yes and no.
func Truth(b bool) Value {
	if b {
		return Value{Kind: Int, Int: 1}
	}
	return Value{Kind: Int}
}

// String answers a bulk string.
func String(s string) Value { return Value{Kind: Bulk, Str: s} }

// Simple answers a status line.
func Simple(s string) Value { return Value{Kind: Status, Str: s} }

// Float64 answers a double: a bulk string under RESP2.
func Float64(f float64) Value { return Value{Kind: Double, Float: f} }

// List answers an array.
func List(elems ...Value) Value { return Value{Kind: Array, Elems: elems} }

// Strings answers an array of bulk strings.
func Strings(ss []string) Value {
	elems := make([]Value, len(ss))
	for i, s := range ss {
		elems[i] = String(s)
	}
	return Value{Kind: Array, Elems: elems}
}

// Pairs answers a map; elems alternate key and value.
func Pairs(elems ...Value) Value { return Value{Kind: Map, Elems: elems} }

// Twos answers a list of pairs, flat under RESP2; elems alternate first and second.
func Twos(elems ...Value) Value { return Value{Kind: Couples, Elems: elems} }

// Err answers an error; text begins with its code word ("ERR ...").
func Err(text string) Value { return Value{Kind: Error, Str: text} }

// IsError reports whether v is an error.
func (v Value) IsError() bool { return v.Kind == Error }

// IsNull reports whether v is one of the two nulls.
func (v Value) IsNull() bool { return v.Kind == Nil || v.Kind == NilArray }

// Size is what keeping v costs in bytes: the same on every replica, whatever
// the processor, because bounds of the replicated state are counted with it.
func (v Value) Size() int {
	n := 16 + len(v.Str)
	for i := range v.Elems {
		n += v.Elems[i].Size()
	}
	return n
}
