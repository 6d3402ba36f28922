package compat;

import java.util.function.BiFunction;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The locks of Redisson that are used alike. */
enum RedissonObject {
    LOCK("Redisson RLock", RedissonClient::getLock),
    FENCED("Redisson RFencedLock", RedissonClient::getFencedLock),
    FAIR("Redisson RFairLock", RedissonClient::getFairLock),
    SPIN("Redisson RSpinLock", RedissonClient::getSpinLock),
    WRITE("Redisson RReadWriteLock, write", (client, name) -> client.getReadWriteLock(name).writeLock()),
    READ("Redisson RReadWriteLock, read", (client, name) -> client.getReadWriteLock(name).readLock());

    final String title;
    final BiFunction<RedissonClient, String, RLock> get;

    RedissonObject(String title, BiFunction<RedissonClient, String, RLock> get) {
        this.title = title;
        this.get = get;
    }
}
