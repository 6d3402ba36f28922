package compat;

import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Drives a lock library against the servers named; ../../../README.md says what it prints. */
public final class Main {
    private static final long CASE_SECONDS = 60;

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 3 || !Libraries.known(args[0])) {
            System.err.println("usage: java compat.Main LIBRARY ADDRESS[,ADDRESS...] PREFIX");
            System.exit(2);
        }
        Library library = Libraries.open(args[0], args[1]);
        System.out.println("version " + library.version());
        boolean passed = runAll(library, new Cases(library, new Probe(args[1])), args[2]);
        // What the drivers keep running doesn't keep the program from its end.
        System.exit(passed ? 0 : 1);
    }

    private static boolean runAll(Library library, Cases cases, String prefix) {
        boolean passed = true;
        ExecutorService runner = Executors.newCachedThreadPool();
        for (Map.Entry<String, Cases.Case> c : cases.all().entrySet()) {
            String result = "none";
            if (!library.none().contains(c.getKey())) {
                result = run(runner, c.getValue(), prefix + ":" + c.getKey());
                passed &= result.equals("ok");
            }
            System.out.println(c.getKey() + " " + result);
        }
        return passed;
    }

    private static String run(ExecutorService runner, Cases.Case c, String name) {
        Future<?> running = runner.submit(() -> {
            c.run(name);
            return null;
        });
        try {
            running.get(CASE_SECONDS, TimeUnit.SECONDS);
            return "ok";
        } catch (ExecutionException e) {
            e.getCause().printStackTrace();
            return "FAIL " + String.valueOf(e.getCause()).lines().findFirst().orElse("");
        } catch (TimeoutException e) {
            return "FAIL not ended after " + CASE_SECONDS + " s";
        } catch (InterruptedException e) {
            return "FAIL interrupted";
        }
    }
}
