package compare

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the child with us, however we end, and keeps the terminal's
// Ctrl-C from it: we end it ourselves.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
