// redlock-universal: createLock for one address, createRedlock for several.

import { glide, ioredis, nodeRedis } from "./drivers.mjs";

const once = { retryAttempts: 0 };
const patient = { retryAttempts: 2_000, retryDelay: 40 };

class Locker {
  #make;
  #lease;
  #lock;
  #handle;

  constructor(make, name, lease) {
    this.#make = make;
    this.#lease = lease;
    this.key = name;
  }

  #acquire(retries) {
    this.#lock = this.#make({ key: this.key, ttl: this.#lease, ...retries });
    return this.#lock.acquire();
  }

  async tryLock() {
    try {
      this.#handle = await this.#acquire(once);
      return true;
    } catch (err) {
      if (!/already held|quorum not achieved/.test(err.cause?.message)) throw err;
      return false;
    }
  }

  async lock() {
    this.#handle = await this.#acquire(patient);
  }

  extend() {
    return this.#lock.extend(this.#handle, this.#lease);
  }

  unlock() {
    return this.#lock.release(this.#handle);
  }
}

function opener(connect, adapterOf) {
  return async (library, driver, addresses) => {
    const clients = await connect(driver, addresses);
    const adapters = clients.map((client) => adapterOf(library, client));
    const make = adapters.length === 1
      ? (options) => library.createLock({ adapter: adapters[0], ...options })
      : (options) => library.createRedlock({ adapters, ...options });
    return (name, lease) => new Locker(make, name, lease);
  };
}

export const onIoredis = opener(ioredis, ({ IoredisAdapter }, client) => new IoredisAdapter(client));
export const onNodeRedis = opener(nodeRedis, ({ NodeRedisAdapter }, client) => new NodeRedisAdapter(client));
export const onGlide = opener(glide, ({ GlideAdapter }, client) => new GlideAdapter(client));
