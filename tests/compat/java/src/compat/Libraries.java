package compat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The libraries by the name under which the program is asked for them. */
final class Libraries {
    private static final Map<String, Function<String, Library>> OPEN = new LinkedHashMap<>();

    static {
        for (RedissonObject object : RedissonObject.values()) {
            OPEN.put(object.title, addresses -> new RedissonLocks(object, addresses));
        }
        OPEN.put("Redisson RLock, watchdog", RedissonWatchdog::new);
        OPEN.put("Redisson RSemaphore", RedissonSemaphore::new);
        OPEN.put("Redisson RPermitExpirableSemaphore", RedissonPermits::new);
        OPEN.put("Redisson RMultiLock", addresses -> new RedissonSeveral(addresses, false));
        OPEN.put("Redisson RedLock", addresses -> new RedissonSeveral(addresses, true));
        OPEN.put("Spring RedisLockRegistry, spin", addresses -> new SpringRegistry(addresses, false));
        OPEN.put("Spring RedisLockRegistry, pub/sub", addresses -> new SpringRegistry(addresses, true));
        OPEN.put("Jedis", addresses -> new PlainLock(new JedisStore(addresses)));
        OPEN.put("Lettuce", addresses -> new PlainLock(new LettuceStore(addresses)));
        OPEN.put("ShedLock/Spring", addresses -> new ShedLockSpring(addresses, false));
        OPEN.put("ShedLock/Spring, safeUpdate", addresses -> new ShedLockSpring(addresses, true));
        OPEN.put("ShedLock/Jedis", addresses -> new ShedLockCalls(new JedisStore(addresses), false));
        OPEN.put("ShedLock/Lettuce", addresses -> new ShedLockCalls(new LettuceStore(addresses), false));
        OPEN.put("ShedLock/Lettuce, safeUpdate", addresses -> new ShedLockCalls(new LettuceStore(addresses), true));
    }

    private Libraries() {
    }

    static boolean known(String name) {
        return OPEN.containsKey(name);
    }

    static Library open(String name, String addresses) {
        return OPEN.get(name).apply(addresses);
    }
}
