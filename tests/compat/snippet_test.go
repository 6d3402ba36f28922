package compat_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// locked is what a snippet prints while it holds the lock.
var locked = regexp.MustCompile(`(?m)^locked [1-9][0-9]*\b`)

// runSnippets runs what docs/clients.md shows, as it stands there but for the port.
func runSnippets(t *testing.T, chain *toolchain, run runner) {
	for _, s := range chain.snippets {
		t.Run(s.Title, func(t *testing.T) {
			n := process.Start(t, 1).Nodes[0]
			text, err := os.ReadFile(filepath.Join(chain.name, s.File))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "6379") {
				t.Fatalf("%s doesn't name port 6379", s.File)
			}
			_, port, _ := strings.Cut(n.Client, ":")
			file := filepath.Join(t.TempDir(), filepath.Base(s.File))
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "6379", port)), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := s.run(run, file).CombinedOutput()
			if err != nil || !locked.Match(out) {
				t.Errorf("%s: %v\n%s", s.File, err, out)
			}
			if n.Info("locks") != "0" {
				t.Errorf("%s left its lock behind", s.File)
			}
		})
	}
}
