// redislock and its two descendants, ioredis-lock and @microfleet/ioredis-lock: a lock
// is made by createLock, and errors say what wasn't done.

import { ioredis } from "./drivers.mjs";

const patient = { retries: 2_000, delay: 20 };

class Locker {
  #make;
  #lease;
  #held;

  constructor(make, name, lease) {
    this.#make = make;
    this.#lease = lease;
    this.key = name;
  }

  tryLock() {
    this.#held = this.#make({ timeout: this.#lease, retries: 0 });
    return accepted(this.#held.acquire(this.key), /^Could not acquire lock/);
  }

  async lock() {
    this.#held = this.#make({ timeout: this.#lease, ...patient });
    await this.#held.acquire(this.key);
  }

  extend() {
    return accepted(this.#held.extend(this.#lease), /had expired$/);
  }

  unlock() {
    return accepted(this.#held.release(), /had expired$/);
  }
}

// accepted says whether the library did it. An error that isn't a plain no is thrown.
async function accepted(act, refusal) {
  try {
    await act;
    return true;
  } catch (err) {
    if (!refusal.test(err.message)) throw err;
    return false;
  }
}

export async function createdLock(library, driver, addresses) {
  const [client] = await ioredis(driver, addresses);
  const { createLock } = library.createLock ? library : library.default;
  return (name, lease) => new Locker((options) => createLock(client, options), name, lease);
}
