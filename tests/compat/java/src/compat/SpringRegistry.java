package compat;

import java.time.Duration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * Spring Integration's registry on Lettuce. A registry has one owner's value, as a
 * process has one registry, so that each locker has a registry of its own.
 */
final class SpringRegistry implements Library {
    private final LettuceConnectionFactory connections;
    private final RedisLockType type;

    SpringRegistry(String address, boolean publishes) {
        connections = SpringConnections.open(address);
        type = publishes ? RedisLockType.PUB_SUB_LOCK : RedisLockType.SPIN_LOCK;
    }

    @Override
    public String version() {
        return Versions.of(RedisLockRegistry.class) + " on " + SpringConnections.version();
    }

    /** The key is the registry's and the lock's name, with a colon between. */
    @Override
    public Locker locker(String name, Duration lease) {
        int colon = name.lastIndexOf(':');
        String key = name.substring(colon + 1);
        RedisLockRegistry registry = new RedisLockRegistry(connections, name.substring(0, colon), lease);
        registry.setRedisLockType(type);
        return new OwnThread(new Registered(registry, key, registry.obtain(key), lease));
    }

    private record Registered(RedisLockRegistry registry, String key, DistributedLock held, Duration lease) implements Locker {
        @Override
        public boolean tryLock() {
            return held.tryLock();
        }

        @Override
        public void lock() {
            held.lock();
        }

        /** Throws if the lock isn't held. */
        @Override
        public boolean extend() {
            registry.renewLock(key, lease);
            return true;
        }

        @Override
        public Answer unlock() {
            try {
                held.unlock();
                return Answer.YES;
            } catch (IllegalStateException | java.util.ConcurrentModificationException e) {
                return Answer.NO;
            }
        }
    }
}
