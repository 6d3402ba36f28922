// Command redfence is a lock server that speaks the Redis protocol, and the
// commands of those who run one. It holds no logic: it turns flags, environment
// and signals into calls of server and server/replica. Read run.go, then serve.go.
package main

import (
	"context"
	"os"
)

// version is set by the linker (see the Makefile).
var version = "unknown"

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
