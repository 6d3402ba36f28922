package Plain;

# The plain driver, as those use it who lock without a library: SET NX PX, and scripts
# that compare the value first, asked for by their hash.

use strict;
use warnings;

use Connect;
use Digest::SHA qw(sha1_hex);
use Time::HiRes qw(sleep);

# Whether an extension fails for who isn't the holder, and the lease in seconds of who waits.
use constant { EXTENSION_CHECKS => 1, WAIT_LEASE => 10, TAKERS => 8 };

my $DELETE_IF_EQUAL = <<'LUA';
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
LUA
my $EXPIRE_IF_EQUAL = <<'LUA';
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
LUA

sub version { return $Redis::VERSION }

# Makes one holder-to-be, with a connection and a value of its own.
sub new {
    my ($class, $addresses, $name, $lease) = @_;
    return bless { redis => to($addresses->[0]), name => $name, millis => int($lease * 1000), value => random_text() }, $class;
}

# Takes the lock if it is free.
sub try_lock {
    my ($self) = @_;
    return defined $self->{redis}->set($self->{name}, $self->{value}, 'NX', 'PX', $self->{millis});
}

# Takes the lock; users of the plain driver poll.
sub lock {
    my ($self) = @_;
    sleep 0.01 + rand 0.02 until $self->try_lock;
}

sub extend {
    my ($self) = @_;
    return $self->script($EXPIRE_IF_EQUAL, $self->{value}, $self->{millis}) == 1;
}

sub unlock {
    my ($self) = @_;
    return $self->script($DELETE_IF_EQUAL, $self->{value}) == 1;
}

sub script {
    my ($self, $text, @args) = @_;
    my @call = (1, $self->{name}, @args);
    my $answer = eval { $self->{redis}->evalsha(sha1_hex($text), @call) };
    return $answer if defined $answer;
    die $@ if $@ !~ /^\[evalsha\] NOSCRIPT /;
    return $self->{redis}->eval($text, @call);
}

1;
