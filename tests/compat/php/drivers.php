<?php

declare(strict_types=1);

// The plain drivers, as those use them who lock without a library: SET NX PX, and
// scripts that compare the value first.

const DELETE_IF_EQUAL = <<<'LUA'
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call('DEL', KEYS[1])
    LUA;
const EXPIRE_IF_EQUAL = <<<'LUA'
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
    LUA;

/** Milliseconds of a lease in seconds. */
function millis(float $lease): int
{
    return (int) round($lease * 1000);
}

final class PhpRedisLibrary extends Library
{
    private Redis $redis;

    public function __construct(array $addresses)
    {
        $this->redis = phpRedis($addresses[0]);
    }

    public function locker(string $name, float $lease): Locker
    {
        return new PhpRedisLocker($this->redis, $name, millis($lease));
    }
}

final class PhpRedisLocker implements Locker
{
    use Polls;

    private string $value;

    public function __construct(private Redis $redis, private string $name, private int $millis)
    {
        $this->value = bin2hex(random_bytes(16));
    }

    public function tryLock(): bool
    {
        return $this->redis->set($this->name, $this->value, ['nx', 'px' => $this->millis]);
    }

    public function extend(): bool
    {
        return $this->script(EXPIRE_IF_EQUAL, $this->value, $this->millis) === 1;
    }

    public function unlock(): ?bool
    {
        return $this->script(DELETE_IF_EQUAL, $this->value) === 1;
    }

    /** Asks by the script's hash first: php-redis never falls back by itself. */
    private function script(string $text, string|int ...$args): mixed
    {
        $this->redis->clearLastError();
        $reply = $this->redis->evalSha(sha1($text), [$this->name, ...$args], 1);
        if ($reply === false && str_starts_with((string) $this->redis->getLastError(), 'NOSCRIPT')) {
            $reply = $this->redis->eval($text, [$this->name, ...$args], 1);
        }
        return $reply;
    }
}

/** A script as a command of predis, which sends EVALSHA and then EVAL by itself. */
final class DeleteIfEqual extends Predis\Command\ScriptCommand
{
    public function getKeysCount(): int
    {
        return 1;
    }

    public function getScript(): string
    {
        return DELETE_IF_EQUAL;
    }
}

final class ExpireIfEqual extends Predis\Command\ScriptCommand
{
    public function getKeysCount(): int
    {
        return 1;
    }

    public function getScript(): string
    {
        return EXPIRE_IF_EQUAL;
    }
}

class PredisLibrary extends Library
{
    protected Predis\Client $redis;

    public function __construct(array $addresses)
    {
        $this->redis = predis($addresses[0]);
        $this->redis->getProfile()->defineCommand('deleteifequal', DeleteIfEqual::class);
        $this->redis->getProfile()->defineCommand('expireifequal', ExpireIfEqual::class);
    }

    public function locker(string $name, float $lease): Locker
    {
        return new PredisLocker($this->redis, $name, millis($lease));
    }
}

class PredisLocker implements Locker
{
    use Polls;

    protected string $value;

    public function __construct(protected Predis\Client $redis, protected string $name, protected int $millis)
    {
        $this->value = bin2hex(random_bytes(16));
    }

    public function tryLock(): bool
    {
        return $this->redis->set($this->name, $this->value, 'PX', $this->millis, 'NX') !== null;
    }

    public function extend(): bool
    {
        return $this->redis->expireifequal($this->name, $this->value, $this->millis) === 1;
    }

    public function unlock(): ?bool
    {
        return $this->redis->deleteifequal($this->name, $this->value) === 1;
    }
}
