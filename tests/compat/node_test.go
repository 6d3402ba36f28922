package compat_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	ioredisToken   = "`client.call(\"LOCK.TOKEN\", key)`"
	nodeRedisToken = "`client.sendCommand([\"LOCK.TOKEN\", key])`"
	// listOfOne is how a library that takes masters takes one address.
	listOfOne = "none: a list of one client is a quorum of one"
	// By themselves the drivers keep a dead master's commands until it is back, which
	// costs the same with Redis.
	ioredisQueue   = "where a master may be down: ioredis with `enableOfflineQueue: false`, else "
	waitsForDead   = "each lock waits 10 s for it"
	universalQueue = "where a master may be down: `enableOfflineQueue: false` (ioredis) or `disableOfflineQueue: true` (node-redis), else each lock waits 5 s for it"
)

var node = &toolchain{
	name:    "node",
	prepare: prepareNode,
	libraries: []library{
		{Name: "redlock 3/ioredis 4", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne, Token: ioredisToken,
			Quirks: "a release doesn't tell whether there was a lock; " + ioredisQueue + waitsForDead},
		{Name: "redlock 4/ioredis 5", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne, Token: ioredisToken,
			Quirks: ioredisQueue + waitsForDead},
		{Name: "redlock 5/ioredis 5", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne, Token: ioredisToken, Quirks: redlock5Quirks},
		{Name: "redlock 5/ioredis 6", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne, Token: ioredisToken, Quirks: redlock5Quirks},
		{Name: "redlock 5/iovalkey", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne, Token: ioredisToken, Quirks: redlock5Quirks},
		{Name: "@sesamecare-oss/redlock", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne, Token: ioredisToken,
			Quirks: "its scripts SELECT a database (`db`), which holds for the script alone"},
		{Name: "redis-semaphore, Mutex", Language: "Node", Port: "shared", Token: "`client.call(\"LOCK.TOKEN\", \"mutex:\" + name)`", Quirks: semaphoreQuirks},
		{Name: "redis-semaphore, RedlockMutex", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne,
			Token:  "`client.call(\"LOCK.TOKEN\", \"mutex:\" + name)`",
			Quirks: semaphoreQuirks + "; " + ioredisQueue + waitsForDead + " and may have run out by then"},
		{Name: "redis-semaphore, Semaphore", Language: "Node", Port: "shared",
			Token:  "the set's, not a holder's: `client.call(\"LOCK.TOKEN\", \"semaphore:\" + name)`",
			Quirks: semaphoreQuirks + "; it counts a holder's lease by the clients' wall clocks; tested with room for one"},
		{Name: "redis-semaphore, RedlockSemaphore", Language: "Node", Masters: true, Port: seatsForSeveral, Quorum: listOfOne,
			Token:  "with one address as for Semaphore; on the seats none, since a sorted set has no one value",
			Quirks: semaphoreQuirks + "; it counts a holder's lease by the clients' wall clocks; tested with room for one"},
		{Name: "redlock-universal/ioredis", Language: "Node", Masters: true, Port: universalPort, Quorum: listOfOne, Token: ioredisToken, Quirks: universalQueue},
		{Name: "redlock-universal/node-redis 4", Language: "Node", Masters: true, Port: universalPort, Quorum: listOfOne, Token: nodeRedisToken, Quirks: universalQueue},
		{Name: "redlock-universal/node-redis 5", Language: "Node", Masters: true, Port: universalPort, Quorum: listOfOne, Token: nodeRedisToken, Quirks: universalQueue},
		{Name: "redlock-universal/node-redis 6", Language: "Node", Masters: true, Port: universalPort, Quorum: listOfOne, Token: nodeRedisToken, Quirks: universalQueue},
		{Name: "redlock-universal/GLIDE", Language: "Node", Port: "shared, by `createLock`", Token: "`client.customCommand([\"LOCK.TOKEN\", key])`",
			Quirks: "its driver gives a command 250 ms unless `requestTimeout` says more"},
		{Name: "simple-redis-mutex", Language: "Node", Port: "shared",
			Token:  "`client.sendCommand([\"LOCK.TOKEN\", \"@simple-redis-mutex:lock-\" + name])`",
			Quirks: "its `fencingToken` is a counter of its own, drawn after the grant; release and refresh don't tell what came of them"},
		{Name: "@microfleet/ioredis-lock", Language: "Node", Port: "shared", Token: ioredisToken},
		{Name: "ioredis-lock", Language: "Node", Port: "shared", Token: ioredisToken, Quirks: "on ioredis 4"},
		{Name: "redislock", Language: "Node", Port: "shared", Token: ioredisToken, Quirks: "made for the node-redis of before promises; runs on ioredis"},
		{Name: "redis-lock", Language: "Node", Port: "shared", Token: "`client.sendCommand([\"LOCK.TOKEN\", \"lock.\" + name])`",
			Quirks: "node-redis 4 only",
			None: map[string]string{
				"contended": "it can only wait",
				"extend":    "the library has none",
				"foreign":   "it releases by a plain DEL, whoever holds the name",
			}},
	},
	snippets: []snippet{
		{Title: "redlock on ioredis", File: "snippet/redlock.mjs", run: nodeRun},
		{Title: "redlock-universal on node-redis", File: "snippet/universal.mjs", run: nodeRun},
	},
}

