package compat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Eight threads queue for Redisson's fair lock, one after the other, while it is held. It
 * prints "queued" when all wait, and "turn N" when thread N has the lock. Before the
 * first and the fourth release it waits for a line on its input.
 */
public final class FairOrder {
    private static final int THREADS = 8;
    private static final int PAUSES_AT = 3;

    /** Far more than a test lasts: who misses a wake-up waits for so long. */
    private static final long LEASE_SECONDS = 600;

    private FairOrder() {
    }

    public static void main(String[] args) throws Exception {
        RedissonClient client = RedissonClients.connect(args[0]);
        String name = args[1] + ":fair";
        RLock lock = client.getFairLock(name);
        lock.lock(LEASE_SECONDS, TimeUnit.SECONDS);
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = waiter(client.getFairLock(name), i);
            waiting.add(thread);
            thread.start();
            while (client.getList("redisson_lock_queue:{" + name + "}", StringCodec.INSTANCE).size() <= i) {
                Thread.onSpinWait();
            }
        }
        System.out.println("queued");
        System.in.read();
        lock.unlock();
        for (Thread thread : waiting) {
            thread.join();
        }
        System.exit(0);
    }

    private static Thread waiter(RLock lock, int number) {
        return new Thread(() -> {
            lock.lock(LEASE_SECONDS, TimeUnit.SECONDS);
            System.out.println("turn " + number);
            try {
                if (number == PAUSES_AT) {
                    System.in.read();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                lock.unlock();
            }
        });
    }
}
