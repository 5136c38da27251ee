# SPDX-License-Identifier: MIT
# One redis-cli is given a command for each unit and is waited for; where its connection has ended
# it connects again, once for each command. Usage: HOST PORT COUNT
coproc redis-cli -h "$1" -p "$2" 2>&1
for ((unit = 0; unit < $3; unit++)); do
	: 2>/dev/null </.unit/$unit
	echo "GET u:$unit" >&"${COPROC[1]}"
	read -r -t 10 <&"${COPROC[0]}"
	sleep 0.005
done
