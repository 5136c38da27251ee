<?php
// SPDX-License-Identifier: MIT
// The curl extension, which PHP loads with RTLD_DEEPBIND. Makes its attempts one after the other, and
// prints the error of each.
[, , $host, $port, $n] = $argv;
for ($i = 0; $i < (int) $n; $i++) {
    $curl = curl_init("http://$host:$port/");
    curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
    curl_setopt($curl, CURLOPT_PROXY, '');
    $page = curl_exec($curl);
    echo $page === false ? 'error ' . curl_errno($curl) . "\n" : $page;
    curl_close($curl);
}
