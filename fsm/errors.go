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
	errLockOnSeat    = reply.Err("ERR native locks and sessions are of the shared port: a seat port stands for one of several masters")
	errNoOwner       = reply.Err("ERR the owner of a lock must not be empty")
	errOwnerTooLong  = reply.Err("ERR owner exceeds the limit of 65536 bytes")
	errNoteTooLong   = reply.Err("ERR note exceeds the limit of 256 bytes")
	errLockDelay     = reply.Err("ERR DELAY must be between 0 and 3600000 milliseconds")
	errPermits       = reply.Err("ERR PERMITS must be between 1 and 1048576")
	errHoldersMax    = reply.Err("ERR the lock has the limit of 1048576 holders")
	errOtherMode     = reply.Err("ERR this owner holds the lock in another mode: release it first")
	errOtherSession  = reply.Err("ERR this owner holds the lock with another session or without one: release it first")
	errHeldAsShared  = reply.Err("ERR the lock is held SHARED, not by PERMITS")
	errHeldAsPermits = reply.Err("ERR the lock is a semaphore with another number of PERMITS")
	errSessionTTL    = reply.Err("ERR with SESSION the ttl must be 0: the lease is the session's")
	errNoSession     = reply.Err("ERR no such session: it has ended or was never opened")
	errSessionFull   = reply.Err("ERR the session has the limit of 10000 locks")
	errSessionsMax   = reply.Err("ERR the limit of 1048576 sessions is reached")
	errSessionName   = reply.Err("ERR session name exceeds the limit of 256 bytes")
	errExtendSession = reply.Err("ERR the lease is a session's: SESSION.KEEPALIVE extends it")
	errLockNames     = reply.Err("ERR the number of names must be between 1 and 1024, and as many must follow")
	errPageCount     = reply.Err("ERR COUNT must be between 1 and 10000")
	errReadOnly      = reply.Err("ERR Write commands are not allowed from read-only scripts.")
)

// ErrPutOff is answered for a command that was not executed, because its entry
// has no time left for it; and for what the same client sent behind it.
var ErrPutOff = reply.Err("TRYAGAIN the commands that came together take too long: not executed")

// ErrUnknownOutcome is answered for a command that may or may not have been
// executed: never "failed".
var ErrUnknownOutcome = reply.Err("ERR outcome unknown: the command may or may not have been executed")
