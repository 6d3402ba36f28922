package redistests_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

var (
	source = flag.String("source", "", "folder of the source of Redis 7.0.15")
	only   = flag.String("only", "", "run the units whose name has this in it")
	record = flag.Bool("record", false, "write results.json and docs/redis-tests.md from what ran")
)

const resultsFile = "results.json"

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}

// TestUnits: every test of Redis's that isn't left out passes against Redfence.
func TestUnits(t *testing.T) {
	if *source == "" {
		t.Skip("say by -source where the source of Redis 7.0.15 is")
	}
	if _, err := exec.LookPath("tclsh"); err != nil {
		t.Fatal("this needs tclsh (Debian: tcl)")
	}
	dir := copyOf(t, *source)
	ran := map[string]outcome{}
	var mu sync.Mutex
	t.Run("run", func(t *testing.T) {
		for _, u := range units {
			if u.leftOut != "" || !strings.Contains(u.name, *only) {
				continue
			}
			t.Run(u.name, func(t *testing.T) {
				t.Parallel()
				o := runUnit(t, dir, u.name)
				fmt.Printf("%-24s %4d passed, %3d left out, %3d ignored, %d failed\n", u.name, o.Passed, o.Skipped, o.Ignored, len(o.failed))
				for _, f := range o.failed {
					t.Error(f)
				}
				if o.Passed == 0 {
					t.Error("nothing ran")
				}
				mu.Lock()
				defer mu.Unlock()
				ran[u.name] = o
			})
		}
	})
	if *record && !t.Failed() {
		writeResults(t, ran)
		writePage(t)
	}
}

var tclUnits = regexp.MustCompile(`(?s)set ::all_tests \{(.*?)\}`)

// TestEveryUnitIsListed: Redis has no unit that is neither run nor left out.
func TestEveryUnitIsListed(t *testing.T) {
	if *source == "" {
		t.Skip("say by -source where the source of Redis 7.0.15 is")
	}
	text, err := os.ReadFile(filepath.Join(*source, "tests/test_helper.tcl"))
	if err != nil {
		t.Fatal(err)
	}
	m := tclUnits.FindSubmatch(text)
	if m == nil {
		t.Fatal("no list of units")
	}
	var listed []string
	for _, u := range units {
		listed = append(listed, u.name)
	}
	if has := strings.Fields(string(m[1])); !slices.Equal(listed, has) {
		t.Errorf("listed are %v, Redis has %v", listed, has)
	}
}

func readResults(t *testing.T) map[string]outcome {
	t.Helper()
	b, err := os.ReadFile(resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]outcome{}
	if err := json.Unmarshal(b, &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// writeResults records what ran; units that didn't stay as they were recorded.
func writeResults(t *testing.T, ran map[string]outcome) {
	all := map[string]outcome{}
	if _, err := os.Stat(resultsFile); err == nil {
		all = readResults(t)
	}
	for name, o := range ran {
		all[name] = o
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(resultsFile, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
