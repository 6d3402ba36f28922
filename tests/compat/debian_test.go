package compat_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// aptLimit bounds one call of apt-get, with its wait for another that holds the lock.
const aptLimit = 5 * time.Minute

// installListed installs the Debian packages that the folder's packages.txt lists,
// one a line, and that the machine hasn't.
func installListed(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "packages.txt"))
	if err != nil {
		return err
	}
	return installDebian(strings.Fields(string(text))...)
}

// installDebian installs the Debian packages that the machine hasn't. It needs root
// and apt-get for that, else the error says what to install.
func installDebian(packages ...string) error {
	missing := missingPackages(packages)
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		return fmt.Errorf("this needs the Debian packages %s: install them, or run as root where apt-get is", strings.Join(missing, " "))
	}
	var err error
	for range 2 {
		// The list of packages may be old or missing; a second look costs a second.
		if err = aptGet("update"); err == nil {
			err = aptGet(append([]string{"install", "-y", "--no-install-recommends"}, missing...)...)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// missingPackages are those of packages that dpkg doesn't call installed.
func missingPackages(packages []string) []string {
	// Its status only says that some package is unknown, which the output shows too.
	out, _ := exec.Command("dpkg-query", append([]string{"-W", "-f", "${db:Status-Status} ${Package}\n"}, packages...)...).Output()
	installed := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "installed "); ok {
			installed[name] = true
		}
	}
	var missing []string
	for _, p := range packages {
		if !installed[p] {
			missing = append(missing, p)
		}
	}
	return missing
}

func aptGet(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), aptLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q", "-o", "DPkg::Lock::Timeout=120"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %v\n%s", args[0], err, out)
	}
	return nil
}
