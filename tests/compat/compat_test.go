// Package compat_test runs real lock libraries, unmodified, against real
// Redfence processes: each in a program of its own language, one line a case.
// README.md says what a program is and what each case asks.
package compat_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

var (
	only   = flag.String("only", "", "run the libraries whose name or folder has this in it")
	record = flag.Bool("record", false, "write results.json from what ran")
)

// programLimit bounds one run of a program: a library that waits for ever fails.
const programLimit = 3 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	process.Cleanup()
	os.Exit(code)
}

// TestLibraries runs every library in every topology that fits it.
func TestLibraries(t *testing.T) {
	ran := newResults()
	t.Run("run", func(t *testing.T) { runAll(t, ran) })
	passed := 0
	for name := range ran.Libraries {
		passed += ran.passed(name)
	}
	fmt.Printf("%d rows, %d results\n", len(ran.Libraries), passed)
	switch {
	case *record && !t.Failed():
		ran.write(t)
	case !*record:
		ran.compare(t)
	}
}

func runAll(t *testing.T, ran *results) {
	type prepared struct {
		*toolchain
		run runner
	}
	var chains []prepared
	for _, chain := range toolchains {
		if !wanted(chain) {
			continue
		}
		run, err := chain.prepare(t)
		if err != nil {
			notRun(t, chain, err)
			continue
		}
		t.Run("snippets of "+chain.name, func(t *testing.T) { runSnippets(t, chain, run) })
		chains = append(chains, prepared{chain, run})
	}
	for _, top := range topologies {
		t.Run(top.name, func(t *testing.T) {
			addresses := top.start(t)
			// Within a topology the libraries of all languages run side by side, each
			// under a prefix of its own.
			t.Run("libraries", func(t *testing.T) {
				for _, chain := range chains {
					for i := range chain.libraries {
						l := &chain.libraries[i]
						if !l.runsIn(top) || !strings.Contains(chain.name+" "+l.Name, *only) {
							continue
						}
						t.Run(l.Name, func(t *testing.T) {
							t.Parallel()
							runProgram(t, l, top, addresses, chain.run, ran)
						})
					}
				}
			})
		})
	}
}

func wanted(chain *toolchain) bool {
	return strings.Contains(chain.name, *only) || slices.ContainsFunc(chain.libraries, func(l library) bool {
		return strings.Contains(chain.name+" "+l.Name, *only)
	})
}

// notRun says why a language's libraries don't run on this machine. Where
// everything must be had, that is a failure.
func notRun(t *testing.T, chain *toolchain, err error) {
	for _, l := range chain.libraries {
		fmt.Printf("%-34s not run: %s\n", l.Name, firstLine(err.Error()))
	}
	if os.Getenv("CI") != "" || *record {
		t.Errorf("%s: not run: %v", chain.name, err)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// runProgram runs a library's program and holds it to every case: one that is
// missing from its output is a failure too.
func runProgram(t *testing.T, l *library, top topology, addresses string, run runner, ran *results) {
	prefix := strings.NewReplacer("/", ".", " ", ".", "@", "").Replace(l.Name)
	cmd := run(l.Name, addresses, prefix)
	ctx, cancel := context.WithTimeout(context.Background(), programLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := runWithin(ctx, cmd)
	var seen []string
	for line := range strings.Lines(stdout.String()) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "version" {
			ran.version(l.Name, result)
			continue
		}
		seen = append(seen, name)
		fmt.Printf("%-34s %-22s %-10s %s\n", l.Name, top.name, name, result)
		if want := l.expects(name); result != want {
			t.Errorf("%s: %s: %s; want %s", l.Name, name, result, want)
		}
		ran.note(l.Name, top.name, name, result)
	}
	if err != nil || !slices.Equal(seen, cases) {
		t.Errorf("%s ran %v of %v: %v\n%s", l.Name, seen, cases, err, stderr.String())
	}
	if ran.versionOf(l.Name) == "" {
		t.Errorf("%s didn't tell its version", l.Name)
	}
}

// runWithin runs a command that is killed when ctx ends.
func runWithin(ctx context.Context, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	return cmd.Wait()
}
