# SPDX-License-Identifier: MIT
# bash's /dev/tcp: a blocking connect, read and write through the shell's own builtins.
trap '' PIPE
how=$1 host=$2 port=$3 count=${4:-1}

fetch() {
    local line
    { exec 3<>"/dev/tcp/$host/$port"; } 2>/dev/null || return 1
    { echo "hello from bash" >&3 && read -r line <&3; } 2>/dev/null
    local ok=$?
    exec 3>&-
    ((ok == 0)) && echo "$line"
}

if [[ $how == get ]]; then
    for ((i = 0; i < count; i++)); do fetch || exit 1; done
    exit 0
fi
until fetch; do :; done
