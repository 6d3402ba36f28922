// Clients of each driver, one an address, connected before a case begins.

// A master that is down must cost its vote at once: by themselves the drivers keep
// its commands until it is back.
const ioredisMaster = { enableOfflineQueue: false };
const nodeRedisMaster = { disableOfflineQueue: true };

function hostAndPort(address) {
  const [host, port] = address.split(":");
  return { host, port: Number(port) };
}

// settled resolves when a client has connected, or failed to for the first time.
function settled(client) {
  return new Promise((resolve) => {
    client.once("ready", resolve);
    client.once("error", resolve);
  });
}

// ioredis makes a client of each address, of any version of ioredis or of iovalkey.
export async function ioredis(driver, addresses) {
  const Redis = driver.default;
  const clients = addresses.map((address) => {
    const options = addresses.length > 1 ? ioredisMaster : {};
    const client = new Redis({ ...hostAndPort(address), ...options });
    client.on("error", () => {});
    return client;
  });
  await Promise.all(clients.map(settled));
  return clients;
}

// nodeRedis makes a client of each address, of any version of node-redis since 4.
export async function nodeRedis(driver, addresses) {
  const clients = addresses.map((address) => {
    const options = addresses.length > 1 ? nodeRedisMaster : {};
    const client = driver.createClient({ socket: hostAndPort(address), ...options });
    client.on("error", () => {});
    return client;
  });
  const connected = clients.map(settled);
  // Connecting goes on as long as the master is down, so nobody waits for it.
  clients.forEach((client) => client.connect().catch(() => {}));
  await Promise.all(connected);
  return clients;
}

// glide makes a client of each address. Its own limit of 250 ms for a command is short
// for a busy machine.
export function glide(driver, addresses) {
  const options = (address) => ({ addresses: [hostAndPort(address)], requestTimeout: 5_000 });
  return Promise.all(addresses.map((address) => driver.GlideClient.createClient(options(address))));
}
