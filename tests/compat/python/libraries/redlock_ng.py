"""redlock-ng, and its asyncio half."""

from locker import Background, Locker
from redlock import AsyncRedlock, Redlock, RedlockConfig

# It gives a server 0.1 s by itself, which a busy machine may need.
TIMEOUT = 2.0
ONCE = {"retry_count": 0}
SOON = {"retry_delay_min": 0.01, "retry_delay_max": 0.06}


class RedlockNg(Locker):
    def __init__(self, manager, name, lease):
        self._manager = manager
        self._lease_ms = int(lease * 1000)
        self._held = None
        self.key = name

    def _ask(self, blocking):
        self._held = self._manager.acquire(self.key, self._lease_ms, blocking=blocking)
        return self._held is not None

    def try_lock(self):
        return self._ask(blocking=False)

    def lock(self):
        self._ask(blocking=True)

    def extend(self):
        return self._manager.extend(self._held, self._lease_ms)

    def unlock(self):
        return self._manager.release(self._held)


class AsyncRedlockNg(Locker):
    def __init__(self, run, manager, name, lease):
        self._run = run
        self._manager = manager
        self._lease_ms = int(lease * 1000)
        self._held = None
        self.key = name

    def _ask(self, blocking):
        self._held = self._run(self._manager.acquire(self.key, self._lease_ms, blocking=blocking))
        return self._held is not None

    def try_lock(self):
        return self._ask(blocking=False)

    def lock(self):
        self._ask(blocking=True)

    def unlock(self):
        return self._run(self._manager.release(self._held))


def _config(addresses):
    return RedlockConfig(
        masters=[f"redis://{address}" for address in addresses],
        socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)


def redlock(addresses):
    manager = Redlock(_config(addresses), **ONCE, **SOON)
    return lambda name, lease: RedlockNg(manager, name, lease)


def async_redlock(addresses):
    run = Background()
    manager = AsyncRedlock(_config(addresses), **ONCE, **SOON)
    return lambda name, lease: AsyncRedlockNg(run, manager, name, lease)
