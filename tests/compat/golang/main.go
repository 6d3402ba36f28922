// Command golang drives the Go lock libraries, as their users would, against
// servers that are named on the command line. ../README.md says what it prints
// and what each case asks.
//
// It is a module of its own, so that the libraries stay out of the product's.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// library makes lockers of one lock library on one driver.
type library func(addrs []string) (factory, error)

// factory makes a locker for a name; each has a value of its own.
type factory func(name string, lease time.Duration) locker

// locker is one holder-to-be.
type locker interface {
	tryLock(ctx context.Context) (bool, error)
	lock(ctx context.Context) error // waits as the library waits
	extend(ctx context.Context) (bool, error)
	unlock(ctx context.Context) (bool, error)
}

// keyed is a locker whose keys aren't called as its lock.
type keyed interface{ keys() []string }

// entry is a library by the name under which the program is asked for it, and
// the modules whose versions it runs.
type entry struct {
	open    library
	modules [2]string
}

var libraries = map[string]entry{
	"redsync/go-redis": {redsyncOnGoRedis, [2]string{"github.com/go-redsync/redsync/v4", "github.com/redis/go-redis/v9"}},
	"redsync/redigo":   {redsyncOnRedigo, [2]string{"github.com/go-redsync/redsync/v4", "github.com/gomodule/redigo"}},
	"redsync/rueidis":  {redsyncOnRueidis, [2]string{"github.com/go-redsync/redsync/v4", "github.com/redis/rueidis"}},
	"bsm/redislock":    {bsmRedislock, [2]string{"github.com/bsm/redislock", "github.com/redis/go-redis/v9"}},
	"rueidislock":      {rueidisLock(true), [2]string{"github.com/redis/rueidis", "github.com/redis/rueidis"}},
	"rueidislock/PXAT": {rueidisLock(false), [2]string{"github.com/redis/rueidis", "github.com/redis/rueidis"}},
}

// caseLimit bounds one case.
const caseLimit = time.Minute

func main() {
	if len(os.Args) != 4 || libraries[os.Args[1]].open == nil {
		fmt.Fprintln(os.Stderr, "usage: golang LIBRARY ADDRESS[,ADDRESS...] PREFIX")
		os.Exit(2)
	}
	// What the driver logs about a dead master is no news.
	redis.SetLogger(silence{})
	lib, addrs, prefix := libraries[os.Args[1]], strings.Split(os.Args[2], ","), os.Args[3]
	newLocker, err := lib.open(addrs)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("version %s on %s\n", versionOf(lib.modules[0]), strings.Join(lib.nameOfDriver(), " "))
	r := runner{newLocker: newLocker, prefix: prefix}
	for _, addr := range addrs {
		r.probes = append(r.probes, redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1}))
	}
	if !r.runAll() {
		os.Exit(1)
	}
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func (e entry) nameOfDriver() []string {
	path := strings.TrimSuffix(e.modules[1], "/v9")
	return []string{path[strings.LastIndex(path, "/")+1:], versionOf(e.modules[1])}
}

// versionOf is the version of a module as it was built in.
func versionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == module {
				return strings.TrimPrefix(dep.Version, "v")
			}
		}
	}
	return "unknown"
}

// runAll runs all cases and says whether none failed.
func (r *runner) runAll() bool {
	passed := true
	for _, c := range []struct {
		name string
		run  func(*runner, context.Context, string) error
	}{
		{"acquire", (*runner).acquire},
		{"contended", (*runner).contended},
		{"extend", (*runner).extend},
		{"release", (*runner).release},
		{"foreign", (*runner).foreign},
		{"expiry", (*runner).expiry},
		{"wait", (*runner).wait},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), caseLimit)
		if err := c.run(r, ctx, r.prefix+":"+c.name); err != nil {
			fmt.Printf("%s FAIL %v\n", c.name, err)
			passed = false
		} else {
			fmt.Printf("%s ok\n", c.name)
		}
		cancel()
	}
	return passed
}
