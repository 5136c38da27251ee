<?php
// SPDX-License-Identifier: MIT
// stream_socket_client: what most PHP clients of databases and queues stand on.
[, $how, $host, $port] = $argv;

$timeout = (float) (getenv('TIMEOUT') ?: 30);
$said = '';

function failed(string $error): bool
{
    global $said;
    if ($error !== $said) {
        fwrite(STDERR, "$error\n");
        $said = $error;
    }
    return false;
}

function fetch(string $host, string $port): string|false
{
    global $timeout;
    $address = $host[0] === '/' ? "unix://$host" : "tcp://$host:$port";
    $stream = @stream_socket_client($address, $code, $message, $timeout);
    if (!$stream) {
        return failed($message ?: (error_get_last()['message'] ?? 'no reason'));
    }
    stream_set_timeout($stream, (int) $timeout, (int) (fmod($timeout, 1) * 1e6));
    @fwrite($stream, "hello from php\n");
    $line = @fgets($stream);
    $late = stream_get_meta_data($stream)['timed_out'];
    fclose($stream);
    if ($line === false || $line === "error\n" || !str_ends_with($line, "\n")) {
        return failed($late ? 'read timed out' : 'no answer');
    }
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
