"""Celery RedBeat: the lock that lets one scheduler of many run, taken, renewed and
released by the scheduler itself.
"""

from types import SimpleNamespace

from celery import Celery
from locker import Locker, accepted
from redbeat import RedBeatScheduler
from redbeat.schedulers import acquire_distributed_beat_lock
from redis.exceptions import LockError

POLL = 0.02  # seconds; also how long the scheduler sleeps at most


class Scheduler(Locker):
    def __init__(self, app, name, lease):
        self._scheduler = RedBeatScheduler(app, lock_key=name, lock_timeout=lease, max_interval=POLL)
        self.key = name

    def try_lock(self):
        # It can only wait.
        self.lock()
        return True

    def lock(self):
        # What Celery's beat sends when it starts.
        acquire_distributed_beat_lock(sender=SimpleNamespace(scheduler=self._scheduler))

    def extend(self):
        return accepted(LockError, self._scheduler.tick)

    def unlock(self):
        return self._scheduler.close()


def redbeat(addresses):
    def locker(name, lease):
        # A scheduler is a program of its own, with its own keys.
        app = Celery(set_as_current=False)
        app.conf.update(redbeat_redis_url=f"redis://{addresses[0]}", redbeat_key_prefix=f"{name}:redbeat:")
        return Scheduler(app, name, lease)

    return locker
