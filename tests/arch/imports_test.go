package arch

import (
	"slices"
	"strings"
	"testing"
)

// mayImport is the import matrix: which of our packages a package may import.
// A package that is not in it fails the test, so that a new one gets its place.
var mayImport = map[string][]string{
	"fsm":                    {"fsm/reply", "fsm/script"},
	"fsm/reply":              {},
	"fsm/script":             {"fsm/reply"},
	"redlockcompat":          {"fsm", "fsm/reply"},
	"redlockcompat/compare":  {"redlockcompat"},
	"server":                 {"fsm", "fsm/reply", "redlockcompat", "server/replica"},
	"server/replica":         {"fsm", "fsm/reply"},
	"client":                 {},
	"client/fence":           {},
	"cmd/redfence":           {"fsm", "server", "server/replica", "redlockcompat", "redlockcompat/compare", "client"},
	"cmd/redfence/internal/": {},
}

// onlyIn says in which of our packages a library may be used: the seams at
// which it could be replaced.
var onlyIn = map[string][]string{
	"github.com/hashicorp/raft":               {"server/replica"},
	"github.com/hashicorp/raft-wal":           {"server/replica"},
	"github.com/hashicorp/raft-boltdb/v2":     {"server/replica"},
	"github.com/hashicorp/go-hclog":           {"server/replica"},
	"github.com/hashicorp/go-metrics":         {"server/replica"},
	"go.etcd.io/bbolt":                        {"server/replica"},
	"github.com/tidwall/redcon":               {"server"},
	"github.com/tidwall/btree":                {"fsm"},
	"github.com/spf13/cobra":                  {"cmd/redfence"},
	"github.com/spf13/pflag":                  {"cmd/redfence"},
	"github.com/knadh/koanf/v2":               {"cmd/redfence"},
	"github.com/prometheus/client_golang":     {"server", "server/replica", "cmd/redfence"},
	"github.com/redis/go-redis/v9":            {"client", "cmd/redfence", "redlockcompat/compare"},
	"github.com/go-redsync/redsync/v4":        {"redlockcompat/compare"},
	"github.com/HdrHistogram/hdrhistogram-go": {"redlockcompat/compare"},
	"flag":                             {},
	"os/signal":                        {"cmd/redfence"},
	"github.com/hashicorp/raft-boltdb": {},
	"github.com/armon/go-metrics":      {},
}

// tested allows tests of a package to reach for what drives it from outside.
func isTests(pkg string) bool { return pkg == "tests" || strings.HasPrefix(pkg, "tests/") }

// TestImportMatrix: one direction, bytes to command to entry to reply and back.
func TestImportMatrix(t *testing.T) {
	tr := repo(t)
	for _, s := range tr.sources {
		if s.test || isTests(s.pkg) {
			continue
		}
		allowed, known := rowOf(s.pkg)
		if !known {
			t.Errorf("%s: package %s has no row in the import matrix", s.path, s.pkg)
			continue
		}
		for _, i := range s.imports() {
			if p, own := ours(i); own && p != s.pkg && !slices.Contains(allowed, p) && !under(p, s.pkg+"/internal") {
				t.Errorf("%s: %s must not import %s", s.path, s.pkg, p)
			}
		}
	}
}

func rowOf(pkg string) ([]string, bool) {
	for row, allowed := range mayImport {
		if row == pkg || strings.HasSuffix(row, "/") && strings.HasPrefix(pkg, row) {
			return allowed, true
		}
	}
	return nil, false
}

func under(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// TestLibrariesStayBehindTheirSeam: raft in replica, redcon in server, Lua in script.
func TestLibrariesStayBehindTheirSeam(t *testing.T) {
	tr := repo(t)
	for _, s := range tr.sources {
		if s.test || isTests(s.pkg) {
			continue
		}
		for _, i := range s.imports() {
			for lib, places := range onlyIn {
				if !under(i, lib) || nearer(i, lib) {
					continue
				}
				if !slices.ContainsFunc(places, func(p string) bool { return under(s.pkg, p) && !(p == "server" && s.pkg == "server/replica") }) {
					t.Errorf("%s: %s may be imported only in %v", s.path, i, places)
				}
			}
		}
	}
}

// nearer says whether a longer row than lib fits the import.
func nearer(imported, lib string) bool {
	for other := range onlyIn {
		if len(other) > len(lib) && under(imported, other) {
			return true
		}
	}
	return false
}

// TestNothingImportsTests: what proves the product is no part of it.
func TestNothingImportsTests(t *testing.T) {
	for _, s := range repo(t).sources {
		for _, i := range s.imports() {
			p, own := ours(i)
			if own && isTests(p) && !isTests(s.pkg) {
				t.Errorf("%s imports %s", s.path, p)
			}
			if i == "testing" && !s.test && !isTests(s.pkg) {
				t.Errorf("%s: package testing in what is shipped", s.path)
			}
		}
	}
}

// TestOnlyCmdMeetsTheProcess: flags, environment, arguments and exit codes are
// cmd's; everything else can be run twice in one process.
func TestOnlyCmdMeetsTheProcess(t *testing.T) {
	tr := repo(t)
	banned := map[string][]string{
		"os":  {"Exit", "Args", "Getenv", "LookupEnv", "Environ", "Stdout", "Stderr", "Stdin"},
		"log": {"Fatal", "Fatalf", "Fatalln", "Print", "Printf", "Println", "Panic", "Panicf"},
		"fmt": {"Print", "Printf", "Println"},
	}
	for _, s := range tr.sources {
		if s.test || isTests(s.pkg) || under(s.pkg, "cmd") {
			continue
		}
		for _, sel := range s.selectors() {
			if slices.Contains(banned[sel.from], sel.name) {
				t.Errorf("%s: %s.%s outside cmd", tr.line(sel.node), sel.from, sel.name)
			}
		}
	}
}
