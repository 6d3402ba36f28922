package compat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

/** ShedLock's provider for Spring Data Redis. */
final class ShedLockSpring implements Library {
    private final LockProvider provider;
    private final boolean safe;

    ShedLockSpring(String address, boolean safe) {
        provider = new RedisLockProvider.Builder(SpringConnections.open(address)).safeUpdate(safe).build();
        this.safe = safe;
    }

    @Override
    public String version() {
        return Versions.of(RedisLockProvider.class) + " on " + SpringConnections.version();
    }

    @Override
    public List<String> keys(String name) {
        return ShedLockCalls.keysOf(name);
    }

    @Override
    public Set<String> none() {
        return ShedLockCalls.noneOf(safe);
    }

    @Override
    public boolean extendsOwnOnly() {
        return safe;
    }

    @Override
    public Locker locker(String name, Duration lease) {
        return new Task(provider, name, lease);
    }

    private static final class Task implements Locker {
        private final LockProvider provider;
        private final String name;
        private final Duration lease;
        private SimpleLock held;

        Task(LockProvider provider, String name, Duration lease) {
            this.provider = provider;
            this.name = name;
            this.lease = lease;
        }

        @Override
        public boolean tryLock() {
            held = provider.lock(new LockConfiguration(Instant.now(), name, lease, Duration.ZERO)).orElse(null);
            return held != null;
        }

        @Override
        public void lock() {
            throw new UnsupportedOperationException("wait");
        }

        /** An extended lock takes the place of the one that was extended. */
        @Override
        public boolean extend() {
            var extended = held.extend(lease, Duration.ZERO);
            extended.ifPresent(lock -> held = lock);
            return extended.isPresent();
        }

        @Override
        public Answer unlock() {
            held.unlock();
            return Answer.UNTOLD;
        }
    }
}
