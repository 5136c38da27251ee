# SPDX-License-Identifier: MIT
# Made by scripts/options bash from shim/tool/options.def; do not edit.
# shellcheck shell=bash disable=SC2207
_retrybudget()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "run check show rules simulate calc inspect stat top logs explain advise share fleet set reload --help --version" -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
    run)
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            -c|--config|--log|--set|--inject) ((i++)) ;;
            --) ((i++)) && break ;;
            -*) ;;
            *) break ;;
            esac
        done
        if ((i < COMP_CWORD)) || [[ ${COMP_WORDS[i - 1]} == -- ]]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$i"
            elif ((i == COMP_CWORD)); then
                COMPREPLY=($(compgen -c -- "$word"))
            else
                COMPREPLY=($(compgen -f -- "$word"))
            fi
            return
        fi
        case $before in
        -c|--config)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        --log)
            COMPREPLY=($(compgen -W "stderr" -- "$word"))
            return
            ;;
        --set)
            return
            ;;
        --inject)
            return
            ;;
        esac
        options="-c --config --observe --log --set --inject --stat-on-exit -h --help"
        ;;
    check)
        options="-h --help"
        ;;
    show)
        options="--sample --man-keys -h --help"
        ;;
    rules)
        options="-h --help"
        ;;
    simulate)
        case $before in
        -s|--scenario)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        --set)
            return
            ;;
        --sweep)
            return
            ;;
        --plot)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        --threads)
            return
            ;;
        esac
        options="-s --scenario --set --sweep --region --steps --plot --json --threads --keys --original -h --help"
        ;;
    calc)
        case $before in
        --rate)
            return
            ;;
        --fail)
            return
            ;;
        --retries)
            return
            ;;
        --hops)
            return
            ;;
        --tries)
            return
            ;;
        --outage)
            return
            ;;
        --budget)
            return
            ;;
        --floor)
            return
            ;;
        --capacity)
            return
            ;;
        esac
        options="--rate --fail --retries --hops --tries --outage --budget --floor --capacity -h --help"
        ;;
    inspect)
        options="-a --all -h --help"
        ;;
    stat)
        options="--json -w --watch -h --help"
        ;;
    top)
        case $before in
        -s|--sort)
            COMPREPLY=($(compgen -W "pid program mode destination attempts retries answered failed refused held tokens streak last throttled" -- "$word"))
            return
            ;;
        -i|--interval)
            return
            ;;
        -b|--batch)
            return
            ;;
        esac
        options="-s --sort -p --processes -i --interval -b --batch -h --help"
        ;;
    logs)
        case $before in
        -s|--since)
            return
            ;;
        -b|--by)
            return
            ;;
        --symbols)
            return
            ;;
        esac
        options="-s --since -f --follow -b --by --json -j --journal --symbols -h --help"
        ;;
    explain)
        options="-h --help"
        ;;
    advise)
        case $before in
        -c|--config)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        -t|--trace)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        esac
        options="-c --config -t --trace -h --help"
        ;;
    share)
        options="--json -f --force -h --help"
        ;;
    fleet)
        case $before in
        -c|--config)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        --user)
            return
            ;;
        --password-file)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        --port)
            return
            ;;
        esac
        options="-c --config --user --password-file --port --json -h --help"
        ;;
    set)
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            --wait) ((i++)) ;;
            --) ((i++)) && break ;;
            -*) ;;
            *) break ;;
            esac
        done
        case $before in
        --wait)
            return
            ;;
        esac
        if ((i < COMP_CWORD)) && [[ $word != -* ]]; then
            compopt +o filenames 2>/dev/null # they would be quoted
            options="mode=enforce mode=observe mode=off mode=file"
            [[ $word == "=" || $before == "=" ]] && options=${options//mode=/}
            COMPREPLY=($(compgen -W "$options" -- "${word#=}"))
            return
        fi
        options="--wait -h --help"
        ;;
    reload)
        case $before in
        --wait)
            return
            ;;
        esac
        options="--wait -h --help"
        ;;
    *) return ;;
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
    calc) COMPREPLY=($(compgen -W "chain load size" -- "$word")) ;;
    share) COMPREPLY=($(compgen -W "ls show reset rm" -- "$word")) ;;
    fleet) COMPREPLY=($(compgen -W "show set forget" -- "$word")) ;;
    run|inspect|stat|top|explain|advise|set|reload) COMPREPLY=($(compgen -c -- "$word")) ;;
    check|show|simulate|logs) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _retrybudget retrybudget
