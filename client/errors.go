package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

var (
	// ErrHeld is returned by the Try methods when others hold the lock.
	ErrHeld = errors.New("client: the lock is held")
	// ErrClosed is returned by everything once the Client or Session was closed.
	ErrClosed = errors.New("client: closed")
	// ErrReleased is the cause of the Context's end after Unlock, and is returned by
	// what is asked of a Grant afterwards.
	ErrReleased = errors.New("client: the lock was released")
	// ErrLost is the cause of the Context's end when the cluster says that the lease
	// has ended or was broken, and is returned by Unlock then.
	ErrLost = errors.New("client: the lock was lost")
	// ErrExpired is the cause of the Context's end when the lease could not be
	// renewed in time. It is an ErrLost.
	ErrExpired = fmt.Errorf("%w: the lease was not renewed in time", ErrLost)
	// ErrTooLong is the cause of the Context's end when WithAtMost has passed.
	ErrTooLong = errors.New("client: the lock was held for as long as it may be")
	// errForgotten is the cause after the program has dropped a Grant.
	errForgotten = fmt.Errorf("%w: nothing refers to the grant any more", ErrLost)
)

// fate is what is known about a command after an error.
type fate int

const (
	answered fate = iota // it was executed, or refused for good
	refused              // it was certainly not executed; another try may be
	unknown              // it may or may not have been executed, or will be
)

// notExecuted and uncertain are how errors of a server begin that aren't answers.
var (
	notExecuted = []string{"CLUSTERDOWN ", "TRYAGAIN ", "LOADING ", "MASTERDOWN ", "WAITLOST ", "ERR max number of clients reached"}
	uncertain   = []string{"ERR outcome unknown", "ERR lease ended before the grant could be answered"}
)

// fateOf tells the errors that mean "ask again" from answers. A null is an answer.
func fateOf(err error) fate {
	var said redis.Error
	var op *net.OpError
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return answered
	case errors.As(err, &said):
		return fateOfReply(said.Error())
	case errors.As(err, &op) && op.Op == "dial":
		return refused
	}
	return unknown
}

func fateOfReply(text string) fate {
	for _, p := range notExecuted {
		if strings.HasPrefix(text, p) {
			return refused
		}
	}
	for _, p := range uncertain {
		if strings.HasPrefix(text, p) {
			return unknown
		}
	}
	return answered
}

// gaveUp is the error of who stopped asking: why, and what the last node said.
func gaveUp(ctx context.Context, last error) error {
	cause := context.Cause(ctx)
	if last == nil || errors.Is(last, cause) || errors.Is(last, context.Canceled) || errors.Is(last, context.DeadlineExceeded) {
		return fmt.Errorf("client: %w", cause)
	}
	return fmt.Errorf("client: %w (last: %w)", cause, last)
}
