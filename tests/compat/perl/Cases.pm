package Cases;

# The cases of one library; ../README.md says what each asks.

use strict;
use warnings;

use Connect;
use POSIX ();
use Time::HiRes qw(sleep time);
use Turns;

our @ALL = qw(acquire contended extend release foreign expiry wait);

use constant {
    LEASE       => 10,
    SHORT_LEASE => 0.5,
    FREE_WITHIN => 5,
    TURN        => 0.01,
    CASE_LIMIT  => 60,
};

sub new {
    my ($class, $library, @addresses) = @_;
    my @probes = map { my $address = $_; scalar eval { to($address) } } @addresses;
    return bless { library => $library, addresses => \@addresses, probes => \@probes }, $class;
}

# Runs a case and says how it went.
sub run {
    my ($self, $case, $name) = @_;
    my $went = eval {
        local $SIG{ALRM} = sub { die 'it took over ' . CASE_LIMIT . " s\n" };
        alarm CASE_LIMIT;
        $self->can("case_$case")->($self, $name);
        1;
    };
    my $why = $@;
    alarm 0;
    return $went ? 'ok' : 'FAIL ' . ($why =~ s/\s+/ /gr);
}

sub must {
    my ($holds, $else) = @_;
    die "$else\n" if !$holds;
}

sub locker {
    my ($self, $name, $lease) = @_;
    return $self->{library}->new($self->{addresses}, $name, $lease // LEASE);
}

# Takes a free name without waiting.
sub take {
    my ($self, $name, $lease) = @_;
    my $locker = $self->locker($name, $lease);
    must($locker->try_lock, 'not taken');
    return $locker;
}

# Sends a command to every server and returns the answers; of several masters one may be dead.
sub everywhere {
    my ($self, $command, @args) = @_;
    my @answers = map { $_->$command(@args) } grep { defined } @{ $self->{probes} };
    must(@answers * 2 > @{ $self->{probes} }, 'no majority of the servers answers');
    return @answers;
}

# What the lock has left at the first address, in seconds.
sub left {
    my ($self, $name) = @_;
    return $self->{probes}[0]->pttl($name) / 1000;
}

sub case_acquire {
    my ($self, $name) = @_;
    my $holder = $self->take($name);
    my $left = $self->left($name);
    must($left > 0 && $left <= LEASE, "the lease is $left s");
    for my $token ($self->everywhere('LOCK.TOKEN', $name)) {
        must(($token // '') =~ /^[1-9]\d*$/, 'the token is ' . ($token // 'none'));
    }
}

sub case_contended {
    my ($self, $name) = @_;
    my $holder = $self->take($name);
    must(!$self->locker($name)->try_lock, 'taken twice');
}

sub case_extend {
    my ($self, $name) = @_;
    my $holder = $self->take($name);
    $self->everywhere('pexpire', $name, 1000);
    must($holder->extend, 'not extended');
    my $left = $self->left($name);
    must($left > LEASE / 2, "the lease is $left s after extending");
}

sub case_release {
    my ($self, $name) = @_;
    must($self->take($name)->unlock // 1, 'not released');
    $self->take($name);
}

sub case_foreign {
    my ($self, $name) = @_;
    my $former = $self->take($name);
    $self->everywhere('del', $name);
    my $holder = $self->take($name);
    must(!$former->unlock, 'the former holder was told that it released the lock');
    must($self->left($name) > 0, "the former holder released its successor's lock");
}

sub case_expiry {
    my ($self, $name) = @_;
    my $began = time;
    my $former = $self->take($name, SHORT_LEASE);
    my $other = $self->locker($name, $self->{library}->WAIT_LEASE);
    $other->lock;
    my $took = time - $began;
    must($took >= SHORT_LEASE * 0.99, "taken from its holder after $took of ${\SHORT_LEASE} s");
    must($took < FREE_WITHIN, "free only after $took s");
    must(!$self->{library}->EXTENSION_CHECKS || !$former->extend, 'extended after it had ended');
}

# Processes take turns; what the lock protects counts who is in.
sub case_wait {
    my ($self, $name) = @_;
    my $takers = $self->{library}->TAKERS;
    my $turns = Turns->new;
    my @takers;
    for (1 .. $takers) {
        my $taker = fork // die "fork: $!";
        $self->take_turn($name, $turns) if !$taker;
        push @takers, $taker;
    }
    eval { waitpid $_, 0 for @takers; 1 } or do {
        my $why = $@;
        kill KILL => @takers;
        die $why;
    };
    must($turns->seen eq "$takers turn", 'seen in the turns: ' . $turns->seen);
}

# In a process of its own, which ends without tidying up what its parent has.
sub take_turn {
    my ($self, $name, $turns) = @_;
    eval {
        alarm CASE_LIMIT;
        my $holder = $self->locker($name, $self->{library}->WAIT_LEASE);
        $holder->lock;
        $turns->enter;
        sleep TURN;    # so that the others find it held
        $turns->leave;
        must($holder->unlock // 1, 'not released');
        1;
    } or $turns->note("failed: $@");
    POSIX::_exit(0);
}

1;
