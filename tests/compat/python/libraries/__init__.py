"""The libraries by the names under which the program is asked for them. Each is
imported only when it is, since three of them call themselves redlock.
"""

from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Library:
    module: str  # in this folder
    opener: str  # in the module: from addresses to what makes a locker of a name and a lease
    packages: tuple  # the library's and its driver's
    none: tuple = ()  # the cases it has nothing for
    shortest: float = 0.5  # lease that it takes, in seconds

    def open(self, addresses):
        return getattr(import_module(f"{__name__}.{self.module}"), self.opener)(addresses)


LOCK = Library("redis_py", "lock", ("redis",))
ASYNC_LOCK = Library("redis_py", "async_lock", ("redis",))

LIBRARIES = {
    "redis-py 4 Lock": LOCK,
    "redis-py 4 Lock/asyncio": ASYNC_LOCK,
    "redis-py 6 Lock": LOCK,
    "redis-py 6 Lock/asyncio": ASYNC_LOCK,
    "redis-py 8 Lock": LOCK,
    "redis-py 8 Lock/asyncio": ASYNC_LOCK,
    "redlock-py": Library("redlock_py", "redlock", ("redlock-py", "redis"), none=("extend",)),
    "redlock (glasslion)": Library("redlock_glasslion", "redlock", ("redlock", "redis"), none=("extend",)),
    "redlock-ng": Library("redlock_ng", "redlock", ("redlock-ng", "redis")),
    "redlock-ng/asyncio": Library("redlock_ng", "async_redlock", ("redlock-ng", "redis"), none=("extend",)),
    "aioredlock": Library("aioredlock_manager", "aioredlock", ("aioredlock", "aioredis")),
    "pottery Redlock": Library("pottery_redlock", "redlock", ("pottery", "redis")),
    "pottery AIORedlock": Library("pottery_redlock", "async_redlock", ("pottery", "redis")),
    "python-redis-lock": Library("python_redis_lock", "lock", ("python-redis-lock", "redis"), shortest=1),
    "django-redis cache.lock": Library("django_cache", "lock", ("django-redis", "redis")),
    "django-redis cache.add": Library(
        "django_cache", "add", ("django-redis", "redis"), none=("extend", "foreign", "wait")),
    "Celery RedBeat": Library("redbeat_lock", "redbeat", ("celery-redbeat", "redis"), none=("contended",), shortest=1),
}
