<?php

// Takes the lock "report" with Laravel's cache. In an application the facades Cache
// and Redis stand for $cache and $redis, and the key has the application's prefixes.

require 'vendor/autoload.php';

use Illuminate\Cache\RedisStore;
use Illuminate\Cache\Repository;
use Illuminate\Redis\RedisManager;

$redis = new RedisManager(null, 'phpredis', ['default' => ['host' => '127.0.0.1', 'port' => 6379]]);
$cache = new Repository(new RedisStore($redis));

$cache->lock('report', 8)->block(5, function () use ($redis) {
    $token = $redis->executeRaw(['LOCK.TOKEN', 'report']);
    echo "locked $token\n";
});
