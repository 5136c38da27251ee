# SPDX-License-Identifier: MIT
# Publishes a message for each unit, up to TRIES times. Usage: HOST PORT COUNT TRIES
for ((unit = 0; unit < $3; unit++)); do
	: 2>/dev/null </.unit/$unit
	tries=$4
	until mosquitto_pub -h "$1" -p "$2" -i "$unit" -t work -q 1 -m done 2>/dev/null; do
		((--tries)) || break
		sleep 0.03
	done
done
