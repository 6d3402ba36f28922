<?php

declare(strict_types=1);

use malkusch\lock\exception\LockReleaseException;
use malkusch\lock\exception\TimeoutException;
use malkusch\lock\mutex\Mutex;
use malkusch\lock\mutex\PHPRedisMutex;
use malkusch\lock\mutex\PredisMutex;

/**
 * malkusch/lock, which knows only "run this while you hold the lock": a fiber holds
 * it while it is suspended in there.
 */
abstract class MalkuschLibrary extends Library
{
    public const SHORTEST = 2.0; // a second, which is also how long it waits, and one more
    public const EXTENDS = false;

    /** @var array<Redis|Predis\Client> */
    protected array $clients;

    public function locker(string $name, float $lease): Locker
    {
        return new MalkuschLocker($this->mutex($name, max(1, (int) $lease - 1)));
    }

    abstract protected function mutex(string $name, int $timeout): Mutex;

    public function key(string $name): string
    {
        return 'lock_' . $name;
    }
}

final class MalkuschOnPhpRedis extends MalkuschLibrary
{
    public function __construct(array $addresses)
    {
        $this->clients = array_map('phpRedis', $addresses);
    }

    protected function mutex(string $name, int $timeout): Mutex
    {
        return new PHPRedisMutex($this->clients, $name, $timeout);
    }
}

final class MalkuschOnPredis extends MalkuschLibrary
{
    public function __construct(array $addresses)
    {
        $this->clients = array_map('predis', $addresses);
    }

    protected function mutex(string $name, int $timeout): Mutex
    {
        return new PredisMutex($this->clients, $name, $timeout);
    }
}

final class MalkuschLocker implements Locker
{
    use NeverExtends;

    private ?Fiber $holder = null;

    public function __construct(private Mutex $mutex)
    {
    }

    /** Ends a holder that is still inside: its lease may have ended, which the library throws at. */
    public function __destruct()
    {
        try {
            $this->unlock();
        } catch (Throwable) {
        }
    }

    public function tryLock(): bool
    {
        try {
            $this->lock();
            return true;
        } catch (TimeoutException) {
            return false;
        }
    }

    public function lock(): void
    {
        $holder = new Fiber(fn () => $this->mutex->synchronized(fn () => Fiber::suspend()));
        $holder->start();
        $this->holder = $holder;
    }

    public function unlock(): ?bool
    {
        $holder = $this->holder;
        $this->holder = null;
        if ($holder === null) {
            return false;
        }
        try {
            $holder->resume();
            return true;
        } catch (LockReleaseException) {
            return false;
        }
    }
}
