package compat;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/** A lock library on a driver, connected to the servers that it was told. */
interface Library {
    /** The versions of what runs, by the names of the installed files. */
    String version();

    /** A new holder-to-be of the lock, unlike every other. */
    Locker locker(String name, Duration lease);

    /** One that a held lock keeps out: where holders share, of another kind. */
    default Locker rival(String name, Duration lease) {
        return locker(name, lease);
    }

    /** Whether the lockers share a lock among themselves, and only rivals are kept out. */
    default boolean shared() {
        return false;
    }

    /** The keys of the lock. The first one shows the lease. */
    default List<String> keys(String name) {
        return List.of(name);
    }

    /** The cases that the library has nothing for. */
    default Set<String> none() {
        return Set.of();
    }

    /** Whether extending looks at who holds the lock. */
    default boolean extendsOwnOnly() {
        return true;
    }

    /** Whether a key shows the lease of a held lock. */
    default boolean leases() {
        return true;
    }

    /** Whether the server has a fencing token for a held lock. */
    default boolean hasToken() {
        return true;
    }

    /** The lease of those that wait in turn: what a waiter loses by a wake-up that its library drops. */
    default Duration turnLease() {
        return Duration.ofSeconds(10);
    }

    /** To what a lease is cut before it is extended: above what the library lets pass by itself. */
    default Duration cut() {
        return Duration.ofSeconds(1);
    }
}
