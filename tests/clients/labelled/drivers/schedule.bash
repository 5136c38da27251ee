# SPDX-License-Identifier: MIT
# Jobs side by side, as build servers start them. Usage: HOST PORT COUNT HOW PROGRAM
here=${BASH_SOURCE[0]%/*}
case $4 in
xargs) seq 0 $(($3 - 1)) | xargs -P 4 -I@ bash "$here/job.bash" $1 $2 @ $5 ;;
make)
	printf '%%:\n\t@bash %s/job.bash %s %s $@ %s\n' "$here" $1 $2 $5 >jobs.mk
	make -s -j4 -f jobs.mk $(seq 0 $(($3 - 1)))
	;;
sessions) # a runner for each, of its own session
	for ((runner = 0; runner < 4; runner++)); do
		setsid bash -c "for ((unit = $runner; unit < $3; unit += 4)); do
			bash $here/job.bash $1 $2 \$unit $5
		done" &
	done
	wait
	;;
programs) # two that have nothing to do with each other
	setsid bash -c "for ((unit = 0; unit < $3; unit += 2)); do bash $here/job.bash $1 $2 \$unit curl; done" &
	setsid bash -c "for ((unit = 1; unit < $3; unit += 2)); do bash $here/job.bash $1 $2 \$unit wget; done" &
	wait
	;;
esac
