"""The seven cases. ../README.md has them as a table; each raises what it finds wrong."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from probe import PATIENCE, until

CASES = ("acquire", "contended", "extend", "release", "foreign", "expiry", "wait")

# Seconds, as most libraries count.
LEASE = 10
CUT_LEASE = 1
# Some libraries leave votes of lost tries to run out.
TURNS_LEASE = 2

TASKS_ON_ONE, TASKS_ON_SEVERAL = 16, 8


class Failed(Exception):
    """A case that didn't go as it must."""


def check(holds, otherwise):
    if not holds:
        raise Failed(otherwise)


class Cases:
    def __init__(self, library, addresses, probe, prefix):
        self._locker = library.open(addresses)
        self._none = library.none
        self._shortest = library.shortest
        self._tasks = TASKS_ON_ONE if len(addresses) == 1 else TASKS_ON_SEVERAL
        self._probe = probe
        self._prefix = prefix

    def _name(self, case):
        return f"{self._prefix}:{case}"

    def _take(self, name):
        """Locks a free name without waiting."""
        locker = self._locker(name, LEASE)
        check(locker.try_lock(), "not taken")
        return locker

    def acquire(self):
        key = self._take(self._name("acquire")).key
        seen = {}

        def told():
            seen["leases"], seen["tokens"] = self._probe.left(key), self._probe.everywhere("LOCK.TOKEN", key)
            return all(0 < ms <= LEASE * 1000 for ms in seen["leases"]) and all(seen["tokens"])

        # A library may go on before its last vote has arrived.
        check(until(told), seen)

    def contended(self):
        name = self._name("contended")
        self._take(name)
        check(not self._locker(name, LEASE).try_lock(), "taken twice")

    def extend(self):
        locker = self._take(self._name("extend"))
        self._probe.everywhere("PEXPIRE", locker.key, CUT_LEASE * 1000)
        check(locker.extend(), "not extended")
        check(self._probe.holds(locker.key, LEASE * 500), f"the lease is {self._probe.left(locker.key)}")

    def release(self):
        name = self._name("release")
        check(self._take(name).unlock() is not False, "not released")
        self._take(name)

    def foreign(self):
        name = self._name("foreign")
        former = self._take(name)
        self._probe.everywhere("DEL", former.key)
        self._take(name)
        check(not former.unlock(), "the former holder was told that it released the lock")
        check(self._probe.holds(former.key), "the former holder released its successor's lock")

    def _briefly(self, name):
        """Takes a lock for a short lease, and tells since when. A try that takes as
        long as the lease is lost, as it must be; then the next counts.
        """
        locker = self._locker(name, self._shortest)
        since = 0

        def taken():
            nonlocal since
            since = time.monotonic()
            return locker.try_lock()

        check(until(taken), "not taken")
        return locker, since

    def expiry(self):
        name = self._name("expiry")
        former, since = self._briefly(name)
        successor = self._locker(name, LEASE)
        check(until(successor.try_lock), f"not free after {PATIENCE} s")
        took = time.monotonic() - since
        check(took >= self._shortest * 0.99, f"taken from its holder after {took} of {self._shortest} s")
        if "extend" in self._none:
            return
        check(not former.extend(), "extended after it had ended")
        check(self._probe.holds(successor.key, LEASE * 500), "the former holder changed its successor's lease")

    def wait(self):
        name = self._name("wait")
        inside = threading.Lock()
        turns, clashes = [], []

        def turn(task):
            locker = self._locker(name, TURNS_LEASE)
            locker.lock()
            alone = inside.acquire(blocking=False)
            self._probe.left(locker.key)
            turns.append(task)
            if alone:
                inside.release()
            else:
                clashes.append(task)
            check(locker.unlock() is not False, "not released")

        with ThreadPoolExecutor(self._tasks) as tasks:
            list(tasks.map(turn, range(self._tasks)))
        check(len(turns) == self._tasks and not clashes, f"{len(turns)} turns, {len(clashes)} times two were in")
