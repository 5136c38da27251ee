<?php
// SPDX-License-Identifier: MIT
// Jobs in PHP, one after the other: jobs.php SECONDS RATE TRIES PORT=KIND...
[, $seconds, $rate, $tries] = $argv;
$targets = array_slice($argv, 4);
$context = stream_context_create(['http' => ['timeout' => 2, 'ignore_errors' => true]]);
$started = microtime(true);
for ($number = 0; $number < $seconds * $rate; $number++) {
    $due = $started + $number / $rate;
    if (microtime(true) > $started + $seconds) {
        break;
    }
    usleep((int) max(0, ($due - microtime(true)) * 1e6));
    [$port, $kind] = explode('=', $targets[$number % count($targets)]);
    for ($i = 0; $i < $tries; $i++) {
        $body = @file_get_contents("http://127.0.0.1:$port/$kind$number", false, $context);
        $word = $body === "/$kind$number" ? 'ok' : ($body === false ? 'EOF' : 'WRONG');
        if ($word === 'ok') {
            break;
        }
    }
    printf("%s %.2f %s\n", $kind, (microtime(true) - $due) * 1e3, $word);
}
