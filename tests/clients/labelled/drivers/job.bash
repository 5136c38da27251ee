# SPDX-License-Identifier: MIT
# One job of many that a scheduler starts side by side: a new process for each try, until one is
# answered. Usage: HOST PORT UNIT PROGRAM
export WITNESS_UNIT=$3
for ((tries = 300; tries; tries--)); do
	case $4 in
	curl) curl -sfq --noproxy '*' -o /dev/null "http://$1:$2/u/$3" && exit ;;
	wget) wget -q -t 1 --no-proxy -O /dev/null "http://$1:$2/u/$3" && exit ;;
	git) git ls-remote -q "http://$1:$2/u/$3" >/dev/null && exit ;;
	esac
	sleep 0.03
done
