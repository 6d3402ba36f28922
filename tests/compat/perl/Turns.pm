package Turns;

# What the lock protects: a folder that processes enter one at a time, and that notes
# when two are in it.

use strict;
use warnings;

use Fcntl qw(:flock);
use File::Temp;

sub new {
    my ($class) = @_;
    return bless { folder => File::Temp->newdir }, $class;
}

sub enter {
    my ($self) = @_;
    mkdir "$self->{folder}/inside" or $self->note('clash');
    $self->note('turn');
}

sub leave {
    my ($self) = @_;
    rmdir "$self->{folder}/inside";
}

sub note {
    my ($self, $line) = @_;
    open my $notes, '>>', "$self->{folder}/notes" or die "notes: $!";
    flock $notes, LOCK_EX;
    syswrite $notes, "$line\n";
}

# What was noted, as one line for equal ones: "8 turn".
sub seen {
    my ($self) = @_;
    open my $notes, '<', "$self->{folder}/notes" or return 'nothing';
    my %times;
    $times{$_}++ for map { s/\s+$//r } <$notes>;
    return join ', ', map { "$times{$_} $_" } sort keys %times;
}

1;
