package server

import (
	"context"
	"errors"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/redlockcompat"
	"github.com/redfence/redfence/server/replica"
)

// Why the server ends a connection by itself.
var (
	errClosing = errors.New("the server is closing")
	errTooSlow = errors.New("the client reads its replies too slowly")
)

// refusedArgs and refusedBytes answer a command that was read past.
const (
	refusedArgs  = "ERR command exceeds the limit of 1048576 arguments"
	refusedBytes = "ERR command exceeds the limit of 16777216 bytes"
)

// Errors of the edge. Texts are Redis's own where Redis has the error; clients
// match on them.
var (
	errSyntax       = reply.Err("ERR syntax error")
	errNotInteger   = reply.Err("ERR value is not an integer or out of range")
	errNoAuth       = reply.Err("NOAUTH Authentication required.")
	errWrongPass    = reply.Err("WRONGPASS invalid username-password pair or user is disabled.")
	errNoPassword   = reply.Err("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	errHelloNoAuth  = reply.Err("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
	errNoProto      = reply.Err("NOPROTO unsupported protocol version")
	errProtoVersion = reply.Err("ERR Protocol version is not an integer or out of range")
	errClientName   = reply.Err("ERR Client names cannot contain spaces, newlines or special characters.")
	errCluster      = reply.Err(redlockcompat.ClusterDisabled)
	errNestedMulti  = reply.Err("ERR MULTI calls can not be nested")
	errWatchInMulti = reply.Err("ERR WATCH inside MULTI is not allowed")
	errExecNoMulti  = reply.Err("ERR EXEC without MULTI")
	errDiscardNone  = reply.Err("ERR DISCARD without MULTI")
	errExecAbort    = reply.Err("EXECABORT Transaction discarded because of previous errors.")
	errNotInMulti   = reply.Err("ERR Command not allowed inside a transaction")
	errLoading      = reply.Err("LOADING Redis is loading the dataset in memory")
	errMaxClients   = reply.Err("ERR max number of clients reached")
	errNoScriptRuns = reply.Err("NOTBUSY No scripts in execution right now.")
	errLeaseEnded   = reply.Err("ERR lease ended before the grant could be answered")
	errHeldTooMuch  = reply.Err("ERR too much is queued, watched or listened to: the limit is 16777216 bytes a connection")
	errNameTooLong  = reply.Err("ERR the name is longer than 4096 bytes")
	errInternal     = reply.Err("ERR internal error: the backend answered less than it was asked")

	// What follows means for certain that nothing was executed: drivers may ask again.
	errNoLeader = reply.Err("CLUSTERDOWN no leader: not executed")
	errTooBusy  = reply.Err("TRYAGAIN too many commands wait: not executed")
	errNoRoom   = reply.Err("TRYAGAIN replies wait for clients to read them: not executed")
	errTooLarge = reply.Err("ERR the command is too large for the log: not executed")
	errClosed   = reply.Err("CLUSTERDOWN this node is closing: not executed")
)

// answerFor is what a client is told when its command got no answer. An error
// that is not certain is an unknown outcome, never a failure.
func answerFor(err error) reply.Value {
	switch {
	case errors.Is(err, replica.ErrNoLeader):
		return errNoLeader
	case errors.Is(err, replica.ErrTooBusy):
		return errTooBusy
	case errors.Is(err, replica.ErrRepliesFull):
		return errNoRoom
	case errors.Is(err, replica.ErrTooLarge):
		return errTooLarge
	case errors.Is(err, replica.ErrClosed), errors.Is(err, context.Canceled):
		return errClosed
	}
	return fsm.ErrUnknownOutcome
}
