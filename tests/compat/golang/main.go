// Command golang drives the Go lock libraries, as their users would, against
// servers that are named on the command line. ../README.md says what it prints
// and what each case asks.
//
// It is a module of its own, so that the libraries stay out of the product's.
package main

import (
	"context"
	"errors"
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

// errNone is a case's result if the library has nothing for it.
var errNone = errors.New("none")

// extender is a locker of a library that may have no way to extend.
type extender interface{ canExtend() bool }

func canExtend(l locker) bool {
	e, ok := l.(extender)
	return !ok || e.canExtend()
}

// keyed is a locker whose keys aren't called as its lock.
type keyed interface{ keys() []string }

// absolute is a locker whose library tells the end of a lease by its own wall
// clock. The servers' clock lags by the time that they lost, on a busy machine,
// and never leads: such a lease may be longer by that.
type absolute interface{ lag() time.Duration }

// longest is the most that a lease may be.
func longest(l locker, lease time.Duration) time.Duration {
	if a, ok := l.(absolute); ok {
		lease += a.lag()
	}
	return lease
}

// entry is a library by the name under which the program is asked for it, and
// the modules whose versions it runs.
type entry struct {
	open    library
	modules [2]string
	as      string // of a library that is spoken: its version
}

func spoken(d *dialect, as string) entry { return entry{open: d.open, as: as} }

var libraries = map[string]entry{
	"redsync/go-redis":                 {open: redsyncOnGoRedis, modules: [2]string{"github.com/go-redsync/redsync/v4", "github.com/redis/go-redis/v9"}},
	"redsync/redigo":                   {open: redsyncOnRedigo, modules: [2]string{"github.com/go-redsync/redsync/v4", "github.com/gomodule/redigo"}},
	"redsync/rueidis":                  {open: redsyncOnRueidis, modules: [2]string{"github.com/go-redsync/redsync/v4", "github.com/redis/rueidis"}},
	"bsm/redislock":                    {open: bsmRedislock, modules: [2]string{"github.com/bsm/redislock", "github.com/redis/go-redis/v9"}},
	"rueidislock":                      {open: rueidisLock(true), modules: [2]string{"github.com/redis/rueidis", "github.com/redis/rueidis"}},
	"redlock-cs":                       spoken(dotnetLock(guidBytes), "9765a542f8"),
	"RedLock.net":                      spoken(redLockNet(), "2.3.2"),
	"ScarletLock":                      spoken(dotnetLock(guidText), "copies"),
	"Redlock4Net":                      spoken(dotnetLock(guidBytes), "8adaa9fea5"),
	"DistributedLock.Redis":            spoken(distributedLock(), "1.1.1"),
	"DistributedLock.Redis, semaphore": spoken(distributedSemaphore(), "1.1.1"),
	"Deno DLM":                         spoken(denoLock(), "its scripts"),
	"redis-plus-plus":                  spoken(plusPlusVessel(), "2c47000b9d"),
	"redis-plus-plus, transactions":    spoken(plusPlusTx(), "2c47000b9d"),
	"redis_queued_locks":               spoken(queuedLock(), "4b35e2cebd"),
	"sidekiq-unique-jobs":              spoken(sidekiqUnique(), "76aa8c947b"),

	"rueidislock/PXAT": {open: rueidisLock(false), modules: [2]string{"github.com/redis/rueidis", "github.com/redis/rueidis"}},
}

// caseLimit bounds one case.
const caseLimit = time.Minute

func main() {
	if len(os.Args) == 4 && os.Args[1] == "late-release" {
		runLateRelease(strings.Split(os.Args[2], ","), os.Args[3])
		return
	}
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
	fmt.Println("version", lib.version())
	r := runner{newLocker: newLocker, prefix: prefix}
	for _, addr := range addrs {
		r.probes = append(r.probes, redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1}))
	}
	if !r.runAll() {
		os.Exit(1)
	}
}

// runLateRelease is no case of a library but a race of one with itself.
func runLateRelease(addrs []string, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), caseLimit)
	defer cancel()
	if err := lateRelease(ctx, addrs, name); err != nil {
		fmt.Println("late-release FAIL", err)
		os.Exit(1)
	}
	fmt.Println("late-release ok")
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// version is the library's and its driver's.
func (e entry) version() string {
	if e.as != "" {
		return "calls as of " + e.as
	}
	driver := strings.TrimSuffix(e.modules[1], "/v9")
	return versionOf(e.modules[0]) + " on " + driver[strings.LastIndex(driver, "/")+1:] + " " + versionOf(e.modules[1])
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
		switch err := c.run(r, ctx, r.prefix+":"+c.name); {
		case err == errNone:
			fmt.Printf("%s none\n", c.name)
		case err != nil:
			fmt.Printf("%s FAIL %v\n", c.name, err)
			passed = false
		default:
			fmt.Printf("%s ok\n", c.name)
		}
		cancel()
	}
	return passed
}
