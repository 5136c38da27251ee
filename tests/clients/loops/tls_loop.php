<?php
// SPDX-License-Identifier: MIT
// The curl extension with one handle, which keeps its connection, or the streams, which do not.
// Usage: tls_loop.php curl|stream until|get HOST PORT [N], as tls_loop.py
[, $how, $what, $host, $port] = $argv;
$left = $what == "get" ? (int)$argv[5] : 1;
$url = "https://$host:$port/";
$curl = curl_init($url);
curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_SSL_VERIFYPEER => false,
    CURLOPT_SSL_VERIFYHOST => 0]);
$trusting = stream_context_create(["ssl" => ["verify_peer" => false, "verify_peer_name" => false],
    "http" => ["ignore_errors" => true]]);
while ($left > 0) {
    if ($how == "curl") {
        $page = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    } else {
        $page = file_get_contents($url, false, $trusting);
        $status = $page === false ? 0 : (int)explode(" ", $http_response_header[0])[1];
    }
    if ($page !== false && $status == 200) {
        echo $page;
        $left--;
    } elseif ($what == "get") {
        fwrite(STDERR, "status $status " . curl_error($curl) . "\n");
        exit(1);
    }
}
