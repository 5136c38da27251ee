# SPDX-License-Identifier: MIT
# IO::Socket::IP without a timeout: blocking connects; the reply through Perl's own buffering.
use strict;
use warnings;
use IO::Socket::IP;
use IO::Socket::UNIX;
$SIG{PIPE} = 'IGNORE';

my ($how, $host, $port, $count) = @ARGV;
my $said = '';

sub failed {
    my ($error) = @_;
    print STDERR "$error\n" if $error ne $said;
    $said = $error;
    return undef;
}

sub fetch {
    my $socket = $host =~ m{^/}
        ? IO::Socket::UNIX->new(Peer => $host)
        : IO::Socket::IP->new(PeerHost => $host, PeerPort => $port, Type => SOCK_STREAM);
    return failed($@ || "$!") unless $socket;
    print $socket "hello from perl\n";
    $socket->flush;
    $! = 0;
    my $line = <$socket>;
    return $line if defined $line && $line ne "error\n" && $line =~ /\n$/;
    return failed($! ? "$!" : 'no answer');
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
