package process_test

import (
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestPortsAreGivenOnce: a port that a node waits to listen on again is never
// handed to another.
func TestPortsAreGivenOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		for _, addr := range process.FreeAddrs(t, 18) {
			if seen[addr] {
				t.Fatalf("%s was given twice", addr)
			}
			seen[addr] = true
		}
	}
}
