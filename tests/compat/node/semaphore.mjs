// redis-semaphore: its mutexes, and its counting semaphores with room for one.

import { ioredis } from "./drivers.mjs";

const room = 1;
const patience = 50_000; // ms
const retryInterval = 20; // ms

class Locker {
  #make;
  #lease;
  #held;

  constructor(make, key, lease, hasToken) {
    this.#make = make;
    this.#lease = lease;
    this.key = key;
    this.hasToken = hasToken;
  }

  // It would renew by itself, and so never run out.
  #options(more) {
    return { lockTimeout: this.#lease, refreshInterval: 0, acquireTimeout: patience, retryInterval, ...more };
  }

  tryLock() {
    this.#held = this.#make(this.#options({ acquireAttemptsLimit: 1 }));
    return this.#held.tryAcquire();
  }

  lock() {
    this.#held = this.#make(this.#options({}));
    return this.#held.acquire();
  }

  // What its timer does, asked for: a lock that is held already under an identifier is
  // taken over by renewing it.
  extend() {
    const { identifier } = this.#held;
    return this.#make(this.#options({ identifier, acquiredExternally: true })).tryAcquire();
  }

  // The library doesn't tell whether there was something to release.
  async unlock() {
    await this.#held.release();
  }
}

function opener(kind, make) {
  return async (library, driver, addresses) => {
    const clients = await ioredis(driver, addresses);
    // Seats have a token for the value that a majority holds; a sorted set has none.
    const hasToken = kind === "mutex" || clients.length === 1;
    return (name, lease) => new Locker((options) => make(library, clients, name, options), `${kind}:${name}`, lease, hasToken);
  };
}

export const mutex = opener("mutex", ({ Mutex }, [client], name, options) => new Mutex(client, name, options));
export const redlockMutex = opener("mutex", ({ RedlockMutex }, clients, name, options) => new RedlockMutex(clients, name, options));
export const semaphore = opener("semaphore", ({ Semaphore }, [client], name, options) => new Semaphore(client, name, room, options));
export const redlockSemaphore = opener("semaphore", ({ RedlockSemaphore }, clients, name, options) =>
  new RedlockSemaphore(clients, name, room, options));
