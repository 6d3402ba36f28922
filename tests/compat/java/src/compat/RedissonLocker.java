package compat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;

/** A thread's use of one of Redisson's locks, with a lease. */
final class RedissonLocker implements Locker {
    private final RLock lock;
    private final long lease;
    private final boolean tells;

    /** @param tells whether unlock throws for a lock that isn't held */
    RedissonLocker(RLock lock, Duration lease, boolean tells) {
        this.lock = lock;
        this.lease = lease.toMillis();
        this.tells = tells;
    }

    @Override
    public boolean tryLock() throws InterruptedException {
        return lock.tryLock(0, lease, TimeUnit.MILLISECONDS);
    }

    @Override
    public void lock() {
        lock.lock(lease, TimeUnit.MILLISECONDS);
    }

    /** A lock is extended by locking it again: it is re-entrant. */
    @Override
    public boolean extend() throws InterruptedException {
        return tryLock();
    }

    @Override
    public Answer unlock() {
        try {
            lock.unlock();
            return tells ? Answer.YES : Answer.UNTOLD;
        } catch (IllegalMonitorStateException e) {
            return Answer.NO;
        }
    }
}
