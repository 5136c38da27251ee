# SPDX-License-Identifier: MIT
# HTTP::Tiny from Perl's core.
use strict;
use warnings;
use HTTP::Tiny;

my ($how, $host, $port, $count) = @ARGV;
my $agent = HTTP::Tiny->new(keep_alive => 0);

sub fetch {
    my $page = $agent->get("http://$host:$port/");
    return $page->{success} ? $page->{content} : undef;
}

if ($how eq 'get') {
    for (1 .. $count) {
        my $page = fetch() // exit 1;
        print $page;
    }
    exit 0;
}
while (1) {
    my $page = fetch();
    if (defined $page) { print $page; last; }
}
