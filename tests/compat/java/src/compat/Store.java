package compat;

import java.time.Duration;
import java.util.List;

/** What a lock of few commands needs of a driver. */
interface Store {
    /** SET with NX and PX: whether it was set. */
    boolean add(String key, String value, Duration lease);

    /** SET with XX and PX: whether it was set. */
    boolean replace(String key, String value, Duration lease);

    void delete(String key);

    /** EVALSHA of a script that answers a number, and after NOSCRIPT EVAL of its text. */
    long script(Script script, String key, List<String> args);

    /** The driver's name and version. */
    String version();
}
