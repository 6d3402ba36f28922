"""django-redis: the lock of its cache, and what a cache.add makes."""

from django.conf import settings
from django.core.cache import cache
from libraries.redis_py import POLL, RedisLock
from locker import Locker


class Added(Locker):
    """The lock that a cache makes of any name: whoever adds it first has it."""

    def __init__(self, name, lease):
        self._name = name
        self._lease = lease
        self.key = str(cache.make_key(name))

    def try_lock(self):
        return cache.add(self._name, "1", timeout=self._lease)

    def unlock(self):
        return bool(cache.delete(self._name))


def _configure(addresses):
    location = f"redis://{addresses[0]}"
    settings.configure(CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": location}})


def lock(addresses):
    _configure(addresses)
    return lambda name, lease: RedisLock(cache.lock(name, timeout=lease, sleep=POLL))


def add(addresses):
    _configure(addresses)
    return Added
