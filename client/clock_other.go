//go:build !linux

package client

import "time"

// elapsed is Go's monotonic clock where no other is known; on some systems it
// stands still while the machine is suspended.
func elapsed() time.Duration { return time.Since(processStart) }

var processStart = time.Now()
