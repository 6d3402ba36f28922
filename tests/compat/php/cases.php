<?php

declare(strict_types=1);

/** A case that didn't go as it must. */
final class Failed extends Exception
{
}

/** The cases of one library; ../README.md says what each asks. */
final class Cases
{
    public const ALL = ['acquire', 'contended', 'extend', 'release', 'foreign', 'expiry', 'wait'];

    private const LEASE = 10.0;
    private const FREE_WITHIN = 5.0;
    private const TAKERS = 8;
    private const TURN_MICROS = 10_000;
    private const CASE_SECONDS = 60;

    /** @var Redis[] */
    private array $probes;
    private Library $library;

    /**
     * @param class-string<Library> $class
     * @param string[] $addresses
     */
    public function __construct(private string $class, private array $addresses)
    {
        $this->probes = array_map('phpRedis', $addresses);
    }

    /** Runs a case on a connection of its own, and says how it went. */
    public function run(string $case, string $name): string
    {
        if ($case === 'extend' && !$this->class::EXTENDS) {
            return 'none';
        }
        try {
            $this->limit();
            if ($case === 'wait') {
                // Its processes connect by themselves: none may share a socket.
                $this->wait($name);
                return 'ok';
            }
            $this->library = new $this->class($this->addresses);
            $this->$case($name);
            return 'ok';
        } catch (Throwable $e) {
            return 'FAIL ' . strtr($e->getMessage(), "\n", ' ');
        } finally {
            $this->leave($name);
        }
    }

    /** Leaves nothing to the next case, which may have the same key: one library calls all its locks alike. */
    private function leave(string $name): void
    {
        pcntl_alarm(0);
        if (isset($this->library)) {
            $this->everywhere('DEL', $this->library->key($name));
            unset($this->library);
        }
    }

    /** Throws where this process is when the case takes too long. */
    private function limit(): void
    {
        pcntl_async_signals(true);
        pcntl_signal(SIGALRM, fn () => throw new Failed('it took over ' . self::CASE_SECONDS . ' s'));
        pcntl_alarm(self::CASE_SECONDS);
    }

    private function must(bool $holds, string $else): void
    {
        if (!$holds) {
            throw new Failed($else);
        }
    }

    /** Takes a free name without waiting. */
    private function take(string $name, float $lease = self::LEASE): Locker
    {
        $locker = $this->library->locker($name, $lease);
        $this->must($locker->tryLock(), 'not taken');
        return $locker;
    }

    /**
     * Sends a command to every server; of several masters one may be dead.
     *
     * @return mixed[] the answers
     */
    private function everywhere(string ...$command): array
    {
        $answers = [];
        foreach ($this->probes as $probe) {
            try {
                $answers[] = $probe->rawCommand(...$command);
            } catch (RedisException) {
            }
        }
        $this->must(count($answers) * 2 > count($this->probes), 'no majority of the servers answers');
        return $answers;
    }

    /** What the lock has left at the first address, in seconds. */
    private function left(string $name): float
    {
        return $this->probes[0]->pttl($this->library->key($name)) / 1000;
    }

    private function acquire(string $name): void
    {
        $held = $this->take($name);
        $left = $this->left($name);
        $this->must($left > 0 && $left <= self::LEASE + $this->library::ADDS, "the lease is $left s");
        if (count($this->addresses) > 1 && !$this->library::TOKEN_OF_SEVERAL) {
            return;
        }
        foreach ($this->everywhere('LOCK.TOKEN', $this->library->key($name)) as $token) {
            $this->must(is_int($token) && $token > 0, 'the token is ' . json_encode($token));
        }
    }

    private function contended(string $name): void
    {
        $held = $this->take($name);
        // Who can't ask without waiting waits as long as its lease is; so a short one.
        $other = $this->library->locker($name, $this->library::SHORTEST);
        $this->must(!$other->tryLock(), 'taken twice');
    }

    private function extend(string $name): void
    {
        $held = $this->take($name);
        $this->everywhere('PEXPIRE', $this->library->key($name), '1000');
        $this->must($held->extend(), 'not extended');
        $left = $this->left($name);
        $this->must($left > self::LEASE / 2, "the lease is $left s after extending");
    }

    private function release(string $name): void
    {
        $this->must($this->take($name)->unlock() !== false, 'not released');
        $next = $this->take($name);
    }

    private function foreign(string $name): void
    {
        $former = $this->take($name);
        $this->everywhere('DEL', $this->library->key($name));
        $holder = $this->take($name);
        $this->must($former->unlock() !== true, 'the former holder was told that it released the lock');
        $this->must($this->left($name) > 0, "the former holder released its successor's lock");
    }

    private function expiry(string $name): void
    {
        $lease = $this->library::SHORTEST;
        $began = hrtime(true);
        $former = $this->take($name, $lease);
        $holder = $this->library->locker($name, self::LEASE);
        while (!$holder->tryLock()) {
            $this->must(hrtime(true) - $began < self::FREE_WITHIN * 1e9, 'not free in time');
        }
        $took = (hrtime(true) - $began) / 1e9;
        $this->must($took >= $lease * 0.99, "taken from its holder after $took of $lease s");
        $this->must($took < self::FREE_WITHIN, "free only after $took s");
        $this->must(!$this->library::EXTENDS || !$former->extend(), 'extended after it had ended');
    }

    /** Processes take turns; what the lock protects counts who is in. */
    private function wait(string $name): void
    {
        $turns = new Turns();
        $takers = [];
        for ($i = 0; $i < self::TAKERS; $i++) {
            $taker = pcntl_fork();
            if ($taker === 0) {
                $this->takeTurn($name, $turns);
            }
            $takers[] = $taker;
        }
        try {
            foreach ($takers as $taker) {
                pcntl_waitpid($taker, $status);
            }
        } finally {
            array_map(fn ($taker) => posix_kill($taker, SIGKILL), $takers);
            $seen = $turns->end();
        }
        $this->must($seen === ['turn' => self::TAKERS], 'seen in the turns: ' . json_encode($seen));
    }

    private function takeTurn(string $name, Turns $turns): never
    {
        try {
            $this->limit();
            $locker = (new $this->class($this->addresses))->locker($name, self::LEASE);
            $locker->lock();
            $turns->enter();
            usleep(self::TURN_MICROS); // so that the others find it held
            $turns->leave();
            $this->must($locker->unlock() !== false, 'not released');
        } catch (Throwable $e) {
            $turns->fail($e);
        }
        exit(0);
    }
}
