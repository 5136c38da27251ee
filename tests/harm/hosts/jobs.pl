# SPDX-License-Identifier: MIT
# Jobs in Perl, one after the other: jobs.pl SECONDS RATE TRIES PORT=KIND...
use strict;
use warnings;
use HTTP::Tiny;
use Time::HiRes qw(sleep time);

my ($seconds, $rate, $tries, @targets) = @ARGV;
my $http = HTTP::Tiny->new(timeout => 2, keep_alive => 0);
my $started = time;
for my $number (0 .. int($seconds * $rate) - 1) {
    my $due = $started + $number / $rate;
    last if time > $started + $seconds;
    sleep($due - time) if $due > time;
    my ($port, $kind) = split /=/, $targets[$number % @targets];
    my $word;
    for (1 .. $tries) {
        my $reply = $http->get("http://127.0.0.1:$port/$kind$number");
        $word = $reply->{success} ? ($reply->{content} eq "/$kind$number" ? 'ok' : 'WRONG')
            : $reply->{status} != 599 ? "HTTP$reply->{status}"
            : $reply->{content} =~ /refused/ ? 'ECONNREFUSED'
            : $reply->{content} =~ /timed out/ ? 'ETIMEDOUT' : 'EOF';
        last if $word eq 'ok';
    }
    printf "%s %.2f %s\n", $kind, (time - $due) * 1e3, $word;
}