const (
	universalPort   = "shared by `createLock`; the seats by `createRedlock`"
	redlock5Quirks  = "counts validity from before it began to wait: after a wait longer than the lease `extend` refuses; with several masters a lost try's votes run out by themselves, so keep leases short"
	semaphoreQuirks = "renews by itself (`refreshInterval`); a release doesn't tell whether there was a lock"
)

const (
	// nodeOldest is the oldest major version of Node that today's drivers run on.
	nodeOldest = 20
	npmLimit   = 3 * time.Minute
)

// prepareNode installs the libraries, and lays the program beside them.
func prepareNode(t *testing.T) (runner, error) {
	if err := haveNode(); err != nil {
		return nil, err
	}
	installed, err := installNode()
	if err != nil {
		return nil, err
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		return nil, err
	}
	files, err := filepath.Glob("node/*.mjs")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := copyInto(dir, f); err != nil {
			return nil, err
		}
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command("node", append([]string{"main.mjs"}, args...)...)
		cmd.Dir = dir
		return cmd
	}, nil
}

// nodeRun runs a snippet as a module of the program's folder, where its imports are.
func nodeRun(r runner, file string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", `exec node --input-type=module - < "$0"`, file)
	cmd.Dir = r().Dir
	return cmd
}

func haveNode() error {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			if err := installDebian("nodejs", "npm"); err != nil {
				return err
			}
		}
	}
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return err
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < nodeOldest {
		return fmt.Errorf("this needs Node %d or newer, and here is %s", nodeOldest, version)
	}
	return nil
}

// installNode installs what the lock file says, unless it is there, and returns
// where.
func installNode() (string, error) {
	lock, err := os.ReadFile("node/package-lock.json")
	if err != nil {
		return "", err
	}
	return installOnce("node", string(lock), func(fresh string) error {
		for _, f := range []string{"node/package.json", "node/package-lock.json", "node/.npmrc"} {
			if err := copyInto(fresh, f); err != nil {
				return err
			}
		}
		return npmInstall(fresh)
	})
}

func npmInstall(dir string) error {
	var err error
	for range 2 {
		ctx, cancel := context.WithTimeout(context.Background(), npmLimit)
		cmd := exec.CommandContext(ctx, "npm", "ci")
		cmd.Dir = dir
		var out []byte
		out, err = cmd.CombinedOutput()
		cancel()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("npm ci: %v\n%s", err, out)
	}
	return err
}

func copyInto(dir, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644)
}
