package compat_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// downloadLimit bounds one try of a registry's client.
const downloadLimit = 4 * time.Minute

// buildOnce is installOnce for what is made from files: it is made again when one of
// them has changed.
func buildOnce(name string, files []string, build func(fresh string) error) (string, error) {
	sum, err := sumOf(files)
	if err != nil {
		return "", err
	}
	return installOnce(name, sum, build)
}

func sumOf(files []string) (string, error) {
	h := sha256.New()
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, f, len(text))
		h.Write(text)
	}
	return fmt.Sprintf("%x\n", h.Sum(nil)), nil
}

// runTwice runs a command that downloads, and once more if it fails: a registry has
// its moments.
func runTwice(dir, name string, args ...string) error {
	err := runBounded(dir, name, args...)
	if err != nil {
		err = runBounded(dir, name, args...)
	}
	return err
}

func runBounded(dir, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), downloadLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %v\n%s", name, args[0], err, out)
	}
	return nil
}
