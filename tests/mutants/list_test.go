package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Each mutant's words stand exactly once in its file: who changes them is told at
// once, and not only by the run of all mutants.
func TestMutantsFindTheirWords(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		source, err := os.ReadFile(filepath.Join("..", "..", m.file))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if n := bytes.Count(source, []byte(m.find)); n != 1 {
			t.Errorf("%s: %q stands %d times in %s", m.name, m.find, n, m.file)
		}
		if names[m.name] {
			t.Errorf("two mutants are called %s", m.name)
		}
		names[m.name] = true
	}
}
