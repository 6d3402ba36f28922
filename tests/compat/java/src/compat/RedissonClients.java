package compat;

import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Clients of Redisson, each with few threads and connections: a program has several. */
final class RedissonClients {
    private RedissonClients() {
    }

    static RedissonClient connect(String address) {
        return Redisson.create(config(address));
    }

    /** A client whose locks without a lease have this one, renewed after each third of it. */
    static RedissonClient watching(String address, Duration lease) {
        Config config = config(address);
        config.setLockWatchdogTimeout(lease.toMillis());
        return Redisson.create(config);
    }

    /** A client that asks its server only when it is used: the server may be dead. */
    static RedissonClient lazy(String address) {
        Config config = config(address);
        config.setLazyInitialization(true);
        config.useSingleServer().setRetryAttempts(0);
        return Redisson.create(config);
    }

    static String version() {
        return Versions.of(Redisson.class);
    }

    /** A reply has the time of a failover, on a busy machine, before it is taken for lost. */
    private static Config config(String address) {
        Config config = new Config();
        config.setThreads(2).setNettyThreads(2);
        config.useSingleServer().setAddress("redis://" + address).setConnectionMinimumIdleSize(1).setTimeout(30_000);
        return config;
    }
}
