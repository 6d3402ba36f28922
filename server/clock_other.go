//go:build !linux

package server

import "time"

// bootClock is Go's monotonic clock where no other is known; on some systems
// it stands still while the machine is suspended.
func bootClock() time.Duration { return time.Since(processStart) }

var processStart = time.Now()
