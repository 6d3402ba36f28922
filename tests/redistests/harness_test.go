package redistests_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

const (
	unitLimit = 8 * time.Minute
	// belowBase is how far below --baseport the tests look for the port on which
	// their own processes meet.
	belowBase = 32
)

// deniedTags mark tests of what is Redis's own: DEBUG, SYNC and SAVE.
const deniedTags = "-needs:debug -needs:repl -needs:save"

// changes are made in the copy of Redis's tests. Both are about what is around the
// tests; none changes what one asks of the server.
var changes = []struct{ file, old, new string }{
	// How Redis stores a value is changed by settings that Redfence has no use for,
	// since --ignore-encoding doesn't look at it.
	{"tests/test_helper.tcl", `    [srv $level "client"] {*}$args
}

# Returns a Redis`, `    if {[string equal -nocase [lrange $args 0 1] {config set}] && [regexp {^(hash|list|set|zset)-max-|^list-compress-depth$} [lindex $args 2]]} {return OK}
    [srv $level "client"] {*}$args
}

# Returns a Redis`},
	// Each test of scripts runs as an EVAL and as a function.
	{"tests/unit/scripting.tcl", "foreach is_eval {0 1}", "foreach is_eval {1}"},
}

// copyOf copies Redis's tests, with the changes, and adds the list of those left out.
func copyOf(t *testing.T, source string) string {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "tests"), os.DirFS(filepath.Join(source, "tests"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		file := filepath.Join(dir, c.file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), c.old) != 1 {
			t.Fatalf("%s isn't that of Redis 7.0.15", c.file)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "leftout"), []byte(skipFile()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// outcome is how the tests of one unit ended.
type outcome struct {
	Passed  int `json:"passed"`
	Skipped int `json:"leftOut"` // by name
	Ignored int `json:"ignored"` // by tag
	failed  []string
}

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
	ended  = regexp.MustCompile(`(?m)^\[(ok|err|skip|ignore|exception)\]:? ?(.*)`)
)

// runUnit runs a unit against a node of its own.
func runUnit(t *testing.T, dir, name string) outcome {
	host, port, _ := strings.Cut(process.Start(t, 1).Nodes[0].Client, ":")
	_, meet, _ := strings.Cut(process.FreeAddrs(t, 1)[0], ":")
	base, err := strconv.Atoi(meet)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), unitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tclsh", "tests/test_helper.tcl", "--host", host, "--port", port, "--single", name,
		"--durable", "--clients", "1", "--baseport", strconv.Itoa(base+belowBase),
		"--ignore-encoding", "--ignore-digest", "--tags", deniedTags, "--skipfile", "leftout")
	cmd.Dir = dir
	// The processes that it starts hold its output open after it was killed.
	cmd.WaitDelay = time.Second
	text, err := cmd.CombinedOutput()
	clean := colour.ReplaceAllString(string(text), "")
	// What failed is told again at the end.
	clean, _, _ = strings.Cut(clean, "!!! WARNING")
	o := read(clean)
	if err != nil && len(o.failed) == 0 {
		o.failed = append(o.failed, fmt.Sprintf("%v, %v\n%s", err, errors.Unwrap(ctx.Err()), last(clean, 2000)))
	}
	return o
}

func read(output string) outcome {
	var o outcome
	marks := ended.FindAllStringSubmatchIndex(output, -1)
	for i, m := range marks {
		switch output[m[2]:m[3]] {
		case "ok":
			o.Passed++
		case "skip":
			o.Skipped++
		case "ignore":
			o.Ignored++
		default:
			end := len(output)
			if i+1 < len(marks) {
				end = marks[i+1][0]
			}
			o.failed = append(o.failed, output[m[0]:end])
		}
	}
	return o
}

func last(text string, n int) string { return text[max(0, len(text)-n):] }
