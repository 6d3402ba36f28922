package compat_test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const (
	// byScript is how a token is read where the client has no way to send any command.
	byScript       = "a script: `return redis.call('LOCK.TOKEN', KEYS[1])`"
	redissonScript = "`getScript().eval(...)` of `return redis.call('LOCK.TOKEN', KEYS[1])`"
	redissonKey    = "the lock is a hash, its fields are client and thread; give `timeout` more than its 3 s, which a node takes to wait for a leader"
	redissonDrops  = "a waiter that is not asleep yet when a release is told misses it and sleeps for the rest of the lease (on Redis too): keep leases short"
	springKey      = "the key is `registry:name`; the owner is the registry, threads are kept apart within the process"
	shedKey        = "the key is `job-lock:env:name`"
	shedUnsafe     = shedKey + "; without safeUpdate it extends and deletes the lock whoever holds it"
)

var (
	shedNone     = map[string]string{"wait": "it skips a task instead of waiting", "foreign": "it releases by DEL, whoever holds the lock"}
	shedSafeNone = map[string]string{"wait": "it skips a task instead of waiting"}
)

var java = &toolchain{
	name:    "java",
	prepare: prepareJava,
	libraries: []library{
		{Name: "Redisson RLock", Language: "Java", Port: "shared, single-server config", Token: redissonScript, Quirks: redissonKey},
		{Name: "Redisson RLock, watchdog", Language: "Java", Port: "shared, single-server config", Token: redissonScript,
			Quirks: "without a lease of its own it has `lockWatchdogTimeout`, renewed after each third of it for as long as the client lives"},
		{Name: "Redisson RFencedLock", Language: "Java", Port: "shared, single-server config",
			Token: "`getToken()`, Redisson's own counter for the lock; or as RLock", Quirks: redissonKey},
		{Name: "Redisson RFairLock", Language: "Java", Port: "shared, single-server config", Token: redissonScript,
			Quirks: "its queue drops a waiter by the clients' wall clocks, after 5 minutes"},
		{Name: "Redisson RSpinLock", Language: "Java", Port: "shared, single-server config", Token: redissonScript, Quirks: redissonKey},
		{Name: "Redisson RReadWriteLock, write", Language: "Java", Port: "shared, single-server config", Token: redissonScript, Quirks: redissonDrops},
		{Name: "Redisson RReadWriteLock, read", Language: "Java", Port: "shared, single-server config",
			Token: "the hash's, not a reader's: as RLock", Quirks: "readers share one hash and one token; " + redissonDrops},
		{Name: "Redisson RSemaphore", Language: "Java", Port: "shared, single-server config", None: map[string]string{
			"extend":  "a permit has no lease",
			"foreign": "a permit has no owner",
			"expiry":  "a permit has no lease",
		}, Token: "none a permit: the token is the counter's", Quirks: "permits of a client that died are lost, as on Redis"},
		{Name: "Redisson RPermitExpirableSemaphore", Language: "Java", Port: "shared, single-server config", Token: "none a permit: the token is the counter's",
			Quirks: "leases are scores of a sorted set that the clients' wall clocks decide; no key has a TTL"},
		{Name: "Redisson RMultiLock", Language: "Java", Masters: true, AllMasters: true, Port: "shared with several names; the seats with a client for each",
			Token: "one a name, as RLock; none on the seats", Quirks: "needs every one of its locks"},
		{Name: "Redisson RedLock", Language: "Java", Masters: true, Port: "shared with one lock; the seats with a client for each", Token: "as RLock; none on the seats, where each client has a value of its own",
			Quirks: "deprecated by Redisson; unlock doesn't tell; where a master may be down set `lazyInitialization` and few retries"},
		{Name: "Spring RedisLockRegistry, spin", Language: "Java", Port: "shared, standalone", Token: byScript, Quirks: springKey},
		{Name: "Spring RedisLockRegistry, pub/sub", Language: "Java", Port: "shared, standalone", Token: byScript, Quirks: springKey},
		{Name: "Jedis", Language: "Java", Port: "shared", Token: "`executeCommand` of LOCK.TOKEN", Quirks: "a driver: SET NX PX and two scripts by EVALSHA are the user's own"},
		{Name: "Lettuce", Language: "Java", Port: "shared, standalone", Token: "`dispatch` of LOCK.TOKEN", Quirks: "a driver: SET NX PX and two scripts by EVALSHA are the user's own"},
		{Name: "ShedLock/Spring", Language: "Java", None: shedNone, Port: "shared, standalone", Token: byScript, Quirks: shedUnsafe},
		{Name: "ShedLock/Spring, safeUpdate", Language: "Java", None: shedSafeNone, Port: "shared, standalone", Token: byScript, Quirks: shedKey},
		{Name: "ShedLock/Jedis", Language: "Java", Spoken: true, None: shedNone, Port: "shared", Token: byCommand, Quirks: shedUnsafe},
		{Name: "ShedLock/Lettuce", Language: "Java", Spoken: true, None: shedNone, Port: "shared", Token: byCommand, Quirks: shedUnsafe},
		{Name: "ShedLock/Lettuce, safeUpdate", Language: "Java", Spoken: true, None: shedSafeNone, Port: "shared", Token: byCommand, Quirks: shedKey},
	},
	snippets: []snippet{
		{Title: "Redisson", File: "snippet/RedissonReport.java", run: javaSnippet},
		{Title: "Spring Integration's RedisLockRegistry", File: "snippet/SpringReport.java", run: javaSnippet},
	},
}

