//go:build !linux

package compare

import (
	"os/exec"
	"syscall"
)

// dieWithParent keeps the terminal's Ctrl-C from the child: we end it ourselves.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
