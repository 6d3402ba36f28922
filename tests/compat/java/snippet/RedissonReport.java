import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Takes the lock "report" with Redisson. */
public class RedissonReport {
    public static void main(String[] args) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:6379");
        RedissonClient redisson = Redisson.create(config);

        RLock lock = redisson.getLock("report");
        lock.lock(8, TimeUnit.SECONDS);
        try {
            Long token = redisson.getScript().eval(RScript.Mode.READ_ONLY,
                    "return redis.call('LOCK.TOKEN', KEYS[1])", RScript.ReturnType.LONG, List.of("report"));
            System.out.println("locked " + token);
        } finally {
            lock.unlock();
        }
        redisson.shutdown();
    }
}
