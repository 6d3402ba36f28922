package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// pureImports are the packages that the state machine may import directly. None
// of them reads a clock, a random source, a file, a socket or the environment
// unless asked to by a name that is banned below.
var pureImports = []string{
	"bytes", "bufio", "cmp", "container/heap", "container/list", "context", "crypto/sha1", "crypto/sha256", "encoding/binary",
	"encoding/hex", "encoding/json", "errors", "fmt", "hash", "hash/crc32", "hash/crc64", "hash/fnv", "io", "iter", "maps",
	"math", "math/big", "math/bits", "slices", "sort", "strconv", "strings", "unicode/utf8", "unsafe",
}

// pureModules are the libraries of the state machine.
var pureModules = map[string][]string{
	"fsm":        {"github.com/tidwall/btree"},
	"fsm/reply":  {},
	"fsm/script": {},
}

func isFSM(pkg string) bool { return under(pkg, "fsm") }

// TestMachineIsPure: the same entries give the same state on every machine, so
// nothing in fsm may read anything but the entry.
func TestMachineIsPure(t *testing.T) {
	tr := repo(t)
	for _, s := range tr.sources {
		if s.test || !isFSM(s.pkg) {
			continue
		}
		for _, i := range s.imports() {
			if !pureImport(s.pkg, i) {
				t.Errorf("%s: the state machine must not import %s", s.path, i)
			}
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: the state machine must not start a goroutine", tr.line(n))
			case *ast.SelectStmt:
				t.Errorf("%s: the state machine must not select: its outcome is random", tr.line(n))
			}
			return true
		})
	}
}

func pureImport(pkg, i string) bool {
	if _, own := ours(i); own || slices.Contains(pureImports, i) {
		return true
	}
	for _, m := range pureModules[pkg] {
		if under(i, m) {
			return true
		}
	}
	return false
}

// TestMachineCallsNoLocks: State is used by one goroutine at a time, so a lock in
// it would hide a broken contract.
func TestMachineCallsNoLocks(t *testing.T) {
	for _, s := range repo(t).sources {
		if !s.test && isFSM(s.pkg) && slices.ContainsFunc(s.imports(), func(i string) bool { return strings.HasPrefix(i, "sync") }) {
			t.Errorf("%s imports sync", s.path)
		}
	}
}
