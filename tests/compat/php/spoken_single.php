<?php

declare(strict_types=1);

// Libraries that no registry serves here, for one server: what they send is spoken in
// our own words, over predis.

/** cheprasov/php-redis-lock: scripts by their hash, and a value of process, time and chance. */
final class CheprasovLibrary extends PredisLibrary
{
    public function locker(string $name, float $lease): Locker
    {
        return new CheprasovLocker($this->redis, $name, millis($lease));
    }
}

final class CheprasovLocker extends PredisLocker
{
    public function __construct(Predis\Client $redis, string $name, int $millis)
    {
        parent::__construct($redis, $name, $millis);
        $this->value = implode(':', [getmypid(), microtime(true), random_int(1, 9999)]);
    }

    public function tryLock(): bool
    {
        // It multiplies seconds, so that the time is a float, which PHP writes without a point.
        return $this->redis->set($this->name, $this->value, 'PX', (float) $this->millis, 'NX') !== null;
    }
}

/** rtckit/reactphp-redlock: NX before the time, the script always as text, no extension. */
final class ReactLibrary extends PredisLibrary
{
    public const EXTENDS = false;

    public function locker(string $name, float $lease): Locker
    {
        return new ReactLocker($this->redis, $name, millis($lease));
    }
}

final class ReactLocker extends PredisLocker
{
    use NeverExtends;

    public function tryLock(): bool
    {
        return $this->redis->set($this->name, $this->value, 'NX', 'PX', $this->millis) !== null;
    }

    public function unlock(): ?bool
    {
        return (bool) $this->redis->eval(DELETE_IF_EQUAL, 1, $this->name, $this->value);
    }
}
