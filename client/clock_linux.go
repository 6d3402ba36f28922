package client

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed counts from the machine's start and goes on while it is suspended.
// Go's own monotonic clock stands still then: a lease that ran out meanwhile would
// look as if it ran.
func elapsed() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Since(processStart)
	}
	return time.Duration(ts.Nano())
}

var processStart = time.Now()
