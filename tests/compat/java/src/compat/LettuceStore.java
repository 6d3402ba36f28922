package compat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;

/** Lettuce. */
final class LettuceStore implements Store {
    private final RedisCommands<String, String> commands;

    LettuceStore(String address) {
        commands = RedisClient.create("redis://" + address).connect().sync();
    }

    @Override
    public boolean add(String key, String value, Duration lease) {
        return "OK".equals(commands.set(key, value, SetArgs.Builder.nx().px(lease.toMillis())));
    }

    @Override
    public boolean replace(String key, String value, Duration lease) {
        return "OK".equals(commands.set(key, value, SetArgs.Builder.xx().px(lease.toMillis())));
    }

    @Override
    public void delete(String key) {
        commands.del(key);
    }

    @Override
    public long script(Script script, String key, List<String> args) {
        String[] keys = {key};
        String[] values = args.toArray(String[]::new);
        try {
            return commands.<Long>evalsha(script.sha1(), ScriptOutputType.INTEGER, keys, values);
        } catch (RedisNoScriptException e) {
            return commands.<Long>eval(script.text(), ScriptOutputType.INTEGER, keys, values);
        }
    }

    @Override
    public String version() {
        return "Lettuce " + driver();
    }

    static String driver() {
        return Versions.of(RedisClient.class);
    }
}
