package compat;

import java.time.Duration;
import java.util.List;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.params.SetParams;

/** Jedis. */
final class JedisStore implements Store {
    private final RedisClient client;

    JedisStore(String address) {
        client = RedisClient.create(HostAndPort.from(address));
    }

    @Override
    public boolean add(String key, String value, Duration lease) {
        return "OK".equals(client.set(key, value, SetParams.setParams().nx().px(lease.toMillis())));
    }

    @Override
    public boolean replace(String key, String value, Duration lease) {
        return "OK".equals(client.set(key, value, SetParams.setParams().xx().px(lease.toMillis())));
    }

    @Override
    public void delete(String key) {
        client.del(key);
    }

    @Override
    public long script(Script script, String key, List<String> args) {
        List<String> keys = List.of(key);
        try {
            return (Long) client.evalsha(script.sha1(), keys, args);
        } catch (JedisNoScriptException e) {
            return (Long) client.eval(script.text(), keys, args);
        }
    }

    @Override
    public String version() {
        return "Jedis " + Versions.of(RedisClient.class);
    }
}
