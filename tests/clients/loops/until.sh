#!/bin/sh
# SPDX-License-Identifier: MIT
# A new process per attempt, as in a thousand start-up scripts. TOOL is curl, wget or nc.
# Usage: until.sh TOOL HOST PORT
try() {
    case $1 in
    curl) curl -sf "http://$2:$3/" ;;
    wget) wget -q -t 1 -O - "http://$2:$3/" ;;
    nc) printf 'hello from nc\n' | nc.openbsd -N -w 20 "$2" "$3" 2>/dev/null | grep . ;;
    esac
}

until try "$@"; do :; done
