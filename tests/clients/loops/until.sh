#!/bin/bash
# SPDX-License-Identifier: MIT
# A new process per attempt, as in a thousand start-up scripts.
# Usage: until.sh COMMAND...           until it succeeds
#        until.sh -line COMMAND...     until it printed a line
#        until.sh -nc HOST PORT        nc, with a line to say, until a line came back
try() {
    case $1 in
    -nc) printf 'hello from nc\n' | nc.openbsd -N -w "${TIMEOUT%.*}" "$2" "$3" | grep . ;;
    -line) shift && "$@" | grep . ;;
    *) "$@" ;;
    esac
}

until try "$@"; do
    status=$?
    # 128 + signal: the tests take such a line for a crash.
    ((status <= 128 || status >= 160)) || echo "$1: killed by signal $((status - 128))" >&2
done
