"""The Lock of redis-py, and of its asyncio half."""

import redis
import redis.asyncio
from locker import Background, Locker, accepted
from redis.exceptions import LockError

POLL = 0.02  # seconds; it asks each 0.1 by itself


class RedisLock(Locker):
    """A lock of redis-py, whoever made it."""

    def __init__(self, lock):
        self._lock = lock
        self.key = lock.name

    def try_lock(self):
        return self._lock.acquire(blocking=False)

    def lock(self):
        self._lock.acquire()

    def extend(self):
        return accepted(LockError, self._lock.extend, self._lock.timeout, replace_ttl=True)

    def unlock(self):
        return accepted(LockError, self._lock.release)


class AsyncRedisLock(Locker):
    def __init__(self, run, lock):
        self._run = run
        self._lock = lock
        self.key = lock.name

    def try_lock(self):
        return self._run(self._lock.acquire(blocking=False))

    def lock(self):
        self._run(self._lock.acquire())

    def extend(self):
        return accepted(LockError, lambda: self._run(self._lock.extend(self._lock.timeout, replace_ttl=True)))

    def unlock(self):
        return accepted(LockError, lambda: self._run(self._lock.release()))


def lock(addresses):
    client = redis.Redis.from_url(f"redis://{addresses[0]}")
    return lambda name, lease: RedisLock(client.lock(name, timeout=lease, sleep=POLL))


def async_lock(addresses):
    run = Background()
    client = redis.asyncio.Redis.from_url(f"redis://{addresses[0]}")
    # Its token belongs to the thread that makes it, which is not the one that takes it.
    return lambda name, lease: AsyncRedisLock(run, client.lock(name, timeout=lease, sleep=POLL, thread_local=False))
