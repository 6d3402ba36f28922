package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/redfence/redfence/client"
)

// hold is what `redfence run` was told.
type hold struct {
	operator
	ttl, wait, atLeast, grace time.Duration
	waits, shared             bool
	permits                   int
	note                      string
	conflict                  int
}

const (
	tokenVariable = "REDFENCE_TOKEN"
	lockVariable  = "REDFENCE_LOCK"

	holdTTLDefault = 30 * time.Second
	// A command that must stop gets a part of the lease to end by itself, at most so long.
	gracePart = 6
	graceMax  = 5 * time.Second
	// killPart of the grace is kept back: what KILL itself may take to act.
	killPart = 10
	// releaseMax bounds the release after the command has ended; the lock runs out then.
	releaseMax = 2 * time.Second
)

func newRun() *cobra.Command {
	var h hold
	cmd := &cobra.Command{
		Use:   "run NAME [flags] -- command [argument ...]",
		Short: "Run a command while holding a lock",
		Long: `Run a command while holding a lock, and end with its status.

The lock is renewed while the command runs. REDFENCE_TOKEN has the fencing token of
the grant and REDFENCE_LOCK the name. Signals are passed on. When the lock can't be
kept the command gets TERM in time to end by itself, and KILL before the lock can be
given to another; the status is 1 then.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New("usage: redfence run NAME [flags] -- command [argument ...]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			h.waits = !cmd.Flags().Changed("wait") || h.wait > 0
			if !cmd.Flags().Changed("wait") {
				h.wait = math.MaxInt64
			}
			return h.run(cmd, args[0], args[1:])
		},
	}
	h.bind(cmd)
	f := cmd.Flags()
	f.Lookup("addr").Usage = "shared ports of nodes, host:port or unix:/path, with commas (environment: " + addrVariable + ")"
	f.DurationVar(&h.ttl, "ttl", holdTTLDefault, "lease: for how long the lock stays held when this process or its machine dies")
	f.DurationVar(&h.wait, "wait", 0, "how long to wait for the lock, 0s for not at all (without it: as long as it takes)")
	f.BoolVar(&h.shared, "shared", false, "hold it with any number of others, as a reader")
	f.IntVar(&h.permits, "permits", 0, "hold it with at most so many others less one, as a semaphore")
	f.DurationVar(&h.atLeast, "at-least", 0, "keep the lock for so long after the start, however soon the command ends")
	f.DurationVar(&h.grace, "grace", 0, "time between TERM and KILL when the lock is lost (default a sixth of the lease, at most 5s)")
	f.StringVar(&h.note, "note", "", "a word for people, shown by LOCK.INFO")
	f.IntVarP(&h.conflict, "conflict-exit-code", "E", exitFailed, "status when the lock can't be had in time")
	return cmd
}

// settle checks what was asked for and fills in the rest.
func (h *hold) settle() error {
	if h.shared && h.permits != 0 {
		return usagef("--shared and --permits exclude one another")
	}
	if h.permits < 0 || h.atLeast < 0 || h.wait < 0 || h.grace < 0 {
		return usagef("a number is negative")
	}
	if h.conflict < 0 || h.conflict > 255 {
		return usagef("--conflict-exit-code: %d is no exit status", h.conflict)
	}
	// The lease itself reaches as far, so that it also holds when this machine dies.
	h.ttl = max(h.ttl, h.atLeast)
	if h.grace == 0 {
		h.grace = min(h.ttl/gracePart, graceMax)
	}
	if h.ttl < client.MinTTL || h.margin() > h.ttl/2 {
		return usagef("--ttl %v is too short: at least %v, and twice the --grace of %v", h.ttl, client.MinTTL, h.grace)
	}
	for _, addr := range strings.Split(h.addr, ",") {
		one := operator{addr: addr}
		if err := one.checkAddr(); err != nil {
			return usageError{fmt.Errorf("--addr: %w", err)}
		}
	}
	var err error
	h.password, err = readPassword(h.passwordFile, os.LookupEnv)
	return err
}

// margin is how long before the lease's end the command is told to end.
func (h *hold) margin() time.Duration { return h.grace + h.grace/killPart }

func (h *hold) run(cmd *cobra.Command, name string, argv []string) error {
	if err := h.settle(); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return notStarted(err)
	}
	// The kernel ends the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	defer signal.Stop(signals)

	redis.SetLogger(silent{})
	c, err := client.Open(client.Options{Addresses: strings.Split(h.addr, ","), Password: h.password, Name: "redfence-run"})
	if err != nil {
		return err
	}
	defer c.Close()
	g, err := h.acquire(cmd.Context(), c, name, signals)
	if err != nil {
		return err
	}
	began := time.Now()
	run := exec.Command(path, argv[1:]...)
	run.Args[0] = argv[0]
	run.Stdin, run.Stdout, run.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	run.Env = append(os.Environ(), fmt.Sprintf("%s=%d", tokenVariable, g.Token()), lockVariable+"="+name)
	err = supervise(run, g, signals, h.grace)
	if failed := h.release(g, began); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// acquire takes the lock, or gives up when a signal says so.
func (h *hold) acquire(ctx context.Context, c *client.Client, name string, signals <-chan os.Signal) (*client.Grant, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if h.waits && h.wait < math.MaxInt64 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, h.wait, client.ErrHeld)
		defer stop()
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case <-over:
				return
			case sig := <-signals:
				if s := sig.(syscall.Signal); ends[s] {
					cancel(exitError{code: signalled(s)})
				}
			}
		}
	}()
	g, err := h.lock(ctx, c, name)
	var stopped exitError
	switch {
	case errors.As(context.Cause(ctx), &stopped):
		if err == nil {
			err = h.release(g, time.Now().Add(-h.atLeast))
		}
		if err != nil && !errors.As(err, new(exitError)) {
			return nil, errors.Join(stopped, err)
		}
		return nil, stopped
	case errors.Is(err, client.ErrHeld):
		return nil, exitError{code: h.conflict, err: fmt.Errorf("%s is held by others", name)}
	}
	return g, err
}

func (h *hold) lock(ctx context.Context, c *client.Client, name string) (*client.Grant, error) {
	options := []client.Option{client.WithTTL(h.ttl), client.WithMargin(h.margin()), client.WithNote(h.note)}
	type ask = func(context.Context) (*client.Grant, error)
	try, wait := ask(c.Mutex(name, options...).TryLock), ask(c.Mutex(name, options...).Lock)
	switch {
	case h.shared:
		m := c.RWMutex(name, options...)
		try, wait = m.TryRLock, m.RLock
	case h.permits > 0:
		s := c.Semaphore(name, h.permits, options...)
		try, wait = s.TryAcquire, s.Acquire
	}
	if h.waits {
		return wait(ctx)
	}
	return try(ctx)
}

// release gives the lock back, or leaves it held until --at-least has passed.
func (h *hold) release(g *client.Grant, began time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseMax)
	defer cancel()
	if err := g.UnlockAfter(ctx, h.atLeast-time.Since(began)); err != nil {
		return fmt.Errorf("the release of the lock: %w", err)
	}
	return nil
}
