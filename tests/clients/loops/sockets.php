<?php
// SPDX-License-Identifier: MIT
// PHP's sockets extension: a plain blocking connect (its streams have a timeout of a minute).
[, $host, $port] = $argv;
do {
    $socket = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    $line = '';
    if (@socket_connect($socket, $host, (int)$port)) {
        socket_write($socket, "hello from php\n");
        $line = (string)@socket_read($socket, 100);
    } else {
        fwrite(STDERR, socket_strerror(socket_last_error($socket)) . "\n");
    }
    socket_close($socket);
} while ($line === '');
echo $line;
