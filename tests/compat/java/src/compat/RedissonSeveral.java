package compat;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Redisson's locks that are made of several: RMultiLock, which needs all of them, and
 * RedLock, content with most. On one server RMultiLock takes several names, on several
 * servers both take one name on each.
 */
final class RedissonSeveral implements Library {
    private final List<RedissonClient> clients;
    private final boolean most;

    RedissonSeveral(String addresses, boolean most) {
        clients = Stream.of(addresses.split(",")).map(RedissonClients::lazy).toList();
        this.most = most;
    }

    @Override
    public String version() {
        return RedissonClients.version();
    }

    @Override
    public List<String> keys(String name) {
        return most || clients.size() > 1 ? List.of(name) : List.of(name + ":a", name + ":b", name + ":c");
    }

    /** On seats a token belongs to a value that a majority has, and each client has its own. */
    @Override
    public boolean hasToken() {
        return clients.size() == 1;
    }

    @Override
    @SuppressWarnings("deprecation") // of RedLock: it is what is run here
    public Locker locker(String name, Duration lease) {
        RLock[] locks = clients.stream()
                .flatMap(client -> keys(name).stream().map(client::getLock))
                .toArray(RLock[]::new);
        RedissonClient first = clients.get(0);
        RLock together = most ? first.getRedLock(locks) : first.getMultiLock(locks);
        return new OwnThread(new RedissonLocker(together, lease, !most));
    }
}
