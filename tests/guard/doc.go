// Package guard holds what a command allocates on its whole way through one node,
// from the bytes that a socket brings to the bytes of the reply, against a baseline
// that is kept with the code. Allocations are counted, not timed, so that the guard
// says the same on every machine.
package guard
