#!/bin/sh
# SPDX-License-Identifier: MIT
# A process for each attempt: curl, and a connection by bash. Their memory of failures is the budget
# of the user alone. Usage: curls.sh RATE TIMEOUT HOST PORT...; says what client.c says.
pause=$(awk "BEGIN { print 1 / $1 }")
timeout=$(($2 / 1000))
host=$3
shift 3
ops=0 ok=0 failed=0 crashed=0 stopped=
trap stopped=1 TERM

report() {
    echo "{\"ops\": $ops, \"ok\": $ok, \"crashed\": $crashed, \"errors\": {\"exit\": $failed}}"
}

while [ -z "$stopped" ]; do
    for port; do
        if [ $((ops % 2)) = 0 ]; then
            said=$(curl -s -m $timeout "http://$host:$port/" 2>/dev/null)
        else
            # shellcheck disable=SC2016 # bash's words, not ours
            said=$(timeout $timeout bash -c 'exec 3<>"/dev/tcp/$0/$1" && echo well >&3 && head -n 1 <&3' \
                "$host" "$port" 2>/dev/null)
        fi
        status=$?
        ops=$((ops + 1))
        if [ "$said" = well ]; then ok=$((ok + 1)); else failed=$((failed + 1)); fi
        # 124 is timeout's own; 141 a pipe whose reader has gone.
        if [ $status -gt 128 ] && [ $status != 141 ] && [ $status != 143 ]; then
            crashed=$((crashed + 1))
        fi
        [ $((ops % 10)) = 0 ] && report
        sleep "$pause"
        [ -n "$stopped" ] && break
    done
done
report
