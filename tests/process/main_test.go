// Package process_test runs three real processes under kill, stop and slow
// disks, and checks what clients and the guarded resource saw.
package process_test

import (
	"flag"
	"os"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// kills is how often the leader is killed in a test; a soak asks for more.
var kills = flag.Int("kills", 20, "how often the leader is killed")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}
