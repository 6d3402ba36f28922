<?php

declare(strict_types=1);

// Libraries that no registry serves here, for one server or several masters: what they
// send is spoken in our own words, over php-redis.

abstract class SpokenLibrary extends Library
{
    public const EXTENDS = false;

    /** @var Redis[] */
    protected array $masters;

    public function __construct(array $addresses)
    {
        $this->masters = array_map('phpRedis', $addresses);
    }
}

/** redlock-php: in series, with a quorum that isn't rounded, so that it takes all of three. */
final class RedlockPhpLibrary extends SpokenLibrary
{
    public function locker(string $name, float $lease): Locker
    {
        return new RedlockPhpLocker($this->masters, $name, millis($lease));
    }
}

final class RedlockPhpLocker implements Locker
{
    use NeverExtends;
    use Polls;

    private string $token;

    /** @param Redis[] $masters */
    public function __construct(private array $masters, private string $name, private int $millis)
    {
        // The library goes without the process, and so has equal values now and then, on any server.
        $this->token = uniqid((string) getmypid());
    }

    public function tryLock(): bool
    {
        $began = microtime(true);
        $votes = 0;
        foreach ($this->masters as $master) {
            $votes += (int) $master->set($this->name, $this->token, ['NX', 'PX' => $this->millis]);
        }
        $valid = $this->millis - (microtime(true) - $began) * 1000 - ($this->millis * 0.01 + 2);
        if ($votes >= min(count($this->masters), count($this->masters) / 2 + 1) && $valid > 0) {
            return true;
        }
        $this->unlock();
        return false;
    }

    public function unlock(): ?bool
    {
        foreach ($this->masters as $master) {
            $master->eval(DELETE_IF_EQUAL, [$this->name, $this->token], 1);
        }
        return null;
    }
}

/**
 * php-lock/lock 3: RedisMutex for one server; DistributedMutex for several, where each
 * gets a value of its own, and where the key is the same whatever is locked.
 */
final class PhpLock3Library extends SpokenLibrary
{
    public const ADDS = 0.001;
    public const TOKEN_OF_SEVERAL = false;

    public function locker(string $name, float $lease): Locker
    {
        return new PhpLock3Locker($this->masters, $this->key($name), millis($lease + self::ADDS));
    }

    public function key(string $name): string
    {
        return count($this->masters) > 1 ? 'distributed' : 'php-malkusch-lock:' . $name;
    }
}

final class PhpLock3Locker implements Locker
{
    use NeverExtends;
    use Polls;

    /** @var array<int, string> the value with each master that agreed */
    private array $tokens = [];

    /** @param Redis[] $masters */
    public function __construct(private array $masters, private string $key, private int $millis)
    {
    }

    public function tryLock(): bool
    {
        $this->tokens = [];
        $order = array_keys($this->masters);
        shuffle($order);
        $refused = 0;
        $errors = [];
        foreach ($order as $i) {
            $token = bin2hex(random_bytes(32));
            try {
                if ($this->masters[$i]->set($this->key, $token, ['nx', 'px' => $this->millis])) {
                    $this->tokens[$i] = $token;
                    continue;
                }
            } catch (RedisException $e) {
                $errors[] = $e;
            }
            if (!self::majority(count($order) - ++$refused, count($order))) {
                break;
            }
        }
        if (self::majority(count($this->tokens), count($order))) {
            return true;
        }
        $this->unlock();
        if (count($errors) * 2 > count($order)) {
            throw $errors[0];
        }
        return false;
    }

    public function unlock(): ?bool
    {
        $released = 0;
        foreach ($this->tokens as $i => $token) {
            try {
                $released += $this->masters[$i]->eval(DELETE_IF_EQUAL, [$this->key, $token], 1);
            } catch (RedisException) {
                // A vote that can't be taken back runs out.
            }
        }
        return self::majority($released, count($this->tokens));
    }

    private static function majority(int $votes, int $of): bool
    {
        return $votes * 2 > $of;
    }
}
