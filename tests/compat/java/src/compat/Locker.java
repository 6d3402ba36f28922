package compat;

/** One holder-to-be of a lock. Every call is made by the thread that owns it. */
interface Locker {
    /** Takes the lock if it is free, without waiting, and says whether it did. */
    boolean tryLock() throws Exception;

    /** Takes the lock, waiting as the library waits. */
    void lock() throws Exception;

    /** Gives the lock its whole lease again, and says whether it did. */
    default boolean extend() throws Exception {
        throw new UnsupportedOperationException("extend");
    }

    /** Releases the lock. What a library throws for a lock that isn't held means NO. */
    Answer unlock() throws Exception;

    /** Ends the client as if its process had died, where the library renews by itself. */
    default void die() {
    }

    /** What a library says about a release. */
    enum Answer {
        YES, NO, UNTOLD;

        static Answer of(boolean released) {
            return released ? YES : NO;
        }
    }
}
