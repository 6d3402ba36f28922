import { createClient } from "redis";
import { createLock, NodeRedisAdapter } from "redlock-universal";

const client = await createClient({ url: "redis://127.0.0.1:6379" }).connect();
const lock = createLock({ adapter: new NodeRedisAdapter(client), key: "report", ttl: 8_000 });

await lock.using(async () => {
  const token = await client.sendCommand(["LOCK.TOKEN", "report"]);
  console.log("locked", token);
});
await client.close();
