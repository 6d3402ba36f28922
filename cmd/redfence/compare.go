package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/redfence/redfence/redlockcompat/compare"
)

func newCompare() *cobra.Command {
	var o compare.Options
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Run plain Redlock and Redfence side by side and write a report",
		Long: `Starts three and five independent redis-servers and three nodes of Redfence on
free loopback ports, drives both with the same Redlock library, makes the same
faults on both, and writes report.html, report.md and report.json.

It needs redis-server, and libfaketime (Debian: faketime) for the faults of clocks.
Nothing that it starts is left when it ends, or at Ctrl-C.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCompare(cmd.Context(), cmd, o)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Out, "out", "redfence-compare", "folder for the report")
	fs.BoolVar(&o.Quick, "quick", false, "one short round of everything, under two minutes")
	fs.Uint64Var(&o.Seed, "seed", 0, "repeats the choices of an earlier run; 0 draws one")
	fs.StringVar(&o.RedisServer, "redis-server", "", "path of redis-server; empty looks for it")
	return cmd
}

func runCompare(ctx context.Context, cmd *cobra.Command, o compare.Options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Redfence, o.Version, o.Env = self, version, os.Environ()
	if o.RedisServer == "" {
		o.RedisServer = compare.FindRedisServer()
	}
	for o.Seed == 0 {
		o.Seed = drawSeed()
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	o.Progress = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
	if _, err := compare.Run(ctx, o); err != nil {
		return err
	}
	for _, name := range []string{"report.html", "report.md", "report.json"} {
		fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(o.Out, name))
	}
	return nil
}

// drawSeed draws a seed that is easily read and typed.
func drawSeed() uint64 {
	var b [4]byte
	// crypto/rand never fails: it ends the process instead.
	_, _ = rand.Read(b[:])
	return uint64(binary.BigEndian.Uint32(b[:]))
}
