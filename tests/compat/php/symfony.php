<?php

declare(strict_types=1);

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Store\CombinedStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\Lock\Strategy\ConsensusStrategy;

/** Symfony Lock: a RedisStore, or of several masters a CombinedStore by majority. */
abstract class SymfonyLibrary extends Library
{
    public const TOKEN_OF_SEVERAL = false; // its lock is a sorted set

    /** @var array<Redis|Predis\Client> */
    private array $clients;

    public function __construct(array $addresses)
    {
        $this->clients = array_map($this->connect(...), $addresses);
    }

    abstract protected function connect(string $address): Redis|Predis\Client;

    public function locker(string $name, float $lease): Locker
    {
        return new SymfonyLocker(new Lock(new Key($name), $this->store($lease), $lease));
    }

    private function store(float $lease): PersistingStoreInterface
    {
        $stores = array_map(fn ($client) => new RedisStore($client, $lease), $this->clients);
        return count($stores) === 1 ? $stores[0] : new CombinedStore($stores, new ConsensusStrategy());
    }
}

final class SymfonyOnPhpRedis extends SymfonyLibrary
{
    protected function connect(string $address): Redis
    {
        return phpRedis($address);
    }
}

final class SymfonyOnPredis extends SymfonyLibrary
{
    protected function connect(string $address): Predis\Client
    {
        return predis($address);
    }
}

final class SymfonyLocker implements Locker
{
    public function __construct(private Lock $lock)
    {
    }

    public function tryLock(): bool
    {
        return $this->lock->acquire();
    }

    public function lock(): void
    {
        $this->lock->acquire(true);
    }

    public function extend(): bool
    {
        try {
            $this->lock->refresh();
            return true;
        } catch (LockConflictedException) {
            return false;
        }
    }

    public function unlock(): ?bool
    {
        $this->lock->release();
        return null;
    }
}
