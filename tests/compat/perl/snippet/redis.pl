# Takes the lock "report" with the module Redis.

use strict;
use warnings;

use Redis;

my $RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

my $redis = Redis->new(server => '127.0.0.1:6379');
open my $random, '<:raw', '/dev/urandom' or die $!;
read $random, my $bytes, 16;
my $owner = unpack 'H*', $bytes;
$redis->set('report', $owner, 'NX', 'PX', 8000) or die "held by another\n";
my $token = $redis->${\'LOCK.TOKEN'}('report');
print "locked $token\n";
$redis->eval($RELEASE, 1, 'report', $owner);
