package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// Exit codes, as docs/operations.md lists them.
const (
	exitOK     = 0
	exitFailed = 1 // it was tried and failed: the store, the network, a node that isn't ready
	exitUsage  = 2 // what was asked for makes no sense: flags, environment, configuration file
)

// usageError marks an error as the caller's.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole program. It returns the exit code and never ends the process
// itself, a second signal during a shutdown excepted.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// What fails before a command's own code runs is a matter of its arguments.
	started := false
	root := newRoot()
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var exit exitError
	if errors.As(err, &exit) && exit.err == nil && err == error(exit) {
		return exit.code
	}
	fmt.Fprintf(stderr, "redfence: %v\n", err)
	if errors.As(err, &exit) {
		return exit.code
	}
	if usage := (usageError{}); !started || errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "redfence",
		Short:         "A lock server that speaks the Redis protocol and replicates through Raft",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServe(), newRun(), newStatus(), newCompare(), newVersion())
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "redfence %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
