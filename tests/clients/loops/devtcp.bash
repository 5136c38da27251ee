# SPDX-License-Identifier: MIT
# bash's /dev/tcp: a blocking connect, read and write through the shell's own builtins.
trap '' PIPE
how=$1 host=$2 port=$3 count=${4:-1}

fetch() {
    local line
    # bash says itself what is wrong; a shell script would not keep quiet about it either.
    { exec 3<>"/dev/tcp/$host/$port"; } || return 1
    echo "hello from bash" >&3 && read -r line <&3
    local ok=$?
    exec 3>&-
    ((ok == 0)) && [[ $line != error ]] && echo "$line"
}

if [[ $how == get ]]; then
    for ((i = 0; i < count; i++)); do fetch || exit 1; done
    exit 0
fi
until fetch; do :; done
