package compat_test

import (
	"os/exec"
	"testing"
)

const (
	byRawCommand = "`$redis->rawCommand('LOCK.TOKEN', $key)`"
	byExecuteRaw = "`$redis->executeRaw(['LOCK.TOKEN', $key])`"

	// A seat's sorted set is no grant of a majority, nor is one value a seat.
	notOnSeats = "; none on the seats"

	combinedStore = "shared; with a `CombinedStore` of several the seats"
	malkuschPort  = "shared with a list of one; the seats with three"

	laravelPrefix = "the key is `laravel_database_laravel_cache:name` with the prefixes of a fresh application; whole seconds"
	symfonyTime   = "its script ends the lease by TIME, which is wall time"
	malkuschLease = "the key is `lock_name`; it waits whole seconds, at least one, and the lease is a second longer"
)

var laravelNone = map[string]string{"extend": "Laravel 8 has none"}

var php = &toolchain{
	name:    "php",
	prepare: preparePHP,
	libraries: []library{
		{Name: "php-redis", Language: "PHP", Port: "shared", Token: byRawCommand,
			Quirks: "it never falls back from EVALSHA: look at `getLastError()` for NOSCRIPT and send EVAL"},
		{Name: "predis", Language: "PHP", Port: "shared", Token: byExecuteRaw,
			Quirks: "a `ScriptCommand` falls back from EVALSHA by itself"},
		{Name: "Symfony Lock/php-redis", Language: "PHP", Masters: true, Port: combinedStore, Token: byRawCommand + notOnSeats, Quirks: symfonyTime},
		{Name: "Symfony Lock/predis", Language: "PHP", Masters: true, Port: combinedStore, Token: byExecuteRaw + notOnSeats, Quirks: symfonyTime},
		{Name: "Laravel Cache::lock/php-redis", Language: "PHP", None: laravelNone, Port: "shared", Token: byExecuteRaw, Quirks: laravelPrefix},
		{Name: "Laravel Cache::lock/predis", Language: "PHP", None: laravelNone, Port: "shared", Token: byExecuteRaw, Quirks: laravelPrefix},
		{Name: "malkusch/lock 2/php-redis", Language: "PHP", Masters: true, AllMasters: true, None: noExtend, Port: malkuschPort, Token: byRawCommand,
			Quirks: malkuschLease + "; while a master is dead its release throws, on Redis too"},
		{Name: "malkusch/lock 2/predis", Language: "PHP", Masters: true, None: noExtend, Port: malkuschPort, Token: byExecuteRaw, Quirks: malkuschLease},
		{Name: "php-lock/lock 3", Language: "PHP", Spoken: true, Masters: true, None: noExtend, Port: malkuschPort, Token: byRawCommand + notOnSeats,
			Quirks: "a `DistributedMutex` has the key `distributed` whatever it locks, and a value of its own on each master; with one server the key is `php-malkusch-lock:name`"},
		{Name: "redlock-php", Language: "PHP", Spoken: true, Masters: true, AllMasters: true, None: noExtend, Port: seatsForSeveral, Token: byRawCommand,
			Quirks: "its quorum isn't rounded: it takes all of three, or four of five; its values are the clock's microseconds, with nothing random"},
		{Name: "cheprasov/php-redis-lock", Language: "PHP", Spoken: true, Port: "shared", Token: byRawCommand,
			Quirks: "its values are process, time and a number below 10,000"},
		{Name: "rtckit/reactphp-redlock", Language: "PHP", Spoken: true, None: noExtend, Port: "shared", Token: byCommand},
	},
	snippets: []snippet{
		{Title: "Symfony Lock on php-redis", File: "snippet/symfony.php", run: phpRun},
		{Title: "Laravel's cache lock", File: "snippet/laravel.php", run: phpRun},
	},
}

func preparePHP(*testing.T) (runner, error) {
	if err := installListed("php"); err != nil {
		return nil, err
	}
	return func(args ...string) *exec.Cmd { return phpCommand(append([]string{"main.php"}, args...)...) }, nil
}

func phpRun(_ runner, file string) *exec.Cmd { return phpCommand(file) }

// phpCommand runs a program with the folder's vendor/autoload.php, as in a folder of
// Composer's. Laravel 8 is older than this PHP, which says so at every start.
func phpCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("php", append([]string{"-d", "display_errors=stderr", "-d", "error_reporting=E_ALL & ~E_DEPRECATED"}, args...)...)
	cmd.Dir = "php"
	return cmd
}
