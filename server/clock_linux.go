package server

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock counts from the machine's start and goes on while it is suspended.
// Go's own monotonic clock stands still then: a grant that a suspended node
// answers late would look fresh.
func bootClock() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Since(processStart)
	}
	return time.Duration(ts.Nano())
}

var processStart = time.Now()
