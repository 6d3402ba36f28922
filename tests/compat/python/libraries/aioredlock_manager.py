"""aioredlock."""

from aioredlock import Aioredlock, LockError
from locker import Background, Locker, accepted
from probe import until

TURN_LIMIT = 60.0  # seconds; for one task's turn among many
SOON = {"retry_delay_min": 0.01, "retry_delay_max": 0.06}


class Managed(Locker):
    def __init__(self, run, once, patient, name, lease):
        self._run = run
        self._once = once
        self._patient = patient
        self._lease = lease
        self._held = None
        self.key = name

    def _ask(self, manager):
        async def ask():
            self._held = await manager.lock(self.key, lock_timeout=self._lease)

        return accepted(LockError, lambda: self._run(ask()))

    def try_lock(self):
        return self._ask(self._once)

    def lock(self):
        # Between the tries of one call it keeps its votes, so a call makes few.
        if not until(lambda: self._ask(self._patient), TURN_LIMIT):
            raise TimeoutError(self.key)

    def extend(self):
        return accepted(LockError, lambda: self._run(self._held.extend()))

    def unlock(self):
        return accepted(LockError, lambda: self._run(self._held.release()))


def aioredlock(addresses):
    run = Background()
    masters = [f"redis://{address}" for address in addresses]

    async def manager(retries):
        return Aioredlock(masters, retry_count=retries, **SOON)

    once, patient = run(manager(1)), run(manager(3))
    return lambda name, lease: Managed(run, once, patient, name, lease)
