package compat;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A locker whose library takes the thread for the owner: it gets a thread of its own. */
final class OwnThread implements Locker {
    private final Locker locker;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread t = new Thread(task);
        t.setDaemon(true);
        return t;
    });

    OwnThread(Locker locker) {
        this.locker = locker;
    }

    @Override
    public boolean tryLock() throws Exception {
        return call(locker::tryLock);
    }

    @Override
    public void lock() throws Exception {
        call(() -> {
            locker.lock();
            return null;
        });
    }

    @Override
    public boolean extend() throws Exception {
        return call(locker::extend);
    }

    @Override
    public Answer unlock() throws Exception {
        return call(locker::unlock);
    }

    @Override
    public void die() {
        locker.die();
    }

    private <T> T call(Callable<T> task) throws Exception {
        try {
            return thread.submit(task).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }
}
