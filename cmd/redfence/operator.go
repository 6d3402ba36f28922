package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/spf13/cobra"
)

// operator is how a command of an operator reaches a node: over its Redis port,
// like every client.
type operator struct {
	addr         string
	passwordFile string
	password     string
}

const (
	addrVariable = "REDFENCE_ADDR"
	addrDefault  = "127.0.0.1:6379"
	// operatorTimeout bounds a command of an operator, time for a new leader included.
	operatorTimeout = 10 * time.Second
)

// bind gives a command the flags that say which node is meant.
func (o *operator) bind(cmd *cobra.Command) {
	addr := addrDefault
	if v := os.Getenv(addrVariable); v != "" {
		addr = v
	}
	cmd.Flags().StringVar(&o.addr, "addr", addr, "shared port of a node, host:port or unix:/path (environment: "+addrVariable+")")
	cmd.Flags().StringVar(&o.passwordFile, "password-file", "", "file with the password, or set "+passwordVariable)
}

// checkAddr says whether the address could be one of a node.
func (o *operator) checkAddr() error {
	if path, unix := strings.CutPrefix(o.addr, "unix:"); unix {
		if path == "" {
			return errors.New(`"unix:" names no socket`)
		}
		return nil
	}
	if err := checkAddr(o.addr); err != nil {
		return err
	}
	if _, port, _ := net.SplitHostPort(o.addr); strings.Trim(port, "0") == "" {
		return fmt.Errorf("%q: nobody listens on port 0", o.addr)
	}
	return nil
}

// connect dials the node. The caller closes the client.
func (o *operator) connect() (*redis.Client, error) {
	if err := o.checkAddr(); err != nil {
		return nil, usageError{fmt.Errorf("--addr: %w", err)}
	}
	var err error
	if o.password, err = readPassword(o.passwordFile, os.LookupEnv); err != nil {
		return nil, err
	}
	return dial(*o), nil
}

// dial makes a client that says nothing but what it is asked to, and gives up
// at the first error: an operator sees it and decides.
func dial(o operator) *redis.Client {
	redis.SetLogger(silent{})
	network, addr := "tcp", o.addr
	if path, unix := strings.CutPrefix(o.addr, "unix:"); unix {
		network, addr = "unix", path
	}
	return redis.NewClient(&redis.Options{
		Network: network, Addr: addr, Password: o.password, Protocol: 3, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: operatorTimeout, ReadTimeout: operatorTimeout, WriteTimeout: operatorTimeout, PoolSize: 1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// silent keeps go-redis from writing on standard error what the caller says better.
type silent struct{}

// Printf drops a line.
func (silent) Printf(context.Context, string, ...any) {}

// ask runs one command within operatorTimeout.
func (o *operator) ask(ctx context.Context, args ...any) (any, error) {
	client, err := o.connect()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, operatorTimeout)
	defer cancel()
	v, err := client.Do(ctx, args...).Result()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.addr, err)
	}
	return v, nil
}
