package compat;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Redisson's RLock without a lease: the client renews it for as long as it lives. */
final class RedissonWatchdog implements Library {
    private final String address;
    private final Map<Duration, RedissonClient> clients = new ConcurrentHashMap<>();

    RedissonWatchdog(String address) {
        this.address = address;
    }

    @Override
    public String version() {
        return RedissonClients.version();
    }

    /** Below half a lease, and longer than the third of it after which it is renewed. */
    @Override
    public Duration cut() {
        return Duration.ofMillis(4500);
    }

    @Override
    public Locker locker(String name, Duration lease) {
        RedissonClient client = clients.computeIfAbsent(lease, l -> RedissonClients.watching(address, l));
        return new OwnThread(new Watched(client, client.getLock(name)));
    }

    private record Watched(RedissonClient client, RLock held) implements Locker {
        @Override
        public boolean tryLock() {
            return held.tryLock();
        }

        @Override
        public void lock() {
            held.lock();
        }

        /** Looks until the lease is longer than it was: then it was renewed. */
        @Override
        public boolean extend() {
            long before = held.remainTimeToLive();
            for (long now = before; now > 0; now = held.remainTimeToLive()) {
                if (now > before) {
                    return true;
                }
                before = now;
            }
            return false;
        }

        @Override
        public Answer unlock() {
            try {
                held.unlock();
                return Answer.YES;
            } catch (IllegalMonitorStateException e) {
                return Answer.NO;
            }
        }

        @Override
        public void die() {
            client.shutdown();
        }
    }
}
