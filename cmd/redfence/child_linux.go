package main

import "syscall"

// bound ties the command to this process: when it is killed, nobody renews the lock
// any more, and the command must not outlive it.
func bound(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	attr.Pdeathsig = syscall.SIGKILL
	return attr
}