func prepareJava(*testing.T) (runner, error) {
	program, err := builtJava()
	return func(args ...string) *exec.Cmd { return program("Main", args...) }, err
}

// builtJava copies the libraries by Maven, builds the program against them, and
// returns how to run a class of it: once for all tests.
var builtJava = sync.OnceValues(func() (func(class string, args ...string) *exec.Cmd, error) {
	if err := haveJava(); err != nil {
		return nil, err
	}
	libraries, err := javaLibraries()
	if err != nil {
		return nil, err
	}
	sources, err := filepath.Glob("java/src/compat/*.java")
	if err != nil {
		return nil, err
	}
	classes, err := buildOnce("java/classes", append(sources, "java/pom.xml"), func(dir string) error {
		return runBounded(".", "javac", append([]string{"--release", javaOldest, "-proc:none", "-nowarn", "-d", dir, "-cp", libraries + "/*"}, sources...)...)
	})
	if err != nil {
		return nil, err
	}
	return func(class string, args ...string) *exec.Cmd {
		return javaCommand(append([]string{"-cp", classes + ":" + libraries + "/*", "compat." + class}, args...)...)
	}, nil
})

// javaOldest is the oldest version of Java that today's libraries run on.
const javaOldest = "17"

func haveJava() error {
	for _, tool := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return installDebian("default-jdk-headless", "maven")
		}
	}
	return nil
}

// javaLibraries are the jars that pom.xml names, with what they need.
func javaLibraries() (string, error) {
	pom, err := filepath.Abs("java/pom.xml")
	if err != nil {
		return "", err
	}
	cache, err := compatDir("maven")
	if err != nil {
		return "", err
	}
	return buildOnce("java/lib", []string{"java/pom.xml"}, func(dir string) error {
		return runTwice(dir, "mvn", "-B", "-q", "-Dmaven.repo.local="+cache, "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
	})
}

// javaCommand starts a small machine that doesn't spend long on compiling: a program
// lives for seconds, several side by side.
func javaCommand(args ...string) *exec.Cmd {
	return exec.Command("java", append([]string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}, args...)...)
}

func javaSnippet(_ runner, file string) *exec.Cmd {
	libraries, err := javaLibraries()
	if err != nil {
		// It was there when the snippets began.
		panic(err)
	}
	return javaCommand("-cp", libraries+"/*", file)
}
