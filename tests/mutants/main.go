// Command mutants breaks one promise at a time and checks that a test notices.
//
// Each mutant is a change of a few words in one file, given to the compiler as
// an overlay: nothing in the tree is touched. A mutant that survives its test, or
// whose words are no longer in the file, fails the run.
//
//	go run ./tests/mutants [-only NAME]
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mutant is one seeded bug and the test that must catch it.
type mutant struct {
	name    string
	promise string
	file    string
	find    string // stands exactly once in file
	replace string
	pkg     string
	run     string // the -run pattern
	flags   []string
}

func main() {
	only := flag.String("only", "", "run the mutant of this name alone")
	flag.Parse()
	passed, failed := 0, 0
	for _, m := range mutants {
		if *only != "" && m.name != *only {
			continue
		}
		if err := m.caught(); err != nil {
			fmt.Printf("SURVIVED %-28s %s: %v\n", m.name, m.promise, err)
			failed++
			continue
		}
		fmt.Printf("caught   %-28s %s by %s %s\n", m.name, m.promise, m.pkg, m.run)
		passed++
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

// caught runs the mutant's test and returns an error unless the test failed, as
// a test and not as a build.
func (m *mutant) caught() error {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return err
	}
	if n := bytes.Count(source, []byte(m.find)); n != 1 {
		return fmt.Errorf("%q stands %d times in %s", m.find, n, m.file)
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir, source)
	if err != nil {
		return err
	}
	args := []string{"test", "-tags", "hashicorpmetrics", "-overlay", overlay, "-count=1", "-timeout=5m", "-failfast", "-run", m.run, m.pkg}
	cmd := exec.Command("go", append(args, m.flags...)...)
	// Tests of real nodes build their binary, with the mutant in it.
	cmd.Env = append(os.Environ(), "GOFLAGS=-overlay="+overlay, "REDFENCE_BIN=")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return fmt.Errorf("%s passes with the bug", m.run)
	}
	if strings.Contains(string(out), "[build failed]") || !strings.Contains(string(out), "--- FAIL") {
		return fmt.Errorf("the test did not run: %s", out)
	}
	return nil
}

func (m *mutant) overlay(dir string, source []byte) (string, error) {
	changed := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(changed, bytes.Replace(source, []byte(m.find), []byte(m.replace), 1), 0o600); err != nil {
		return "", err
	}
	abs, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {abs: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}
