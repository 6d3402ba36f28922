// Package script runs the Lua scripts of EVAL and EVALSHA inside the state
// machine: a Lua 5.1 interpreter that answers alike on every replica and can't
// be made to run long, grow large or remember anything.
//
// It promises:
//
//   - Bounded. Every step is counted against the call's Limits, in the
//     interpreter and in every library function, before the work is done. What
//     is over the budget ends, and no pcall outlives that. No text, however
//     nested, long or odd, overflows a stack while it is compiled or run.
//   - Deterministic. The same Program, Call, host replies and Limits give the
//     same Result on every replica, with every Go release: numbers are spelled,
//     strings matched, tables walked (in insertion order), lists sorted and
//     random numbers drawn by code in this package, and nothing is read that
//     isn't in the Call. Version says when answers may have changed.
//   - Without memory. A Run finds the interpreter as New made it: library tables
//     and globals are read-only, as in Redis 7, and the rest is made per call.
//   - Like Redis 7.0. Conversions, error texts, read-only globals and the
//     libraries that scripts of lock clients use.
//
// The machine (package fsm) compiles a text once, caches the Program by its SHA1,
// and calls Run while it applies an entry; the server calls Check before a text
// may enter the log. An Engine belongs to one goroutine at a time; a Program and
// the functions Check, Compile and SHA1 may be used from any.
//
// The package never reads a clock, a random source, a file or the environment,
// never starts a goroutine, and never touches the keyspace but through Host. It
// doesn't undo what an over-budget script wrote: that is the machine's part.
//
// The interpreter is our own, because nothing of an existing one could have stayed
// (docs/adr/0003-scripts-in-the-machine.md).
//
// Read engine.go first, then program.go (from text to Program: lex, parse,
// compile), machine.go and ops.go (how a Program runs), table.go, and one library,
// redislib.go.
package script
