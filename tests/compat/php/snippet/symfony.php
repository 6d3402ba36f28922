<?php

// Takes the lock "report" with Symfony Lock.

require 'vendor/autoload.php';

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

$redis = new Redis();
$redis->connect('127.0.0.1', 6379);

$lock = (new LockFactory(new RedisStore($redis)))->createLock('report', ttl: 8);
$lock->acquire(blocking: true);
try {
    $token = $redis->rawCommand('LOCK.TOKEN', 'report');
    echo "locked $token\n";
} finally {
    $lock->release();
}
