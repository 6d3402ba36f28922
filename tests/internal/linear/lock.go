package linear

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Request is one command on one lock: of a plain lock take (SET NX), free
// (compare-and-delete) or look (GET), of a native one acquire, wait or release.
type Request struct{ Key, Op, Value string }

// Answer is what it came to: a text, "" for nil. Unknown stands for every error.
type Answer struct {
	Text    string
	Unknown bool
}

// Lock is one plain lock without a lease, as a stranger would describe it. A
// command of unknown outcome may or may not have had its effect.
var Lock = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(Request).Key
			byKey[k] = append(byKey[k], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		holder, in, out := state.(string), input.(Request), output.(Answer)
		after, reply := holder, holder
		switch {
		case in.Op == "take" && holder == "":
			after, reply = in.Value, "OK"
		case in.Op == "take":
			reply = ""
		case in.Op == "free" && holder == in.Value:
			after, reply = "", "1"
		case in.Op == "free":
			reply = "0"
		}
		if out.Unknown {
			return []any{holder, after}
		}
		if out.Text != reply {
			return nil
		}
		return []any{after}
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(Request), output.(Answer)
		if out.Unknown {
			return fmt.Sprintf("%s %s %s -> unknown", in.Op, in.Key, in.Value)
		}
		return fmt.Sprintf("%s %s %s -> %q", in.Op, in.Key, in.Value, out.Text)
	},
}
