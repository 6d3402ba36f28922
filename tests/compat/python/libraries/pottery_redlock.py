"""Pottery's Redlock and AIORedlock."""

import redis
import redis.asyncio
import redis.asyncio.retry
from locker import Background, Locker, accepted
from pottery import AIORedlock, ExtendUnlockedLock, Redlock, ReleaseUnlockedLock
from redis.backoff import NoBackoff
from redis.retry import Retry


class PotteryLock(Locker):
    def __init__(self, lock):
        self._lock = lock
        self.key = lock.key

    def try_lock(self):
        return self._lock.acquire(blocking=False)

    def lock(self):
        self._lock.acquire()

    def extend(self):
        return accepted(ExtendUnlockedLock, self._lock.extend)

    def unlock(self):
        return accepted(ReleaseUnlockedLock, self._lock.release)


class AsyncPotteryLock(Locker):
    def __init__(self, run, lock):
        self._run = run
        self._lock = lock
        self.key = lock.key

    def try_lock(self):
        return self._run(self._lock.acquire(blocking=False))

    def lock(self):
        self._run(self._lock.acquire())

    def extend(self):
        return accepted(ExtendUnlockedLock, lambda: self._run(self._lock.extend()))

    def unlock(self):
        return accepted(ReleaseUnlockedLock, lambda: self._run(self._lock.release()))


# By itself redis-py asks a dead master again and again, for seconds.
def redlock(addresses):
    masters = {redis.Redis.from_url(f"redis://{address}", retry=Retry(NoBackoff(), 0)) for address in addresses}
    return lambda name, lease: PotteryLock(
        Redlock(key=name, masters=masters, auto_release_time=lease, raise_on_redis_errors=True))


def async_redlock(addresses):
    run = Background()
    masters = {
        redis.asyncio.Redis.from_url(f"redis://{address}", retry=redis.asyncio.retry.Retry(NoBackoff(), 0))
        for address in addresses
    }
    return lambda name, lease: AsyncPotteryLock(
        run, AIORedlock(key=name, masters=masters, auto_release_time=lease, raise_on_redis_errors=True))
