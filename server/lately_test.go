package server

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/fsm"
)

// Promise 2 on a machine that slept: Go's clock stood still, and a grant that waited
// through it is not answered, also when the clock was read a moment before. What is
// read later has not waited, however long ago the clock was last read.
func TestGrantThatSleptIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		began := time.Now()
		ts, ln := servePipes(t, Config{Elapsed: func() time.Duration { return time.Since(began) + time.Duration(slept.Load()) }})
		defer stop(t, ts)
		c := ln.dial()
		defer c.Close()
		ask := func(c net.Conn, command, want string) {
			t.Helper()
			go io.WriteString(c, command+"\r\n")
			expect(t, c, want)
		}
		ask(c, "SET a v NX PX 500", "+OK\r\n")
		ts.fake.before = func([]fsm.Command) { slept.Add(int64(time.Second)) }
		ask(c, "SET b v NX PX 500", "-ERR lease ended before the grant could be answered\r\n")
		ts.fake.before = nil
		time.Sleep(10 * time.Second)
		ask(c, "SET c v NX PX 500", "+OK\r\n")
	})
}
