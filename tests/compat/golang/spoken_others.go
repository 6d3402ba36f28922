package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Deno DLM: scripts over any number of keys, that answer how many they reached.
const (
	takeAll = `for _, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then return 0 end
end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return #KEYS`
	extendAll = `for _, key in ipairs(KEYS) do
  if redis.call('GET', key) ~= ARGV[1] then return 0 end
end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return #KEYS`
	releaseAll = `local n = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    redis.pcall('DEL', key)
    n = n + 1
  end
end
return n`
)

func denoLock() *dialect {
	keys := func(name string) []string { return []string{name, name + ":second"} }
	count := func(text, name string, args ...any) func(redis.Conn) (bool, error) {
		return func(c redis.Conn) (bool, error) { return is(2)(script(c, text, keys(name), args...)) }
	}
	return &dialect{
		value: guidText, keys: keys,
		acquire: func(c redis.Conn, name, value string, lease time.Duration) (bool, error) {
			return count(takeAll, name, value, lease.Milliseconds())(c)
		},
		extend: func(c redis.Conn, name, value string, lease time.Duration) (bool, error) {
			return count(extendAll, name, value, lease.Milliseconds())(c)
		},
		release: func(c redis.Conn, name, value string) (bool, error) {
			return count(releaseAll, name, value)(c)
		},
	}
}

// redis-plus-plus locks by SET NX and, in one of its two ways, does the rest in transactions.
func plusPlusVessel() *dialect {
	return &dialect{value: guidText, acquire: setMillis, extend: extendByScript, release: releaseByScript, releaseNeeds: one}
}

func plusPlusTx() *dialect {
	return &dialect{
		value: guidText, acquire: setMillis, releaseNeeds: one,
		extend: func(c redis.Conn, key, value string, lease time.Duration) (bool, error) {
			return ifEqual(c, key, value, "PEXPIRE", key, lease.Milliseconds())
		},
		release: func(c redis.Conn, key, value string) (bool, error) {
			return ifEqual(c, key, value, "DEL", key)
		},
	}
}

func setMillis(c redis.Conn, key, value string, lease time.Duration) (bool, error) {
	return answeredOK(c.Do("SET", key, value, "PX", lease.Milliseconds(), "NX"))
}

// ifEqual runs one command in a transaction that only stands while key has the value.
func ifEqual(c redis.Conn, key, value, command string, args ...any) (bool, error) {
	if _, err := c.Do("WATCH", key); err != nil {
		return false, err
	}
	held, err := redis.String(c.Do("GET", key))
	if held != value {
		_, unwatch := c.Do("UNWATCH")
		if err == nil || errors.Is(err, redis.ErrNil) {
			err = unwatch
		}
		return false, err
	}
	if _, err := c.Do("MULTI"); err != nil {
		return false, err
	}
	if _, err := c.Do(command, args...); err != nil {
		return false, err
	}
	replies, err := redis.Int64s(c.Do("EXEC"))
	if errors.Is(err, redis.ErrNil) {
		return false, nil
	}
	return err == nil && replies[0] == 1, err
}

// redis_queued_locks: those who ask stand in a sorted set by the time at which
// they came; the first of it may write the lock's hash, in a transaction.
func queuedLock() *dialect {
	lockKey := func(name string) string { return "rql:lock:" + name }
	queueKey := func(name string) string { return "rql:lock_queue:" + name }
	return &dialect{
		value: guidText,
		keys:  func(name string) []string { return []string{lockKey(name)} },
		acquire: func(c redis.Conn, name, value string, lease time.Duration) (bool, error) {
			return queueUp(c, lockKey(name), queueKey(name), value, lease)
		},
		extend: func(c redis.Conn, name, value string, lease time.Duration) (bool, error) {
			held, err := redis.String(c.Do("HGET", lockKey(name), "acq_id"))
			if held != value {
				return false, notNil(err)
			}
			return is(1)(c.Do("PEXPIRE", lockKey(name), lease.Milliseconds()))
		},
		release: func(c redis.Conn, name, value string) (bool, error) {
			held, err := redis.String(c.Do("HGET", lockKey(name), "acq_id"))
			if held != value {
				_, err2 := c.Do("ZREM", queueKey(name), value)
				return false, errors.Join(notNil(err), err2)
			}
			_ = c.Send("MULTI")
			_ = c.Send("ZREM", queueKey(name), value)
			_ = c.Send("DEL", lockKey(name))
			replies, err := redis.Int64s(c.Do("EXEC"))
			return err == nil && replies[1] == 1, err
		},
	}
}

