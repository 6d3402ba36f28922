package Connect;

use strict;
use warnings;

use Exporter qw(import);
use Redis;

our @EXPORT = qw(to random_text);

# Connects to a server, host:port, and dies where there is none.
sub to {
    my ($address) = @_;
    return Redis->new(server => $address, cnx_timeout => 2, read_timeout => 10, write_timeout => 10);
}

# A text that nobody else has.
sub random_text {
    open my $source, '<:raw', '/dev/urandom' or die "no random source: $!";
    read $source, my $bytes, 16;
    return unpack 'H*', $bytes;
}

1;
