package DistLock;

# Redis::DistLock, which no registry serves here: what it sends is spoken in our own
# words, over the module Redis.

use strict;
use warnings;

use Connect;
use Digest::SHA qw(sha1_hex);
use MIME::Base64 qw(encode_base64);
use Time::HiRes qw(sleep time);

# Its extension takes the lock from whoever has it. Votes of a try that failed stay
# until they run out, so that who waits asks for a short lease. Where each server has
# the vote of another failed try, nobody gets a quorum until two of them run out
# between two tries: so there are two, who ask seldom.
use constant { EXTENSION_CHECKS => 0, WAIT_LEASE => 2, TAKERS => 2 };

my $RELEASE = <<'LUA';
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
LUA
my $EXTEND = <<'LUA';
local set = redis.call('SET', KEYS[1], ARGV[1], 'XX', 'PX', ARGV[2])
if not set then set = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) end
if set then return 'OK' end
return false
LUA

sub version { return 'calls as of 0.07' }

# Makes one holder-to-be. It looks at each server that it reaches and dies without a
# quorum of them.
sub new {
    my ($class, $addresses, $name, $lease) = @_;
    my @servers = grep { defined } map { my $address = $_; eval { to($address) } } @$addresses;
    my $quorum = int(@$addresses / 2 + 1);
    die "no quorum of servers\n" if @servers < $quorum;
    look_at($_) for @servers;
    return bless {
        servers => \@servers, quorum => $quorum, name => $name, millis => int($lease * 1000),
        value => encode_base64(join('', map { chr int rand 256 } 1 .. 24), ''),
    }, $class;
}

# A server must be new enough, and know each script by the hash that the library has for it.
sub look_at {
    my ($server) = @_;
    my $version = $server->info->{redis_version};
    my @parts = $version =~ /^(\d+)\.(\d+)\.(\d+)$/ or die "the version is $version\n";
    die "version $version is too old\n" if sprintf('%05d%05d%05d', @parts) lt sprintf('%05d%05d%05d', 2, 6, 12);
    for my $script ($RELEASE, $EXTEND) {
        my $sha = $server->script_load($script);
        die "SCRIPT LOAD answered $sha\n" if $sha ne sha1_hex($script);
    }
}

sub try_lock {
    my ($self) = @_;
    return $self->agreed(sub { $_[0]->set($self->{name}, $self->{value}, 'NX', 'PX', $self->{millis}) });
}

sub lock {
    my ($self) = @_;
    sleep 0.05 + rand 2 until $self->try_lock;
}

sub extend {
    my ($self) = @_;
    my $sha = sha1_hex($EXTEND);
    return $self->agreed(sub { $_[0]->evalsha($sha, 1, $self->{name}, $self->{value}, $self->{millis}) });
}

# It counts no votes here, and dies where a server doesn't answer.
sub unlock {
    my ($self) = @_;
    $_->evalsha(sha1_hex($RELEASE), 1, $self->{name}, $self->{value}) for @{ $self->{servers} };
    return undef;
}

# Asks one server after the other, and says whether a quorum agreed while the lease is valid.
sub agreed {
    my ($self, $ask) = @_;
    my $began = time;
    my $votes = grep { my $server = $_; defined eval { $ask->($server) } } @{ $self->{servers} };
    my $took = (time - $began) * 1000;
    return $votes >= $self->{quorum} && $self->{millis} - $took - ($self->{millis} * 0.01 + 2) > 0;
}

1;
