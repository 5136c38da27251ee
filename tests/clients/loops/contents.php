<?php
// SPDX-License-Identifier: MIT
// file_get_contents over PHP's own HTTP wrapper: non-blocking connects, polled at once.
[, $how, $host, $port] = $argv;
$url = "http://$host:$port/";
if ($how === 'get') {
    for ($i = 0; $i < (int) $argv[4]; $i++) {
        $page = @file_get_contents($url);
        if ($page === false) {
            exit(1);
        }
        echo $page;
    }
    exit(0);
}
while (($page = @file_get_contents($url)) === false);
echo $page;
