package compat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** Redisson's semaphore whose permits have an identifier and a lease, with one permit. */
final class RedissonPermits implements Library {
    private final RedissonClient client;

    RedissonPermits(String address) {
        client = RedissonClients.connect(address);
    }

    @Override
    public String version() {
        return RedissonClients.version();
    }

    /** The leases are scores of a sorted set, so that no key shows them. */
    @Override
    public boolean leases() {
        return false;
    }

    @Override
    public List<String> keys(String name) {
        return List.of(name, "{" + name + "}:timeout");
    }

    @Override
    public Locker locker(String name, Duration lease) {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
        semaphore.trySetPermits(1);
        return new Permit(semaphore, lease.toMillis());
    }

    private static final class Permit implements Locker {
        private final RPermitExpirableSemaphore semaphore;
        private final long lease;
        private String id;

        Permit(RPermitExpirableSemaphore semaphore, long lease) {
            this.semaphore = semaphore;
            this.lease = lease;
        }

        @Override
        public boolean tryLock() throws InterruptedException {
            id = semaphore.tryAcquire(0, lease, TimeUnit.MILLISECONDS);
            return id != null;
        }

        @Override
        public void lock() throws InterruptedException {
            id = semaphore.acquire(lease, TimeUnit.MILLISECONDS);
        }

        /** Cuts the lease to a tenth by the same call first, and believes what the server has. */
        @Override
        public boolean extend() {
            return semaphore.updateLeaseTime(id, lease / 10, TimeUnit.MILLISECONDS)
                    && semaphore.getLeaseTime(id) < lease / 2
                    && semaphore.updateLeaseTime(id, lease, TimeUnit.MILLISECONDS)
                    && semaphore.getLeaseTime(id) > lease / 2;
        }

        @Override
        public Answer unlock() {
            return Answer.of(semaphore.tryRelease(id));
        }
    }
}
