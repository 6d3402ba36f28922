package compat;

import java.util.concurrent.atomic.AtomicInteger;

/** What the lock is for: it counts who is in, and who was in with somebody kept out. */
final class Resource {
    private final AtomicInteger alone = new AtomicInteger();
    private final AtomicInteger sharing = new AtomicInteger();
    private final AtomicInteger turns = new AtomicInteger();
    private final AtomicInteger clashes = new AtomicInteger();

    void use(boolean shares) {
        AtomicInteger mine = shares ? sharing : alone;
        mine.incrementAndGet();
        if (alone.get() > 1 || alone.get() == 1 && sharing.get() > 0) {
            clashes.incrementAndGet();
        }
        turns.incrementAndGet();
        Thread.yield();
        mine.decrementAndGet();
    }

    int turns() {
        return turns.get();
    }

    int clashes() {
        return clashes.get();
    }
}
