package fsm

import "github.com/redfence/redfence/fsm/reply"

// Errors that the machine answers. Their texts are Redis's own where Redis has
// the error; clients match on them (docs/commands.md).
var (
	errSyntax        = reply.Err("ERR syntax error")
	errNotInteger    = reply.Err("ERR value is not an integer or out of range")
	errNotInt32      = reply.Err("ERR value is out of range, value must between -2147483648 and 2147483647")
	errRange         = reply.Err("ERR value is out of range")
	errNotLong       = reply.Err("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
	errNotFloat      = reply.Err("ERR value is not a valid float")
	errOverflow      = reply.Err("ERR increment or decrement would overflow")
	errDecrOverflow  = reply.Err("ERR decrement would overflow")
	errOffset        = reply.Err("ERR offset is out of range")
	errSameObject    = reply.Err("ERR source and destination objects are the same")
	errCursor        = reply.Err("ERR invalid cursor")
	errPatternCost   = reply.Err("ERR the pattern takes too long to match against the keys there are")
	errNaN           = reply.Err("ERR increment would produce NaN or Infinity")
	errWrongType     = reply.Err("WRONGTYPE Operation against a key holding the wrong kind of value")
	errNoKey         = reply.Err("ERR no such key")
	errOutOfMemory   = reply.Err("OOM command not allowed when used memory > 'maxmemory'.")
	errDatabase      = reply.Err("ERR DB index is out of range")
	errNoScript      = reply.Err("NOSCRIPT No matching script. Please use EVAL.")
	errKeyTooLong    = reply.Err("ERR key exceeds the limit of 1048576 bytes")
	errValueTooLong  = reply.Err("ERR string exceeds maximum allowed size (8388608 bytes)")
	errObjectTooBig  = reply.Err("ERR value exceeds the limit of 1048576 elements or 268435456 bytes")
	errReplyTooLong  = reply.Err("ERR reply exceeds the limit of 67108864 bytes")
	errNoSuchSeat    = reply.Err("ERR this cluster has no such seat")
	errSeatsSyntax   = reply.Err("ERR syntax error: REDFENCE SEATS number CLIENTS-STOPPED, once all clients of the seat ports are stopped")
	errSeatsHeld     = reply.Err("ERR the number of seats can't change while a seat holds anything")
	errHeldSeats     = reply.Err("ERR held through the seat ports")
	errHeldShared    = reply.Err("ERR held through the shared port")
	errUnknownScript = reply.Err("ERR Unknown Redis command called from script")
	errScriptArity   = reply.Err("ERR Wrong number of args calling Redis command from script")
	errNotInScript   = reply.Err("ERR This Redis command is not allowed from script")
	errExecCost      = reply.Err("ERR the scripts of this MULTI exceeded their budget of 4000000 instructions together, nothing was changed")
	errTooFar        = reply.Err("ERR the command visits more elements than one command, script or MULTI may, nothing was changed")
	errReadOnly      = reply.Err("ERR Write commands are not allowed from read-only scripts.")
)

// ErrPutOff is answered for a command that was not executed, because its entry
// has no time left for it; and for what the same client sent behind it.
var ErrPutOff = reply.Err("TRYAGAIN the commands that came together take too long: not executed")

// ErrUnknownOutcome is answered for a command that may or may not have been
// executed: never "failed".
var ErrUnknownOutcome = reply.Err("ERR outcome unknown: the command may or may not have been executed")
