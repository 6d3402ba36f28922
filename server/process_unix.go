//go:build unix

package server

import (
	"syscall"
	"time"
)

// openable is how many connections the process can hold beside its own files.
func openable() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return DefaultMaxClients
	}
	return max(1, int(min(limit.Cur, 1<<20))-FilesKept)
}

// cpuTimes is what the process has used so far.
func cpuTimes() (user, system time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
