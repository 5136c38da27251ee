# SPDX-License-Identifier: MIT
# Waits until a port is up: 50 tries, 0.1 s apart.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(sleep time);

my $began = time;
for (1 .. 50) {
    if (IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]", Proto => 'tcp', Timeout => 1)) {
        printf "h %.0f ok\n", (time - $began) * 1e3;
        last;
    }
    sleep 0.1;
}
