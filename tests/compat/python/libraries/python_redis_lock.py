"""python-redis-lock: it waits by BLPOP for the signal that a release pushes."""

import redis
import redis_lock
from locker import Locker, accepted


class SignalledLock(Locker):
    def __init__(self, client, name, lease):
        self._lock = redis_lock.Lock(client, name, expire=lease)
        self.key = f"lock:{name}"

    def try_lock(self):
        return self._lock.acquire(blocking=False)

    def lock(self):
        self._lock.acquire()

    def extend(self):
        return accepted(redis_lock.NotAcquired, self._lock.extend)

    def unlock(self):
        return accepted(redis_lock.NotAcquired, self._lock.release)


def lock(addresses):
    client = redis.Redis.from_url(f"redis://{addresses[0]}")
    return lambda name, lease: SignalledLock(client, name, lease)
