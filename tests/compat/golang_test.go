package compat_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

// byCommand is how the fencing token of a lock that is a key of its own name is read.
const byCommand = "`LOCK.TOKEN key` by the driver's way to send any command"

const redsyncPort = "shared, one pool; with several pools the seats"

var golang = &toolchain{
	name:    "golang",
	prepare: prepareGo,
	libraries: append([]library{
		{Name: "redsync/go-redis", Language: "Go", Masters: true, Port: redsyncPort, Token: byCommand,
			Quirks: "gives each try 5 % of the lease (`WithTimeoutFactor`); set go-redis to `DialerRetries: 1` where a master may be down"},
		{Name: "redsync/redigo", Language: "Go", Masters: true, Port: redsyncPort, Token: byCommand},
		{Name: "redsync/rueidis", Language: "Go", Masters: true, Port: redsyncPort, Token: byCommand,
			Quirks: "`DisableCache: true` saves a tracked connection"},
		{Name: "bsm/redislock", Language: "Go", Port: "shared", Token: byCommand},
		{Name: "rueidislock", Language: "Go", Port: "shared", Quorum: "none: three keys on one address by itself",
			Token:  "`LOCK.TOKEN rueidislock:0:name`, and the same for 1 and 2: the second lowest counts",
			Quirks: "`FallbackSETPX: true`, else the lease ends by the client's wall clock (PXAT), as an extended one does anyhow (PEXPIREAT); `TryNextAfter` of 20 ms is short"},
		{Name: "rueidislock/PXAT", Language: "Go", Port: "shared", Quorum: "none: three keys on one address by itself",
			Token: "as above", Quirks: "as it is by default: the lease ends by the client's wall clock"},
	}, spokenLibraries...),
	snippets: []snippet{
		{Title: "redsync on go-redis", File: "snippet/redsync/main.go", run: goRun},
		{Title: "bsm/redislock", File: "snippet/redislock/main.go", run: goRun},
	},
}

func prepareGo(t *testing.T) (runner, error) {
	program := filepath.Join(t.TempDir(), "golang")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = "golang"
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %v\n%s", err, out)
	}
	return func(args ...string) *exec.Cmd { return exec.Command(program, args...) }, nil
}

func goRun(_ runner, file string) *exec.Cmd {
	cmd := exec.Command("go", "run", file)
	cmd.Dir = "golang"
	return cmd
}
