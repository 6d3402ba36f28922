import java.time.Duration;
import java.util.List;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;

/** Takes the lock "report" of the registry "locks" with Spring Integration. */
public class SpringReport {
    private static final RedisScript<Long> TOKEN =
            RedisScript.of("return redis.call('LOCK.TOKEN', KEYS[1])", Long.class);

    public static void main(String[] args) {
        var connections = new LettuceConnectionFactory("127.0.0.1", 6379);
        connections.afterPropertiesSet();
        connections.start();
        var registry = new RedisLockRegistry(connections, "locks", Duration.ofSeconds(8));

        DistributedLock lock = registry.obtain("report");
        lock.lock();
        try {
            Long token = new StringRedisTemplate(connections).execute(TOKEN, List.of("locks:report"));
            System.out.println("locked " + token);
        } finally {
            lock.unlock();
        }
        registry.destroy();
        connections.destroy();
    }
}
