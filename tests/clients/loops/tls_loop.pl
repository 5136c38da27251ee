# SPDX-License-Identifier: MIT
# LWP::UserAgent with kept connections, or HTTP::Tiny, over TLS.
# Usage: tls_loop.pl lwp|tiny until|get HOST PORT [N], as tls_loop.py
use strict;
use warnings;

my ($how, $what, $host, $port, $left) = @ARGV;
my $agent;
if ($how eq 'lwp') {
    require LWP::UserAgent;
    $agent = LWP::UserAgent->new(env_proxy => 0, keep_alive => 1,
        ssl_opts => { verify_hostname => 0, SSL_verify_mode => 0 });
} else {
    require HTTP::Tiny;
    $agent = HTTP::Tiny->new(verify_SSL => 0);
}

sub ask {
    my $reply = $agent->get("https://$host:$port/");
    return $how eq 'lwp' ? ($reply->code, $reply->content) : ($reply->{status}, $reply->{content});
}

$left = 1 if $what eq 'until';
while ($left) {
    my ($status, $page) = ask();
    if ($status == 200) {
        print $page;
        $left--;
    } elsif ($what eq 'get') {
        die "status $status: $page";
    }
}
