package compat;

import java.time.Duration;
import org.redisson.api.RedissonClient;

/** One of Redisson's locks, of one name on one server. */
final class RedissonLocks implements Library {
    private final RedissonObject object;
    private final RedissonClient client;

    RedissonLocks(RedissonObject object, String address) {
        this.object = object;
        client = RedissonClients.connect(address);
    }

    @Override
    public String version() {
        return RedissonClients.version();
    }

    @Override
    public Locker locker(String name, Duration lease) {
        return locker(object, name, lease);
    }

    @Override
    public Locker rival(String name, Duration lease) {
        return locker(shared() ? RedissonObject.WRITE : object, name, lease);
    }

    @Override
    public boolean shared() {
        return object == RedissonObject.READ;
    }

    /**
     * A read-write lock that is told of a release before its next waiter sleeps drops the
     * wake-up, with any server; that one then sleeps for the rest of the lease.
     */
    @Override
    public Duration turnLease() {
        boolean drops = object == RedissonObject.READ || object == RedissonObject.WRITE;
        return drops ? Duration.ofSeconds(3) : Library.super.turnLease();
    }

    private Locker locker(RedissonObject of, String name, Duration lease) {
        return new OwnThread(new RedissonLocker(of.get.apply(client, name), lease, true));
    }
}
