// redlock (npm) 3, 4 and 5, and @sesamecare-oss/redlock: they differ in their scripts
// and in how a resource and an instance are named.

import { ioredis } from "./drivers.mjs";

const once = { retryCount: 0 };
// The instance's count is also that of a release that finds nothing, so waiting has
// one of its own.
const patient = { retryCount: 2_000, retryDelay: 40, retryJitter: 30 };

class Locker {
  #dialect;
  #duration;
  #held;

  constructor(dialect, name, lease) {
    this.#dialect = dialect;
    this.#duration = lease;
    this.key = name;
  }

  async tryLock() {
    return this.#dialect.accepted(async () => {
      this.#held = await this.#dialect.once.acquire(this.#dialect.resource(this.key), this.#duration);
    });
  }

  async lock() {
    this.#held = await this.#dialect.patient.acquire(this.#dialect.resource(this.key), this.#duration);
  }

  extend() {
    return this.#dialect.accepted(async () => {
      this.#held = await this.#dialect.once.extend(this.#held, this.#duration);
    });
  }

  async unlock() {
    const released = await this.#dialect.accepted(() => this.#dialect.once.release(this.#held));
    return released && !this.#dialect.tellsRelease ? undefined : released;
  }
}

class Dialect {
  #refusal; // the name of the error that says no
  #faults = []; // what the servers answered instead of a yes or no

  constructor(Redlock, clients, { resource, refusal, faults, tellsRelease = true }) {
    this.once = new Redlock(clients, once);
    this.patient = new Redlock(clients, patient);
    this.resource = resource;
    this.tellsRelease = tellsRelease;
    this.#refusal = refusal;
    // Of several masters one may be dead, and tells nothing but that.
    if (clients.length > 1) return;
    for (const redlock of [this.once, this.patient]) {
      redlock.on(faults, (err) => {
        if (err.name !== "ResourceLockedError") this.#faults.push(err);
      });
    }
  }

  // accepted says whether the library did it. An error that isn't a plain no is thrown.
  async accepted(act) {
    try {
      await act();
      return true;
    } catch (err) {
      if (err.name !== this.#refusal) throw err;
      if (this.#faults.length > 0) throw this.#faults[0];
      return false;
    }
  }
}

function opener(redlockOf, style) {
  return async (library, driver, addresses) => {
    const dialect = new Dialect(redlockOf(library), await ioredis(driver, addresses), style);
    return (name, lease) => new Locker(dialect, name, lease);
  };
}

const one = (name) => name;
const list = (name) => [name];

export const redlock3 = opener((library) => library.default, {
  resource: one, refusal: "LockError", faults: "clientError", tellsRelease: false,
});
export const redlock4 = opener((library) => library.default, { resource: one, refusal: "LockError", faults: "clientError" });
export const redlock5 = opener((library) => library.default, { resource: list, refusal: "ExecutionError", faults: "error" });
export const sesame = opener((library) => library.Redlock, { resource: list, refusal: "ExecutionError", faults: "error" });
