# SPDX-License-Identifier: MIT
# bash's /dev/udp, a socket for each datagram. udp.bash HOST PORT
for ((i = 0; i < 200; i++)); do
    echo "anybody?" >"/dev/udp/$1/$2"
done
exit 1
