# SPDX-License-Identifier: MIT
# LWP on kept connections: up to TRIES tries for each unit. Usage: HOST PORT COUNT TRIES
use strict;
use warnings;
use LWP::UserAgent;

my ($host, $port, $count, $tries) = @ARGV;
my $agent = LWP::UserAgent->new(keep_alive => 1, timeout => 15);
for my $name (0 .. $count - 1) {
    open(my $word, '<', "/.unit/$name");
    for (1 .. $tries) {
        last if $agent->get("http://$host:$port/u/$name")->is_success;
        select(undef, undef, undef, 0.03);
    }
    select(undef, undef, undef, 0.005);
}
