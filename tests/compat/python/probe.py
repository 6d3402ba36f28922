"""What the server itself says about a key, asked beside the library."""

import time

import redis

PATIENCE = 5.0  # seconds; bounds every wait for something that must come true


def until(ask, bound=PATIENCE):
    """Asks again and again until the answer is yes, and says whether it was."""
    end = time.monotonic() + bound
    while True:
        if ask():
            return True
        if time.monotonic() >= end:
            return False


class Probe:
    """A plain client of each address that answers: one of several masters may be dead."""

    def __init__(self, addresses):
        self._majority = len(addresses) // 2 + 1
        clients = [redis.Redis.from_url(f"redis://{address}") for address in addresses]
        self._clients = [client for client in clients if len(addresses) == 1 or _answers(client)]

    def everywhere(self, *command):
        return [client.execute_command(*command) for client in self._clients]

    def left(self, key):
        """The rest of a key's lease at each address, in ms."""
        return self.everywhere("PTTL", key)

    def holds(self, key, at_least=1):
        """Whether a majority comes to have the key with at least that much left, in ms.
        A library may go on before its last vote has arrived.
        """
        return until(lambda: sum(left >= at_least for left in self.left(key)) >= self._majority)


def _answers(client):
    try:
        return client.ping()
    except redis.ConnectionError:
        return False
