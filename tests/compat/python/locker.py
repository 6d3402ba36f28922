"""What the cases need of a library, and how one of asyncio gives it."""

import asyncio
import threading


class Locker:
    """One holder-to-be of one name. Each library has its own."""

    key = ""  # of the lock, as the server has it

    def try_lock(self):
        """Asks once, without waiting, and says whether it holds the lock."""
        raise NotImplementedError

    def lock(self):
        """Waits for the lock in the library's own way."""
        raise NotImplementedError

    def extend(self):
        """Says whether the lease is whole again."""
        raise NotImplementedError

    def unlock(self):
        """Says whether it was released, or None where the library doesn't tell."""
        raise NotImplementedError


def accepted(refusals, act, *args, **kwargs):
    """Whether the library did it. An error that isn't a plain no goes on."""
    try:
        act(*args, **kwargs)
        return True
    except refusals:
        return False


class Background:
    """An event loop in a thread of its own. Called with a coroutine, from any other
    thread, it runs it and answers with its result; many run at once.
    """

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def __call__(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
