"""redlock-py."""

from locker import Locker
from redlock import Redlock

RETRY_DELAY = 0.03  # seconds


class RedlockPy(Locker):
    def __init__(self, once, patient, name, lease):
        self._once = once
        self._patient = patient
        self._lease_ms = int(lease * 1000)
        self._held = None
        self.key = name

    def try_lock(self):
        self._held = self._once.lock(self.key, self._lease_ms)
        return bool(self._held)

    def lock(self):
        self._held = self._patient.lock(self.key, self._lease_ms)

    def unlock(self):
        return self._once.unlock(self._held)


def redlock(addresses):
    servers = [f"redis://{address}" for address in addresses]
    once = Redlock(servers, retry_count=1, retry_delay=RETRY_DELAY)
    patient = Redlock(servers, retry_count=1_000, retry_delay=RETRY_DELAY)
    return lambda name, lease: RedlockPy(once, patient, name, lease)
