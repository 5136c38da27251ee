# SPDX-License-Identifier: MIT
# A wait for a port by the shell alone: a child of fork for each try. Usage: HOST PORT COUNT
for ((unit = 0; unit < $3; unit++)); do
	: 2>/dev/null </.unit/$unit
	until (
		exec 3<>/dev/tcp/$1/$2 && printf 'GET /u/%s HTTP/1.0\r\n\r\n' $unit >&3 &&
			read -r status <&3 && [[ $status == *200* ]]
	) 2>/dev/null; do
		sleep 0.02
	done
done
