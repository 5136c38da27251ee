<?php
// SPDX-License-Identifier: MIT
// stream_socket_client: what most PHP clients of databases and queues stand on.
[, $how, $host, $port] = $argv;

function fetch(string $host, string $port): string|false
{
    $stream = @stream_socket_client("tcp://$host:$port", $code, $message, 30);
    if (!$stream) {
        return false;
    }
    @fwrite($stream, "hello from php\n");
    $line = @fgets($stream);
    fclose($stream);
    return $line;
}

if ($how === 'get') {
    for ($i = 0; $i < (int) $argv[4]; $i++) {
        $line = fetch($host, $port);
        if ($line === false) {
            exit(1);
        }
        echo $line;
    }
    exit(0);
}
while (($line = fetch($host, $port)) === false);
echo $line;
