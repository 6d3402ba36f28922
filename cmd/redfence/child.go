package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redfence/redfence/client"
)

// Exit codes of `redfence run` beside the command's own, as shells and nohup have them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignalled     = 128 // and the number of the signal
)

// exitError is the status that the program ends with; without err nothing is said.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

func signalled(s syscall.Signal) int { return exitSignalled + int(s) }

// passedOn are the signals that the command gets, too; ends those that end a wait.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT,
}

var ends = map[syscall.Signal]bool{syscall.SIGHUP: true, syscall.SIGINT: true, syscall.SIGQUIT: true, syscall.SIGTERM: true}

// child is the command and what it started.
type child struct {
	cmd *exec.Cmd
	// alone says that it has a process group of its own, which gets what it gets. In the
	// foreground of a terminal it shares ours: the keyboard's signals reach both.
	alone bool
}

// foreground says whether this process is what a terminal's user deals with.
func foreground() bool {
	group, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// signal reaches the command. It may have ended; how tells Wait.
func (c *child) signal(s syscall.Signal) {
	pid := c.cmd.Process.Pid
	if c.alone {
		pid = -pid
	}
	_ = syscall.Kill(pid, s)
}

// supervise runs the command as long as the lock is held.
func supervise(cmd *exec.Cmd, g *client.Grant, signals <-chan os.Signal, grace time.Duration) error {
	c := &child{cmd: cmd, alone: !foreground()}
	cmd.SysProcAttr = bound(&syscall.SysProcAttr{Setpgid: c.alone})
	// What it left behind may keep the output open.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return notStarted(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	lost := g.Context().Done()
	var kill <-chan time.Time
	for {
		select {
		case err := <-done:
			if kill != nil {
				return fmt.Errorf("the command was ended: %w", context.Cause(g.Context()))
			}
			return statusOf(err)
		case sig := <-signals:
			s := sig.(syscall.Signal)
			if c.alone || s != syscall.SIGINT && s != syscall.SIGQUIT && s != syscall.SIGWINCH {
				c.signal(s)
			}
		case <-lost:
			lost = nil
			// Without time left another may hold the lock already.
			left := min(grace, g.Grace()-grace/(2*killPart))
			kill = time.After(max(0, left))
			if left > 0 {
				c.signal(syscall.SIGTERM)
				c.signal(syscall.SIGCONT)
			}
		case <-kill:
			c.signal(syscall.SIGKILL)
			kill = make(chan time.Time)
		}
	}
}

// statusOf is the command's status as ours.
func statusOf(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case !errors.As(err, &exit):
		return err
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitError{code: signalled(ws.Signal())}
	}
	return exitError{code: exit.ExitCode()}
}

// notStarted is the error of a command that can't be run.
func notStarted(err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitError{code: exitNotFound, err: err}
	}
	return exitError{code: exitNotExecutable, err: err}
}
