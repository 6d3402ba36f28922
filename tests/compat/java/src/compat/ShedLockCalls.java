package compat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * What ShedLock's providers for Jedis and Lettuce send, in our own words. It never waits.
 * Only with safeUpdate does it look at who holds the lock before it changes it.
 */
final class ShedLockCalls implements Library {
    private final Store store;
    private final boolean safe;

    ShedLockCalls(Store store, boolean safe) {
        this.store = store;
        this.safe = safe;
    }

    @Override
    public String version() {
        return "calls as of 2495b1406d on " + store.version();
    }

    @Override
    public List<String> keys(String name) {
        return keysOf(name);
    }

    @Override
    public Set<String> none() {
        return noneOf(safe);
    }

    @Override
    public boolean extendsOwnOnly() {
        return safe;
    }

    @Override
    public Locker locker(String name, Duration lease) {
        String value = "ADDED:" + Instant.now() + "@host:" + UUID.randomUUID();
        return new Task(store, safe, keys(name).get(0), value, lease);
    }

    static List<String> keysOf(String name) {
        return List.of("job-lock:default:" + name);
    }

    /** It skips a task instead of waiting, and only a safe one looks at who holds the lock. */
    static Set<String> noneOf(boolean safe) {
        return safe ? Set.of("wait") : Set.of("wait", "foreign");
    }

    private record Task(Store store, boolean safe, String key, String value, Duration lease) implements Locker {
        @Override
        public boolean tryLock() {
            return store.add(key, value, lease);
        }

        @Override
        public void lock() {
            throw new UnsupportedOperationException("wait");
        }

        @Override
        public boolean extend() {
            return safe
                    ? store.script(Script.EXTEND, key, List.of(value, Long.toString(lease.toMillis()))) == 1
                    : store.replace(key, value, lease);
        }

        @Override
        public Answer unlock() {
            if (safe) {
                return Answer.of(store.script(Script.RELEASE, key, List.of(value)) == 1);
            }
            store.delete(key);
            return Answer.UNTOLD;
        }
    }
}
