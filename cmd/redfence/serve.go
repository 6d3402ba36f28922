package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server"
)

// shutdownMax bounds how long a node takes to end after a signal; handoverMax
// and answerMax are what handing over and the commands in flight may take of it.
// failedMax bounds the end of a node that can't go on.
const (
	shutdownMax = 4500 * time.Millisecond
	failedMax   = 300 * time.Millisecond
	handoverMax = 2 * time.Second
	answerMax   = 1500 * time.Millisecond
)

func newServe() *cobra.Command {
	c := defaultConfig()
	var file string
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run one node",
		Long: `Run one node until it is told to end (SIGTERM, SIGINT).

Without any flag it is a cluster of one node, with its data in ./redfence-data.
Each flag can also be given as an environment variable (--node-id is
REDFENCE_NODE_ID) or as a key of the YAML file that --config names.

Exit status: 0 after a signal, 1 when the node can't go on, 2 for settings that
make no sense. A second signal ends the process at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := settle(cmd.Flags(), file, os.LookupEnv); err != nil {
				return err
			}
			c.nodeIDGiven = cmd.Flags().Changed("node-id")
			if err := c.validate(); err != nil {
				return err
			}
			if printOnly {
				return printSettings(cmd.Flags(), cmd.OutOrStdout())
			}
			var err error
			if c.password, err = readPassword(c.PasswordFile, os.LookupEnv); err != nil {
				return err
			}
			return serve(cmd.Context(), &c, newLogger(&c, cmd.ErrOrStderr()))
		},
	}
	c.bind(cmd.Flags())
	cmd.Flags().StringVar(&file, configFlag, "", "YAML file with settings")
	cmd.Flags().BoolVar(&printOnly, printConfigFlag, false, "print the settings in force as such a file, and end")
	return cmd
}

// serve runs a node until ctx ends, a signal comes, or the node can't go on.
func serve(ctx context.Context, c *config, log *slog.Logger) error {
	collectRarely()
	// A reader of the log that has gone away must not take the node with it.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ports, err := openPorts(c)
	if err != nil {
		return err
	}
	warnIfOpen(c, log)
	n, err := startNode(ctx, c, ports, log)
	if err != nil {
		ports.close()
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	n.serve(ports)
	go n.announce(ctx, ports)
	select {
	case err = <-n.failed: // run says it on standard error
	case <-ctx.Done():
		log.Info("told to end: " + n.farewell())
	}
	// From here on a second signal has its usual effect: it ends the process.
	stop()
	n.end(err != nil)
	return err
}

// warnIfOpen says that everybody who can connect can take and break locks.
func warnIfOpen(c *config, log *slog.Logger) {
	if c.password != "" {
		return
	}
	for _, addr := range slices.Concat(c.Listen, c.Seats) {
		if isOpen(addr) {
			log.Warn("clients on other machines need no password: set REDFENCE_PASSWORD or --password-file", "address", addr)
			return
		}
	}
}

// port is an open listener and the keyspace that it serves.
type port struct {
	net.Listener
	space uint8
}

// ports are what a node listens on. They are opened before its data is touched,
// so that an address in use is told at once.
type ports struct {
	clients []port
	http    []net.Listener
}

func openPorts(c *config) (*ports, error) {
	p := &ports{}
	open := func(flag, addr string) (net.Listener, error) {
		ln, err := server.Listen(addr)
		if err != nil {
			p.close()
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		return ln, nil
	}
	for _, addr := range c.Listen {
		ln, err := open("listen", addr)
		if err != nil {
			return nil, err
		}
		p.clients = append(p.clients, port{ln, fsm.SharedSpace})
	}
	if c.UnixSocket != "" {
		ln, err := open("unix-socket", "unix:"+c.UnixSocket)
		if err != nil {
			return nil, err
		}
		p.clients = append(p.clients, port{ln, fsm.SharedSpace})
	}
	for i, addr := range c.Seats {
		ln, err := open("seats", addr)
		if err != nil {
			return nil, err
		}
		p.clients = append(p.clients, port{ln, uint8(i + 1)})
	}
	for _, addr := range c.HTTPListen {
		ln, err := open("http-listen", addr)
		if err != nil {
			return nil, err
		}
		p.http = append(p.http, ln)
	}
	return p, nil
}

func (p *ports) close() {
	for _, ln := range p.clients {
		ln.Close()
	}
	for _, ln := range p.http {
		ln.Close()
	}
}

// of lists the addresses that serve a keyspace.
func (p *ports) of(space uint8) []string {
	var addrs []string
	for _, ln := range p.clients {
		if ln.space == space {
			addrs = append(addrs, ln.Addr().String())
		}
	}
	return addrs
}

// seats lists the addresses of the seat ports, seat 1 first.
func (p *ports) seats() []string {
	var addrs []string
	for _, ln := range p.clients {
		if ln.space != fsm.SharedSpace {
			addrs = append(addrs, ln.Addr().String())
		}
	}
	return addrs
}

func addrsOf(lns []net.Listener) []string {
	var addrs []string
	for _, ln := range lns {
		addrs = append(addrs, ln.Addr().String())
	}
	return addrs
}

// orNone spells a list of addresses for a log line.
func orNone(addrs []string) string {
	if len(addrs) == 0 {
		return "none"
	}
	return strings.Join(addrs, ",")
}
