# SPDX-License-Identifier: MIT
# LWP::UserAgent with its default settings (a timeout of 180 s: non-blocking connects).
use strict;
use warnings;
use LWP::UserAgent;

my ($how, $host, $port, $count) = @ARGV;
my $agent = LWP::UserAgent->new(env_proxy => 0);

sub fetch {
    my $page = $agent->get("http://$host:$port/");
    return $page->is_success ? $page->decoded_content : undef;
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
