// The libraries for one address on node-redis: simple-redis-mutex and redis-lock.

import { nodeRedis } from "./drivers.mjs";

class SimpleRedisMutex {
  #library;
  #client;
  #name;
  #lease;
  #release;

  constructor(library, client, name, lease) {
    this.#library = library;
    this.#client = client;
    this.#name = name;
    this.#lease = lease;
    this.key = `@simple-redis-mutex:lock-${name}`;
  }

  async tryLock() {
    const [taken, release] = await this.#library.tryLock(this.#client, this.#name, { timeout: this.#lease });
    this.#release = release;
    return taken;
  }

  // It waits for a message of the holder's, and asks now and then all the same.
  async lock() {
    this.#release = await this.#library.lock(this.#client, this.#name, { timeout: this.#lease, pollingInterval: 500 });
  }

  // Neither extending nor releasing tells what came of it.
  extend() {
    return this.#release.refreshTimeout();
  }

  unlock() {
    return this.#release();
  }
}

export async function simpleRedisMutex(library, driver, addresses) {
  const [client] = await nodeRedis(driver, addresses);
  return (name, lease) => new SimpleRedisMutex(library, client, name, lease);
}

// RedisLock can only wait, and has nothing to extend with.
class RedisLock {
  #wait;
  #name;
  #lease;
  #release;

  constructor(wait, name, lease) {
    this.#wait = wait;
    this.#name = name;
    this.#lease = lease;
    this.key = `lock.${name}`;
  }

  async lock() {
    this.#release = await this.#wait(this.#name, this.#lease);
  }

  async unlock() {
    return (await this.#release()) === 1;
  }
}

export async function redisLock(library, driver, addresses) {
  const [client] = await nodeRedis(driver, addresses);
  const retryDelay = 20; // ms
  const wait = library.default(client, retryDelay);
  return (name, lease) => new RedisLock(wait, name, lease);
}
