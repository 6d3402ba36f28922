package compat_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

const byCommandOfHiredis = "`redisCommand(c, \"LOCK.TOKEN %s\", key)`"

var languageC = &toolchain{
	name:    "c",
	prepare: prepareC,
	libraries: []library{
		{Name: "hiredis", Language: "C", Port: "shared", Token: byCommandOfHiredis},
		{Name: "redlock-cpp", Language: "C++", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byCommandOfHiredis,
			Quirks: "an extension is a lock with another value, so that it has another token"},
	},
	snippets: []snippet{
		{Title: "hiredis", File: "snippet/hiredis.c", run: cRun},
	},
}

func prepareC(t *testing.T) (runner, error) {
	if err := installListed("c"); err != nil {
		return nil, err
	}
	program := filepath.Join(t.TempDir(), "compat")
	sources, err := filepath.Glob("c/*.c")
	if err != nil {
		return nil, err
	}
	args := append([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program}, sources...)
	if out, err := exec.Command("gcc", append(args, "-lhiredis")...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %v\n%s", err, out)
	}
	return func(args ...string) *exec.Cmd { return exec.Command(program, args...) }, nil
}

// cRun compiles the snippet beside its copy and runs it.
func cRun(_ runner, file string) *exec.Cmd {
	return exec.Command("sh", "-c", `gcc -Wall -o "$0.out" "$0" -lhiredis && exec "$0.out"`, file)
}
