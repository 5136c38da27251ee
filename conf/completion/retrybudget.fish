# SPDX-License-Identifier: MIT
# Made by scripts/options fish from shim/tool/options.def; do not edit.
complete -c retrybudget -f
complete -c retrybudget -n __fish_use_subcommand -a run -d 'start a program under the retry budget'
complete -c retrybudget -n __fish_use_subcommand -a check -d 'tell every mistake in a configuration file'
complete -c retrybudget -n __fish_use_subcommand -a show -d 'print the settings in force and where they come from'
complete -c retrybudget -n __fish_use_subcommand -a rules -d 'print what makes an attempt new, a repeat or unclear'
complete -c retrybudget -n __fish_use_subcommand -a simulate -d 'play a trace of attempts to a policy, and print what it says'
complete -c retrybudget -n __fish_use_subcommand -a inspect -d 'tell whether the shim will reach a program'
complete -c retrybudget -n __fish_use_subcommand -a stat -d 'print what the library has counted in running processes'
complete -c retrybudget -n __fish_use_subcommand -l help -d 'list the commands'
complete -c retrybudget -n __fish_use_subcommand -l version -d 'print the version'
complete -c retrybudget -n '__fish_seen_subcommand_from run' -s c -l config -rF -d 'use FILE instead of /etc/retrybudget.ini'
complete -c retrybudget -n '__fish_seen_subcommand_from run' -l observe -d 'decide, count and log, but throttle nothing'
complete -c retrybudget -n '__fish_seen_subcommand_from run' -l log -xa stderr -d 'write records to the program\'s stderr instead of syslog'
complete -c retrybudget -n '__fish_seen_subcommand_from run' -s h -l help -d 'show this text'
complete -c retrybudget -n '__fish_seen_subcommand_from run' -xa '(__fish_complete_subcommand --fcs-skip=2)'
complete -c retrybudget -n '__fish_seen_subcommand_from check' -s h -l help -d 'show this text'
complete -c retrybudget -n '__fish_seen_subcommand_from check' -F
complete -c retrybudget -n '__fish_seen_subcommand_from show' -l sample -d 'print a commented file that says what the defaults say'
complete -c retrybudget -n '__fish_seen_subcommand_from show' -l man-keys -d 'print the key list of retrybudget(5) in roff'
complete -c retrybudget -n '__fish_seen_subcommand_from show' -s h -l help -d 'show this text'
complete -c retrybudget -n '__fish_seen_subcommand_from show' -F
complete -c retrybudget -n '__fish_seen_subcommand_from rules' -s h -l help -d 'show this text'
complete -c retrybudget -n '__fish_seen_subcommand_from rules' -f
complete -c retrybudget -n '__fish_seen_subcommand_from simulate' -l original -d 'no floor, no probe, no process-wide bucket: what the rules of others do without'
complete -c retrybudget -n '__fish_seen_subcommand_from simulate' -s h -l help -d 'show this text'
complete -c retrybudget -n '__fish_seen_subcommand_from simulate' -F
complete -c retrybudget -n '__fish_seen_subcommand_from inspect' -s h -l help -d 'show this text'
complete -c retrybudget -n '__fish_seen_subcommand_from inspect' -xa '(__fish_complete_command; __fish_complete_pids)'
complete -c retrybudget -n '__fish_seen_subcommand_from stat' -l json -d 'print JSON'
complete -c retrybudget -n '__fish_seen_subcommand_from stat' -s w -l watch -d 'print it again every SECONDS, 2 without, until stopped'
complete -c retrybudget -n '__fish_seen_subcommand_from stat' -s h -l help -d 'show this text'
complete -c retrybudget -n '__fish_seen_subcommand_from stat' -xa '(__fish_complete_command; __fish_complete_pids)'
