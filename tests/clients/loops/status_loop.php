<?php
// SPDX-License-Identifier: MIT
// Asks at once again until the server says 200, with one curl handle, which keeps its connection.
// Usage: status_loop.php HOST PORT
$curl = curl_init("http://$argv[1]:$argv[2]/");
curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
while (true) {
    $text = curl_exec($curl);
    if ($text === false) {
        fwrite(STDERR, curl_error($curl) . "\n");
    } elseif (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) == 200) {
        echo $text;
        break;
    }
}
