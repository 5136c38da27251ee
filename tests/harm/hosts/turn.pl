# SPDX-License-Identifier: MIT
# One job after the other, each a connection of its own: those in /h are asked once, those in /d, which are every so
# many, again and again until they are answered. turn.pl SECONDS PORT EVERY TRIES
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(sleep time);

my ($seconds, $port, $every, $tries) = @ARGV;

sub ask {
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 3)
        or return $!{ECONNREFUSED} ? 'ECONNREFUSED' : $!{ETIMEDOUT} ? 'ETIMEDOUT' : 'OSError';
    print $socket "GET $_[0] HTTP/1.0\r\n\r\n";
    my $reply = <$socket>;
    return !defined $reply ? 'EOF' : $reply =~ / 200 / ? 'ok' : 'HTTP';
}

my $end = time + $seconds;
for (my $number = 1; time < $end; $number++) {
    my ($kind, $since, $word) = ($number % $every ? 'h' : 'd', time);
    for (1 .. ($kind eq 'd' ? $tries : 1)) {
        $word = ask("/$kind$number");
        last if $word eq 'ok';
        sleep 0.02;
    }
    printf "%s %.2f %s\n", $kind, (time - $since) * 1e3, $word;
    sleep 0.04;
}
