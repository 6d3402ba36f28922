// Package fence_test runs the fences of client/fence against real databases and a
// real holder that is stopped beyond its lease. It is a module of its own, so that
// the drivers stay out of the product's graph.
package fence_test

import (
	"os"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// holderVariable makes the test binary a holder (see holder_test.go).
const holderVariable = "REDFENCE_TEST_HOLDER"

func TestMain(m *testing.M) {
	if os.Getenv(holderVariable) != "" {
		holder()
		return
	}
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}
