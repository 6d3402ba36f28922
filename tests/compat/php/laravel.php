<?php

declare(strict_types=1);

use Illuminate\Cache\Lock;
use Illuminate\Cache\RedisStore;
use Illuminate\Cache\Repository;
use Illuminate\Redis\RedisManager;

/** Laravel's Cache::lock on its Redis store, with the prefixes that a fresh application has. */
abstract class LaravelLibrary extends Library
{
    public const SHORTEST = 1.0; // it counts whole seconds
    public const EXTENDS = false;

    protected const DRIVER = '';

    private const DATABASE_PREFIX = 'laravel_database_';
    private const CACHE_PREFIX = 'laravel_cache';

    private Repository $cache;

    public function __construct(array $addresses)
    {
        [$host, $port] = explode(':', $addresses[0]);
        $manager = new RedisManager(null, static::DRIVER, [
            'options' => ['prefix' => self::DATABASE_PREFIX],
            'default' => ['host' => $host, 'port' => (int) $port, 'database' => 0],
        ]);
        $this->cache = new Repository(new RedisStore($manager, self::CACHE_PREFIX));
    }

    public function locker(string $name, float $lease): Locker
    {
        return new LaravelLocker($this->cache->lock($name, (int) $lease));
    }

    public function key(string $name): string
    {
        return self::DATABASE_PREFIX . self::CACHE_PREFIX . ':' . $name;
    }
}

final class LaravelOnPhpRedis extends LaravelLibrary
{
    protected const DRIVER = 'phpredis';
}

final class LaravelOnPredis extends LaravelLibrary
{
    protected const DRIVER = 'predis';
}

final class LaravelLocker implements Locker
{
    use NeverExtends;

    private const WAIT_SECONDS = 30;

    public function __construct(private Lock $lock)
    {
    }

    public function tryLock(): bool
    {
        return $this->lock->get();
    }

    public function lock(): void
    {
        $this->lock->betweenBlockedAttemptsSleepFor(50)->block(self::WAIT_SECONDS);
    }

    public function unlock(): ?bool
    {
        return $this->lock->release();
    }
}
