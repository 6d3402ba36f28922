# Drives the lock libraries of Perl, as their users would, against servers that are
# named on the command line. ../README.md says what it prints and what each case asks.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use Cases;
use DistLock;
use Plain;

my %LIBRARIES = ('Redis.pm' => 'Plain', 'Redis::DistLock' => 'DistLock');

my ($name, $addresses, $prefix) = @ARGV;
if (@ARGV != 3 || !$LIBRARIES{$name}) {
    print STDERR "usage: main.pl LIBRARY ADDRESS[,ADDRESS...] PREFIX\n";
    exit 2;
}
$| = 1;
my $library = $LIBRARIES{$name};
print 'version ', $library->version, "\n";
my $cases = Cases->new($library, split /,/, $addresses);
my $failed = 0;
for my $case (@Cases::ALL) {
    my $result = $cases->run($case, "$prefix:$case");
    $failed ||= $result =~ /^FAIL/;
    print "$case $result\n";
}
exit($failed ? 1 : 0);
