package compat_test

import (
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestLateRelease: real redsync on three seats, one release of a failed try
// delivered two seconds late: it costs one vote, and the lock stays held.
func TestLateRelease(t *testing.T) {
	run, err := golang.prepare(t)
	if err != nil {
		t.Fatal(err)
	}
	out, err := run("late-release", seats(process.Start(t, 3), 0, 1, 2), "late").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "late-release ok" {
		t.Errorf("%v: %s", err, out)
	}
}
