package fsm

import "github.com/redfence/redfence/fsm/reply"

var memoryRows = []Spec{{
	Name: "memory|usage", Arity: -3, Flags: Read, Where: Machine, First: 2, Last: 2, Step: 1,
	Group: "server", Since: "4.0.0", Args: "key [SAMPLES count]",
	Summary: "Answers the bytes that a key takes, as the memory limit counts them.", run: runMemoryUsage,
}}

// runMemoryUsage answers what the record is counted with. SAMPLES is read and
// changes nothing: nothing is estimated.
func runMemoryUsage(c *call) reply.Value {
	for i := 3; i < len(c.args); i += 2 {
		if !is(c.args[i], "samples") || i+1 == len(c.args) {
			return errSyntax
		}
		n, ok := ParseInt(c.args[i+1])
		if !ok {
			return errNotInteger
		}
		if n < 0 {
			return errSyntax
		}
	}
	r := c.find(c.args[2])
	if r == nil {
		return reply.Null
	}
	return reply.Integer(r.bytes())
}
