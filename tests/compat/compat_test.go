// Package compat_test runs real lock libraries, unmodified, against real
// Redfence processes: each library in a program of its own, one line a case.
package compat_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// cases are what every library must pass, in the order in which the programs run them.
var cases = []string{"acquire", "contended", "extend", "release", "foreign", "expiry", "wait"}

var goLibraries = []string{"redsync/go-redis", "redsync/redigo", "redsync/rueidis", "bsm/redislock"}

func TestMain(m *testing.M) {
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}

func TestGoLibraries(t *testing.T) {
	program := buildGo(t)
	for _, topology := range []struct {
		name  string
		nodes int
	}{{"one node", 1}, {"a follower of three", 3}} {
		t.Run(topology.name, func(t *testing.T) {
			c := process.Start(t, topology.nodes)
			target := c.Leader()
			if topology.nodes > 1 {
				target = c.Others(target)[0]
			}
			for _, library := range goLibraries {
				t.Run(library, func(t *testing.T) {
					prefix := strings.ReplaceAll(library, "/", ".")
					runProgram(t, library, exec.Command(program, library, target.Client, prefix))
				})
			}
		})
	}
}

func buildGo(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "golang")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = "golang"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build of the Go libraries' program: %v\n%s", err, out)
	}
	return program
}

// runProgram runs a library's program and holds it to every case: one that is
// missing from its output is a failure too.
func runProgram(t *testing.T, library string, cmd *exec.Cmd) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ran []string
	for line := range strings.Lines(stdout.String()) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), " ")
		ran = append(ran, name)
		t.Logf("%-18s %-10s %s", library, name, result)
		if result != "ok" {
			t.Errorf("%s: %s: %s", library, name, result)
		}
	}
	if err != nil || !slices.Equal(ran, cases) {
		t.Errorf("%s ran %v of %v: %v\n%s", library, ran, cases, err, stderr.String())
	}
}
