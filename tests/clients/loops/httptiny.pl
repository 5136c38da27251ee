# SPDX-License-Identifier: MIT
# HTTP::Tiny from Perl's core.
use strict;
use warnings;
use HTTP::Tiny;

my ($how, $host, $port, $count) = @ARGV;
my $agent = HTTP::Tiny->new(keep_alive => 0, timeout => $ENV{TIMEOUT} // 60);
my $said = '';

sub fetch {
    my $page = $agent->get("http://$host:$port/");
    return $page->{content} if $page->{success};
    my $error = $page->{status} == 599 ? $page->{content} : $page->{reason};
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
