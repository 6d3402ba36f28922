// Package compare_test runs `redfence compare` as its users do and looks at what
// it wrote.
package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redfence/redfence/redlockcompat/compare"
	"github.com/redfence/redfence/tests/internal/process"
)

func TestMain(m *testing.M) {
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}

// TestQuick: what the faults do to plain Redlock was counted, and so was that they
// do nothing to Redfence; with the fault taken out nothing is counted.
func TestQuick(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report")
	cmd := exec.Command(process.Binary(t), "compare", "--quick", "--out", out)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	b, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r compare.Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	t.Logf("took %.0f s, seed %d", r.Took, r.Seed)
	if r.Took > 120 {
		t.Errorf("a quick run took %.0f s", r.Took)
	}
	seen := map[string]int{}
	for _, run := range r.Runs {
		if run.NotRun != "" {
			t.Errorf("%s on %s was not run: %s", run.Fault, run.System, run.NotRun)
		}
		ours := strings.HasPrefix(run.System, "Redfence")
		t.Logf("%-10s %-34s two holders %d (%.0f ms), late accepted %d, refused %d, gap %.2f s",
			run.Fault, run.System, run.TwoHolders, run.Overlap, run.LateAccepted, run.LateRefused, run.Gap)
		if ours && (run.TwoHolders > 0 || run.LateAccepted > 0) {
			t.Errorf("%s on %s: %+v", run.Fault, run.System, run)
		}
		if run.Fault == "control" && run.TwoHolders > 0 {
			t.Errorf("%s has two holders without a fault", run.System)
		}
		if !ours && run.TwoHolders > 0 {
			seen[run.Fault]++
		}
		if run.Fault == "stall" && ours != (run.LateRefused == 1) {
			t.Errorf("a late write on %s: %+v", run.System, run)
		}
	}
	for _, fault := range []string{"restart", "jump-one", "jump-two"} {
		if seen[fault] == 0 {
			t.Errorf("%s gave plain Redlock no second holder", fault)
		}
	}
	for _, run := range r.Speed {
		if run.Cycles == 0 {
			t.Errorf("%s with %d workers locked nothing", run.System, run.Workers)
		}
	}
}

// TestInterrupt: Ctrl-C in the middle leaves nothing running.
func TestInterrupt(t *testing.T) {
	tmp := t.TempDir()
	cmd := exec.Command(process.Binary(t), "compare", "--quick", "--out", filepath.Join(tmp, "report"))
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []byte
	for buf := make([]byte, 4096); !bytes.Contains(said, []byte("speed 2 of")); {
		n, err := pipe.Read(buf)
		said = append(said, buf[:n]...)
		if err != nil {
			t.Fatalf("it ended by itself: %s", said)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("interrupted, it says that all went well")
	}
	if left := running(t, tmp); len(left) > 0 {
		t.Errorf("it left %v running", left)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "redfence-compare-*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// running lists the processes whose arguments name a folder.
func running(t *testing.T, dir string) (out []string) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Skip("this system has no /proc")
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(dir+"/redfence-compare-")) {
			out = append(out, fmt.Sprintf("%s: %s", f, bytes.ReplaceAll(b, []byte{0}, []byte(" "))))
		}
	}
	return out
}
