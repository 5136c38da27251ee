# SPDX-License-Identifier: MIT
# LWP::UserAgent with its default settings (non-blocking connects, for it has a timeout).
use strict;
use warnings;
use LWP::UserAgent;

my ($how, $host, $port, $count) = @ARGV;
my $agent = LWP::UserAgent->new(env_proxy => 0, timeout => $ENV{TIMEOUT} // 180);
my $said = '';

sub fetch {
    my $page = $agent->get("http://$host:$port/");
    return $page->decoded_content if $page->is_success && !$page->header('Client-Aborted');
    my $error = $page->header('X-Died') // $page->status_line;
    print STDERR $error, "\n" if $error ne $said;
    $said = $error;
    return undef;
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
