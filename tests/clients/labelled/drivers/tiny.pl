# SPDX-License-Identifier: MIT
# HTTP::Tiny: up to TRIES tries for each unit. Usage: HOST PORT COUNT TRIES
use strict;
use warnings;
use HTTP::Tiny;

my ($host, $port, $count, $tries) = @ARGV;
my $http = HTTP::Tiny->new(keep_alive => 0, timeout => 15);
for my $name (0 .. $count - 1) {
    open(my $word, '<', "/.unit/$name");
    for (1 .. $tries) {
        last if $http->get("http://$host:$port/u/$name")->{success};
        select(undef, undef, undef, 0.03);
    }
    select(undef, undef, undef, 0.005);
}
