package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// greetAsMultiplexer says what StackExchange.Redis says on a connection, in one
// pipeline, and looks at the answers that decide how it goes on.
func greetAsMultiplexer(c redis.Conn) error {
	tracer := guidBytes()
	for _, cmd := range [][]any{
		{"CLIENT", "SETNAME", "spoken"},
		{"CLIENT", "SETINFO", "lib-name", "SE.Redis"},
		{"CLIENT", "SETINFO", "lib-ver", "3.4.35"},
		{"CLIENT", "ID"},
		{"CONFIG", "GET", "timeout"},
		{"CONFIG", "GET", "replica-read-only"},
		{"CONFIG", "GET", "databases"},
		{"SENTINEL", "MASTERS"},
		{"INFO", "replication"},
		{"INFO", "server"},
		{"CLUSTER", "NODES"},
		{"GET", "__Booksleeve_TieBreak"},
		{"ECHO", tracer},
	} {
		if err := c.Send(cmd[0].(string), cmd[1:]...); err != nil {
			return err
		}
	}
	if err := c.Flush(); err != nil {
		return err
	}
	replies := make([]any, 13)
	var errs [13]error
	for i := range replies {
		if replies[i], errs[i] = c.Receive(); errs[i] != nil && c.Err() != nil {
			return errs[i]
		}
	}
	if info, _ := redis.String(replies[8], errs[8]); !strings.Contains(info, "role:master") {
		return fmt.Errorf("the server isn't a master: %q", info)
	}
	if errs[10] == nil {
		return fmt.Errorf("CLUSTER NODES answered %v: the driver would go by slots", replies[10])
	}
	if echo, err := redis.String(replies[12], errs[12]); err != nil || echo != tracer {
		return fmt.Errorf("ECHO answered %q (%v)", echo, err)
	}
	return nil
}

// guidBytes is a value of 16 bytes that are no text.
func guidBytes() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return string(b)
}

func guidText() string { return hex.EncodeToString([]byte(guidBytes())) }

// dotnetLock is what redlock-cs, ScarletLock and Redlock4Net have in common.
func dotnetLock(value func() string) *dialect {
	return &dialect{
		greet: greetAsMultiplexer, value: value, acquire: setIfAbsent, release: releaseByScript, releaseNeeds: one,
	}
}

// extendOrTake gives the lease again, takes a lock that is gone, and answers -1 for another's.
const extendOrTake = `local held = redis.call('GET', KEYS[1])
if held == false then
  return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) and 1 or 0
end
if held == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return -1`

func redLockNet() *dialect {
	d := dotnetLock(guidText)
	d.extend = func(c redis.Conn, key, value string, lease time.Duration) (bool, error) {
		return is(1)(script(c, extendOrTake, []string{key}, value, lease.Milliseconds()))
	}
	return d
}

func distributedLock() *dialect {
	d := dotnetLock(guidText)
	d.extend, d.releaseNeeds = extendByScript, nil
	return d
}

// The semaphore is a sorted set of holders by the end of their leases, on the
// server's wall clock, with microseconds behind the point.
const (
	semaphoreNow = `redis.replicate_commands()
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
`
	semaphoreTake = semaphoreNow + `if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`
	semaphoreExtend = semaphoreNow + `local changed = redis.call('ZADD', KEYS[1], 'XX', 'CH', now + tonumber(ARGV[2]), ARGV[1])
if changed == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return changed`
	semaphoreGive = `return redis.call('ZREM', KEYS[1], ARGV[1])`
)

func distributedSemaphore() *dialect {
	d := dotnetLock(guidText)
	d.acquire = func(c redis.Conn, key, value string, lease time.Duration) (bool, error) {
		return is(1)(script(c, semaphoreTake, []string{key}, value, lease.Milliseconds(), 1))
	}
	d.extend = func(c redis.Conn, key, value string, lease time.Duration) (bool, error) {
		return is(1)(script(c, semaphoreExtend, []string{key}, value, lease.Milliseconds()))
	}
	d.release = func(c redis.Conn, key, value string) (bool, error) {
		return is(1)(script(c, semaphoreGive, []string{key}, value))
	}
	d.releaseNeeds = nil
	return d
}
