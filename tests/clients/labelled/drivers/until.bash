# SPDX-License-Identifier: MIT
# The shell loop that everybody has written: a process for each try, up to TRIES for each unit.
# Usage: HOST PORT COUNT TRIES
for ((unit = 0; unit < $3; unit++)); do
	: 2>/dev/null </.unit/$unit
	tries=$4
	until curl -sfq --noproxy '*' -o /dev/null "http://$1:$2/u/$unit"; do
		((--tries)) || break
		sleep 0.03
	done
done
