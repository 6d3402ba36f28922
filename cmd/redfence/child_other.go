//go:build !linux

package main

import "syscall"

// bound ties the command to this process where the system can.
func bound(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }
