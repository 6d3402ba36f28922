import Redis from "ioredis";
import Redlock from "redlock";

const client = new Redis("redis://127.0.0.1:6379");
const redlock = new Redlock([client]);

const lock = await redlock.acquire(["report"], 8_000);
try {
  const token = await client.call("LOCK.TOKEN", "report");
  console.log("locked", token);
} finally {
  await lock.release();
}
await redlock.quit();
