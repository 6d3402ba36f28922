"""The package redlock, of glasslion."""

from locker import Locker
from redlock import RedLockFactory

RETRY_DELAY_MS = 60  # at most


class RedLock(Locker):
    def __init__(self, factory, name, lease):
        self._factory = factory
        self._lease_ms = int(lease * 1000)
        self._held = None
        self.key = name

    def _ask(self, times):
        self._held = self._factory.create_lock(
            self.key, ttl=self._lease_ms, retry_times=times, retry_delay=RETRY_DELAY_MS)
        return self._held.acquire()

    def try_lock(self):
        return self._ask(1)

    def lock(self):
        self._ask(1_000)

    def unlock(self):
        return self._held.release()


def redlock(addresses):
    factory = RedLockFactory([{"url": f"redis://{address}"} for address in addresses])
    return lambda name, lease: RedLock(factory, name, lease)
