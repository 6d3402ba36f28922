package compat;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** The lock that a driver's user makes of SET NX PX and two scripts. */
final class PlainLock implements Library {
    private static final long PAUSE_MILLIS = 20;

    private final Store store;

    PlainLock(Store store) {
        this.store = store;
    }

    @Override
    public String version() {
        return store.version().substring(store.version().indexOf(' ') + 1);
    }

    @Override
    public Locker locker(String name, Duration lease) {
        return new Holder(store, name, UUID.randomUUID().toString(), lease);
    }

    private record Holder(Store store, String key, String value, Duration lease) implements Locker {
        @Override
        public boolean tryLock() {
            return store.add(key, value, lease);
        }

        @Override
        public void lock() throws InterruptedException {
            while (!tryLock()) {
                Thread.sleep(PAUSE_MILLIS);
            }
        }

        @Override
        public boolean extend() {
            return store.script(Script.EXTEND, key, List.of(value, Long.toString(lease.toMillis()))) == 1;
        }

        @Override
        public Answer unlock() {
            return Answer.of(store.script(Script.RELEASE, key, List.of(value)) == 1);
        }
    }
}
