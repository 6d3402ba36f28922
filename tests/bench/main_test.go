// Package bench_test measures lock cycles of Redfence and of what it is compared
// with, on this machine and in one run, and writes what it saw as JSON and as
// Markdown. It is a module of its own, so that the clients of the others stay out
// of the product's graph.
//
// Read cycles_test.go first; load_test.go has the workload, systems_test.go what is
// measured, report_test.go what is made of it.
package bench_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

var (
	outFlag   = flag.String("out", "", "folder for runs.json and report.md; without it nothing is measured")
	quickFlag = flag.Bool("quick", false, "short runs, to see that all of it works")
	partFlag  = flag.String("part", "", "one part alone: cycles, handover, floor, tool, idle, lag or held")
	etcdFlag  = flag.String("etcd", "etcd", "etcd's binary")
	redisFlag = flag.String("redis-server", "redis-server", "redis-server's binary")
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(bareEnv); spec != "" {
		if err := bareNode(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if addr := os.Getenv(bareRedconEnv); addr != "" {
		fmt.Fprintln(os.Stderr, bareRedcon(addr))
		os.Exit(1)
	}
	flag.Parse()
	if err := placeData(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	process.Cleanup()
	if *outFlag != "" {
		os.RemoveAll(dataFolder())
	}
	os.Exit(code)
}

func dataFolder() string { return filepath.Join(*outFlag, "data") }

// placeData puts every server's files beside the report: the system's folder for
// temporary files may be memory, where fsync costs nothing.
func placeData() error {
	if *outFlag == "" {
		return nil
	}
	out, err := filepath.Abs(*outFlag)
	if err != nil {
		return err
	}
	*outFlag = out
	// A run that was interrupted leaves its data.
	if err := os.RemoveAll(dataFolder()); err != nil {
		return err
	}
	if err := os.MkdirAll(dataFolder(), 0o755); err != nil {
		return err
	}
	return os.Setenv("TMPDIR", dataFolder())
}
