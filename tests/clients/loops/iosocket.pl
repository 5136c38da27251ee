# SPDX-License-Identifier: MIT
# IO::Socket::IP without a timeout: blocking connects; the reply through Perl's own buffering.
use strict;
use warnings;
use IO::Socket::IP;
$SIG{PIPE} = 'IGNORE';

my ($how, $host, $port, $count) = @ARGV;

sub fetch {
    my $socket = IO::Socket::IP->new(PeerHost => $host, PeerPort => $port, Type => SOCK_STREAM)
        or return undef;
    print $socket "hello from perl\n";
    $socket->flush;
    return scalar <$socket>;
}

if ($how eq 'get') {
    for (1 .. $count) {
        my $line = fetch() // exit 1;
        print $line;
    }
    exit 0;
}
while (1) {
    my $line = fetch();
    if (defined $line) { print $line; last; }
}
