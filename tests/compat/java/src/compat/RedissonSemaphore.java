package compat;

import java.time.Duration;
import java.util.Set;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Redisson's semaphore with one permit, which has neither lease nor owner. */
final class RedissonSemaphore implements Library {
    private final RedissonClient client;

    RedissonSemaphore(String address) {
        client = RedissonClients.connect(address);
    }

    @Override
    public String version() {
        return RedissonClients.version();
    }

    @Override
    public boolean leases() {
        return false;
    }

    @Override
    public Set<String> none() {
        return Set.of("extend", "foreign", "expiry");
    }

    @Override
    public Locker locker(String name, Duration lease) {
        RSemaphore semaphore = client.getSemaphore(name);
        semaphore.trySetPermits(1);
        return new Permit(semaphore);
    }

    private record Permit(RSemaphore semaphore) implements Locker {
        @Override
        public boolean tryLock() {
            return semaphore.tryAcquire();
        }

        @Override
        public void lock() throws InterruptedException {
            semaphore.acquire();
        }

        @Override
        public Answer unlock() {
            semaphore.release();
            return Answer.UNTOLD;
        }
    }
}
