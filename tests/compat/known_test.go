package compat_test

import (
	"regexp"
	"testing"
)

// known are the lock libraries in use, as far as we know them, by the beginning of
// their rows' names.
var known = []string{
	"redsync", "bsm/redislock", "rueidislock",
	"Redisson", "Spring RedisLockRegistry", "ShedLock",
	"rslock",
	"redlock-py", "redlock (glasslion)", "redlock-ng", "aioredlock", "pottery",
	"redis-py 8 Lock", "django-redis", "Celery RedBeat", "python-redis-lock",
	"redlock-php", "malkusch/lock 2", "php-lock/lock 3", "cheprasov/php-redis-lock", "rtckit/reactphp-redlock",
	"Symfony Lock", "Laravel Cache::lock",
	"redlock-rb", "redis_queued_locks", "sidekiq-unique-jobs",
	"Redis::DistLock",
	"redlock-cpp", "redis-plus-plus",
	"redlock-cs", "RedLock.net", "ScarletLock", "Redlock4Net", "DistributedLock.Redis",
	"redlock 4", "redlock 5", "@sesamecare-oss/redlock", "redis-semaphore", "redlock-universal", "simple-redis-mutex",
	"Deno DLM",
}

// TestKnownLibrariesHaveRows: docs/clients.md says of every library in use that it works.
func TestKnownLibrariesHaveRows(t *testing.T) {
	if len(known) != 41 {
		t.Errorf("%d libraries are listed, and 41 are known", len(known))
	}
	page := clientsPage(t, readResults(t))
	for _, name := range known {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(name) + `([/ ,(][^|]*)? \| yes \|`)
		if !row.MatchString(page) {
			t.Errorf("docs/clients.md has no row that says that %s works", name)
		}
	}
}
