package compat_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var rust = &toolchain{
	name:    "rust",
	prepare: prepareRust,
	libraries: []library{
		{Name: "rslock", Language: "Rust", Masters: true, Port: seatsForSeveral, Token: "`redis::cmd(\"LOCK.TOKEN\")`; with seats its argument `lock.val` too",
			Quirks: "with the feature `tokio-comp` a guard that is dropped releases nothing: call `unlock`, which doesn't tell whether the lock was held"},
		{Name: "redis-rs", Language: "Rust", Port: "shared", Token: "`redis::cmd(\"LOCK.TOKEN\")`", Quirks: "a driver: SET NX PX and two scripts are the user's own"},
	},
	snippets: []snippet{
		{Title: "rslock", File: "snippet/rslock.rs", run: rustSnippet},
		{Title: "redis-rs", File: "snippet/redis.rs", run: rustSnippet},
	},
}

func prepareRust(*testing.T) (runner, error) {
	if err := haveCargo(); err != nil {
		return nil, err
	}
	target, err := compatDir("rust/target")
	if err != nil {
		return nil, err
	}
	if err := runTwice("rust", "cargo", "build", "--quiet", "--locked", "--target-dir", target, "--bin", "rust"); err != nil {
		return nil, err
	}
	program := filepath.Join(target, "debug", "rust")
	return func(args ...string) *exec.Cmd { return exec.Command(program, args...) }, nil
}

// haveCargo installs what Debian keeps new for its browsers: the package cargo of
// Debian 12 is older than what the libraries need.
func haveCargo() error {
	if _, err := exec.LookPath("cargo"); err == nil {
		return nil
	}
	if err := installDebian("cargo-web", "gcc", "libc6-dev"); err != nil {
		return installDebian("cargo", "gcc", "libc6-dev")
	}
	return nil
}

// rustSnippet runs the file in its place in a copy of the whole package, which
// shares what is built.
func rustSnippet(_ runner, file string) *exec.Cmd {
	name := filepath.Base(file)
	dir := filepath.Join(filepath.Dir(file), "package")
	target, err := compatDir("rust/target")
	if err == nil {
		err = os.CopyFS(dir, os.DirFS("rust"))
	}
	if err == nil {
		err = os.Rename(file, filepath.Join(dir, "snippet", name))
	}
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("cargo", "run", "--quiet", "--locked", "--offline", "--target-dir", target, "--bin", "snippet-"+strings.TrimSuffix(name, ".rs"))
	cmd.Dir = dir
	return cmd
}
