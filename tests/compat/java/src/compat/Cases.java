package compat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What every library must pass. A case that fails throws. */
final class Cases {
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration SHORT_LEASE = Duration.ofMillis(500);
    private static final Duration FREE_WITHIN = Duration.ofSeconds(5);
    private static final int TAKERS = 12;

    /** A case under its name. */
    interface Case {
        void run(String name) throws Exception;
    }

    private final Library library;
    private final Probe probe;

    Cases(Library library, Probe probe) {
        this.library = library;
        this.probe = probe;
    }

    /** All cases in the order of the table. */
    Map<String, Case> all() {
        Map<String, Case> all = new LinkedHashMap<>();
        all.put("acquire", this::acquire);
        all.put("contended", this::contended);
        all.put("extend", this::extend);
        all.put("release", this::release);
        all.put("foreign", this::foreign);
        all.put("expiry", this::expiry);
        all.put("wait", this::waits);
        return all;
    }

    /** A free lock is taken, and the server has it with its lease and token. */
    private void acquire(String name) throws Exception {
        take(library.locker(name, LEASE));
        String key = library.keys(name).get(0);
        long left = probe.left(key);
        check(!library.leases() || left > 0 && left <= LEASE.toMillis(), "the lease is " + left);
        check(!library.hasToken() || probe.token(key) > 0, "there is no token");
    }

    /** A held lock is refused. */
    private void contended(String name) throws Exception {
        take(library.locker(name, LEASE));
        check(!library.rival(name, LEASE).tryLock(), "taken twice");
        if (library.shared()) {
            take(library.locker(name, LEASE));
        }
    }

    /** A holder gets its whole lease again. */
    private void extend(String name) throws Exception {
        Locker holder = take(library.locker(name, LEASE));
        if (library.leases()) {
            probe.expireIn(library.keys(name), library.cut().toMillis());
        }
        check(holder.extend(), "not extended");
        long left = probe.left(library.keys(name).get(0));
        check(!library.leases() || left >= LEASE.toMillis() / 2, "the lease is " + left + " after extending");
    }

    /** A released lock is free. */
    private void release(String name) throws Exception {
        Locker.Answer answer = take(library.locker(name, LEASE)).unlock();
        check(answer != Locker.Answer.NO, "not released");
        take(library.rival(name, LEASE));
    }

    /** Who doesn't hold the lock can't release it. */
    private void foreign(String name) throws Exception {
        Locker former = take(library.locker(name, LEASE));
        probe.delete(library.keys(name));
        take(library.rival(name, LEASE));
        check(former.unlock() != Locker.Answer.YES, "the former holder was told that it released the lock");
        check(!library.rival(name, LEASE).tryLock(), "the former holder released its successor's lock");
    }

    /** A lease that isn't renewed ends, and not before its time. */
    private void expiry(String name) throws Exception {
        long sent = System.nanoTime();
        Locker former = take(library.locker(name, SHORT_LEASE));
        former.die();
        Locker next = library.rival(name, LEASE);
        Duration took = Duration.ZERO;
        for (boolean taken = false; !taken; took = Duration.ofNanos(System.nanoTime() - sent)) {
            check(took.compareTo(FREE_WITHIN) < 0, "free only after " + took);
            taken = next.tryLock();
        }
        check(took.toMillis() >= SHORT_LEASE.toMillis() * 99 / 100, "taken from its holder after " + took);
        if (!library.none().contains("extend") && library.extendsOwnOnly()) {
            check(!extended(former), "extended after it had ended");
        }
    }

    /** Whether a holder was told that it extended; many libraries throw if it can't. */
    private static boolean extended(Locker holder) {
        try {
            return holder.extend();
        } catch (Exception e) {
            return false;
        }
    }

    /** Threads take turns; the resource counts who is in. */
    private void waits(String name) throws Exception {
        Resource resource = new Resource();
        ExecutorService threads = Executors.newFixedThreadPool(TAKERS);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < TAKERS; i++) {
            boolean shares = library.shared() && i % 2 == 0;
            Locker taker = shares ? library.locker(name, library.turnLease()) : library.rival(name, library.turnLease());
            Callable<Void> turn = () -> {
                taker.lock();
                resource.use(shares);
                check(taker.unlock() != Locker.Answer.NO, "not released");
                return null;
            };
            all.add(threads.submit(turn));
        }
        for (Future<?> turn : all) {
            turn.get();
        }
        threads.shutdown();
        check(resource.turns() == TAKERS, resource.turns() + " turns");
        check(resource.clashes() == 0, resource.clashes() + " times two were in");
    }

    private static Locker take(Locker locker) throws Exception {
        check(locker.tryLock(), "not taken");
        return locker;
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
