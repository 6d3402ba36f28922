<?php

declare(strict_types=1);

/** One holder-to-be of a lock. */
interface Locker
{
    /** Takes the lock if it is free. */
    public function tryLock(): bool;

    /** Takes the lock, waiting as the library waits. */
    public function lock(): void;

    /** Gives the holder its whole lease again, or says that it isn't the holder. */
    public function extend(): bool;

    /** Releases the lock; null where the library doesn't tell whether it did. */
    public function unlock(): ?bool;
}

/** A lock library on a driver, connected to its servers. */
abstract class Library
{
    /** The shortest lease in seconds that it takes, if not as short as the cases like. */
    public const SHORTEST = 0.5;

    /** What it adds by itself to a lease, in seconds. */
    public const ADDS = 0.0;

    /** Whether a holder can have its lease again. */
    public const EXTENDS = true;

    /** Whether its lock has a fencing token on several masters, too: it has if they all have the same string. */
    public const TOKEN_OF_SEVERAL = true;

    /** @param string[] $addresses of its servers, each host:port */
    abstract public function __construct(array $addresses);

    /** Makes one holder-to-be, with a value of its own, of a lease in seconds. */
    abstract public function locker(string $name, float $lease): Locker;

    /** What the lock's key is called. */
    public function key(string $name): string
    {
        return $name;
    }
}

/** Polls as users of a plain driver do, and of libraries that leave the waiting to them. */
trait Polls
{
    public function lock(): void
    {
        while (!$this->tryLock()) {
            usleep(random_int(10_000, 30_000));
        }
    }
}

/** For libraries without a way to extend. */
trait NeverExtends
{
    public function extend(): bool
    {
        throw new LogicException('the library has no way to extend');
    }
}
