// The libraries by the names under which the program is asked for them: the packages
// of the library and of its driver, who opens it, and the cases it has nothing for.

import * as redlock from "./redlock.mjs";
import * as semaphore from "./semaphore.mjs";
import * as universal from "./universal.mjs";
import { redisLock, simpleRedisMutex } from "./simple.mjs";
import { createdLock } from "./created.mjs";

const on = (library, driver, open, none = []) => ({ library, driver, open, none });

export const libraries = {
  "redlock 3/ioredis 4": on("redlock-3", "ioredis-4", redlock.redlock3),
  "redlock 4/ioredis 5": on("redlock-4", "ioredis", redlock.redlock4),
  "redlock 5/ioredis 5": on("redlock", "ioredis", redlock.redlock5),
  "redlock 5/ioredis 6": on("redlock", "ioredis-6", redlock.redlock5),
  "redlock 5/iovalkey": on("redlock", "iovalkey", redlock.redlock5),
  "@sesamecare-oss/redlock": on("@sesamecare-oss/redlock", "ioredis", redlock.sesame),
  "redis-semaphore, Mutex": on("redis-semaphore", "ioredis", semaphore.mutex),
  "redis-semaphore, RedlockMutex": on("redis-semaphore", "ioredis", semaphore.redlockMutex),
  "redis-semaphore, Semaphore": on("redis-semaphore", "ioredis", semaphore.semaphore),
  "redis-semaphore, RedlockSemaphore": on("redis-semaphore", "ioredis", semaphore.redlockSemaphore),
  "redlock-universal/ioredis": on("redlock-universal", "ioredis", universal.onIoredis),
  "redlock-universal/node-redis 4": on("redlock-universal", "redis-4", universal.onNodeRedis),
  "redlock-universal/node-redis 5": on("redlock-universal", "redis-5", universal.onNodeRedis),
  "redlock-universal/node-redis 6": on("redlock-universal", "redis", universal.onNodeRedis),
  "redlock-universal/GLIDE": on("redlock-universal", "@valkey/valkey-glide", universal.onGlide),
  "simple-redis-mutex": on("simple-redis-mutex", "redis", simpleRedisMutex),
  "@microfleet/ioredis-lock": on("@microfleet/ioredis-lock", "ioredis", createdLock),
  "ioredis-lock": on("ioredis-lock", "ioredis-4", createdLock),
  redislock: on("redislock", "ioredis", createdLock),
  "redis-lock": on("redis-lock", "redis-4", redisLock, ["contended", "extend", "foreign"]),
};
