// What the server itself says about a key, asked beside the library.

import Redis from "ioredis";
import { ioredis } from "./drivers.mjs";

// patience bounds every wait for something that must come true, in ms.
export const patience = 5_000;

// until asks again and again until the answer is yes, and says whether it was.
export async function until(ask, bound = patience) {
  const end = performance.now() + bound;
  do {
    if (await ask()) return true;
  } while (performance.now() < end);
  return false;
}

export class Probe {
  #clients; // of the addresses that answer: one of several masters may be dead
  #majority;

  static async connect(addresses) {
    const clients = await ioredis({ default: Redis }, addresses);
    return new Probe(clients.filter((c) => c.status === "ready"), addresses.length);
  }

  constructor(clients, addresses) {
    this.#clients = clients;
    this.#majority = Math.floor(addresses / 2) + 1;
  }

  // everywhere sends a command to each address that answers.
  everywhere(...command) {
    return Promise.all(this.#clients.map((c) => c.call(...command)));
  }

  // left is the rest of a key's lease at each address, in ms.
  left(key) {
    return this.everywhere("PTTL", key);
  }

  // holds says whether a majority comes to have the key with at least that much left. A
  // library may go on before its last vote has arrived.
  holds(key, atLeast = 1) {
    return until(async () => (await this.left(key)).filter((ms) => ms >= atLeast).length >= this.#majority);
  }
}
