<?php
// SPDX-License-Identifier: MIT
// file_get_contents: up to TRIES tries for each unit. Usage: HOST PORT COUNT TRIES
[, $host, $port, $count, $tries] = $argv;
$context = stream_context_create(['http' => ['timeout' => 15]]);
for ($name = 0; $name < $count; $name++) {
    @fopen("/.unit/$name", 'r');
    for ($n = 0; $n < $tries; $n++) {
        if (@file_get_contents("http://$host:$port/u/$name", false, $context) !== false) {
            break;
        }
        usleep(30000);
    }
    usleep(5000);
}
