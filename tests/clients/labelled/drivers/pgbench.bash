# SPDX-License-Identifier: MIT
# Runs of pgbench -C, which connects for each transaction and gives up at the first failure; each
# run is a unit, begun anew up to TRIES times. Usage: HOST PORT COUNT TRIES
script=$HOME/script
echo 'SELECT 1;' >"$script"
for ((unit = 0; unit < $3; unit++)); do
	: 2>/dev/null </.unit/$unit
	tries=$4
	until pgbench -n -C -t 3 -f "$script" \
		"host=$1 port=$2 user=x sslmode=disable gssencmode=disable application_name=$unit" \
		>/dev/null 2>&1; do
		((--tries)) || break
		sleep 0.03
	done
done
