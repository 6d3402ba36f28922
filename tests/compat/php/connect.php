<?php

declare(strict_types=1);

const CONNECT_SECONDS = 2.0;
const READ_SECONDS = 10.0;

/**
 * Connects php-redis. A server that can't be reached leaves a client that throws at
 * its first command, as one does whose server died later: of several masters one may be dead.
 */
function phpRedis(string $address): Redis
{
    [$host, $port] = explode(':', $address);
    $client = new Redis();
    try {
        $client->connect($host, (int) $port, CONNECT_SECONDS, null, 0, READ_SECONDS);
    } catch (RedisException) {
    }
    return $client;
}

/** Makes a predis client, which connects at its first command. */
function predis(string $address): Predis\Client
{
    [$host, $port] = explode(':', $address);
    return new Predis\Client([
        'host' => $host, 'port' => (int) $port, 'timeout' => CONNECT_SECONDS, 'read_write_timeout' => READ_SECONDS,
    ]);
}
