#!/bin/bash
# SPDX-License-Identifier: MIT
# Waits until a port is up: 50 tries, 0.1 s apart.
began=$(date +%s%3N)
for _ in $(seq 50); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
        echo "h $(($(date +%s%3N) - began)) ok"
        break
    fi
    sleep 0.1
done
