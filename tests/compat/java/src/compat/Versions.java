package compat;

import java.nio.file.Path;

/** Which version of a library runs, by the name of the file that it was loaded from. */
final class Versions {
    private Versions() {
    }

    /** The version in the name of the file that has the class: 4.7.0 of redisson-4.7.0.jar. */
    static String of(Class<?> loaded) {
        String file = Path.of(loaded.getProtectionDomain().getCodeSource().getLocation().getPath()).getFileName().toString();
        return file.replaceFirst("^\\D*-(?=\\d)", "").replaceFirst("(\\.RELEASE)?\\.jar$", "");
    }
}
