// Package recipes_test runs the code of docs/recipes.md, page and all, against a
// real node: the blocks of a language, in their order, are one program, and check.*
// calls what they define.
package recipes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

func TestMain(m *testing.M) {
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}

var block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocks is all code of one language on the page, in order.
func blocks(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range block.FindAllStringSubmatch(string(page), -1) {
		if m[1] == language {
			b.WriteString(m[2] + "\n")
		}
	}
	if b.Len() == 0 {
		t.Fatalf("the page has no code in %s", language)
	}
	return b.String()
}

// program puts the page's code where the check has its mark, and returns the file.
func program(t *testing.T, language, check, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", check))
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "RECIPES\n")
	if !ok {
		t.Fatalf("%s has no mark", check)
	}
	// The mark's line is a comment, whatever the language calls one.
	before = before[:strings.LastIndex(before, "\n")+1]
	file := filepath.Join(dir, strings.TrimSuffix(check, ".txt"))
	if err := os.WriteFile(file, []byte(before+blocks(t, language)+after), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func run(t *testing.T, addr, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REDFENCE_ADDR="+addr)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "all well") {
		t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
}

// installed is the path of something that `make recipes` installs.
func installed(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s is not set: make recipes installs the drivers", variable)
	}
	return path
}

func TestGo(t *testing.T) {
	dir, err := filepath.Abs("testdata/go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := program(t, "go", "main.go.txt", dir)
	run(t, process.Start(t, 1).Nodes[0].Client, "../..", "go", "run", "-tags", "hashicorpmetrics", file)
}

func TestPython(t *testing.T) {
	python := installed(t, "RECIPES_PYTHON")
	run(t, process.Start(t, 1).Nodes[0].Client, "", python, program(t, "python", "check.py.txt", t.TempDir()))
}

func TestNode(t *testing.T) {
	modules := installed(t, "RECIPES_NODE")
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	run(t, process.Start(t, 1).Nodes[0].Client, "", "node", program(t, "js", "check.mjs.txt", dir))
}

func TestJava(t *testing.T) {
	jars := installed(t, "RECIPES_JARS")
	run(t, process.Start(t, 1).Nodes[0].Client, "", "java", "-cp", jars, program(t, "java", "Check.java.txt", t.TempDir()))
}
