package compat;

import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Looks at the servers beside the library. The first address is the one it asks. */
final class Probe {
    private final List<RedisClient> servers;

    Probe(String addresses) {
        servers = Stream.of(addresses.split(",")).map(HostAndPort::from).map(RedisClient::create).toList();
    }

    /** What the key has left, in milliseconds, as PTTL says it. */
    long left(String key) {
        return servers.get(0).pttl(key);
    }

    long token(String key) {
        Object token = servers.get(0).executeCommand(new CommandArguments(() -> "LOCK.TOKEN".getBytes()).add(key));
        return token instanceof Long n ? n : 0;
    }

    void expireIn(List<String> keys, long milliseconds) {
        everywhere(keys, (server, key) -> server.pexpire(key, milliseconds));
    }

    void delete(List<String> keys) {
        everywhere(keys, (server, key) -> server.del(key));
    }

    /** Sends to every address, and fails only if none answers: a master may be dead. */
    private void everywhere(List<String> keys, BiFunction<RedisClient, String, Long> command) {
        JedisConnectionException last = null;
        int answered = 0;
        for (RedisClient server : servers) {
            try {
                keys.forEach(key -> command.apply(server, key));
                answered++;
            } catch (JedisConnectionException e) {
                last = e;
            }
        }
        if (answered == 0) {
            throw last;
        }
    }
}