func notNil(err error) error {
	if errors.Is(err, redis.ErrNil) {
		return nil
	}
	return err
}

func queueUp(c redis.Conn, lock, queue, value string, lease time.Duration) (bool, error) {
	if _, err := c.Do("WATCH", lock, queue); err != nil {
		return false, err
	}
	held, err := redis.StringMap(c.Do("HGETALL", lock))
	if err != nil {
		return false, err
	}
	if len(held) > 0 {
		_, err := c.Do("UNWATCH")
		return false, err
	}
	now := strconv.FormatFloat(float64(time.Now().UnixMicro())/1e6, 'f', 6, 64)
	_ = c.Send("MULTI")
	_ = c.Send("ZADD", queue, "NX", now, value)
	_ = c.Send("ZREMRANGEBYSCORE", queue, "-inf", "("+strconv.FormatInt(time.Now().Unix()-15, 10))
	_ = c.Send("ZRANGE", queue, "0", "0")
	_ = c.Send("HSET", lock, "acq_id", value, "ts", now, "ini_ttl", lease.Milliseconds())
	_ = c.Send("PEXPIRE", lock, lease.Milliseconds())
	_ = c.Send("ZREM", queue, value)
	_, err = redis.Values(c.Do("EXEC"))
	if errors.Is(err, redis.ErrNil) {
		return false, nil
	}
	return err == nil, err
}

// sidekiq-unique-jobs: one script moves a job's id from the queue of the digest to
// the hash of those that hold it, and logs as it goes.
const (
	uniqueTake = `local queued, primed, locked, digests = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local job, config = ARGV[1], cjson.decode(ARGV[2])
redis.log(redis.LOG_DEBUG, string.format('lock.lua %s %s', locked, job))
if redis.call('HEXISTS', locked, job) == 1 then return job end
if redis.call('HLEN', locked) >= config.limit then return nil end
redis.call('LREM', queued, -1, job)
redis.call('LPUSH', queued, job)
local moved = redis.call('LMOVE', queued, primed, 'RIGHT', 'LEFT')
redis.call('LREM', primed, 1, moved)
redis.call('HSET', locked, moved, config.at)
redis.call('ZADD', digests, config.at, locked)
for _, key in ipairs({queued, primed, locked}) do
  if redis.call('EXISTS', key) == 1 then redis.call('PEXPIRE', key, config.ttl) end
end
if string.find(moved, job, 1, true) ~= 1 then return nil end
return moved`
	uniqueGive = `local locked, digests = KEYS[1], KEYS[2]
if redis.call('HDEL', locked, ARGV[1]) == 0 then return 0 end
if redis.call('HLEN', locked) == 0 then
  redis.call('UNLINK', locked)
  redis.call('ZREM', digests, locked)
end
return 1`
)

func sidekiqUnique() *dialect {
	locked := func(name string) string { return "uniquejobs:" + name + ":LOCKED" }
	return &dialect{
		value: guidText,
		keys:  func(name string) []string { return []string{locked(name)} },
		acquire: func(c redis.Conn, name, value string, lease time.Duration) (bool, error) {
			config := `{"limit":1,"ttl":` + strconv.FormatInt(lease.Milliseconds(), 10) + `,"at":` + strconv.FormatInt(time.Now().Unix(), 10) + `}`
			got, err := redis.String(script(c, uniqueTake,
				[]string{"uniquejobs:" + name + ":QUEUED", "uniquejobs:" + name + ":PRIMED", locked(name), "uniquejobs:digests"}, value, config))
			return got == value, notNil(err)
		},
		release: func(c redis.Conn, name, value string) (bool, error) {
			return is(1)(script(c, uniqueGive, []string{locked(name), "uniquejobs:digests"}, value))
		},
	}
}
