
# The groups that have a member on this machine, by their control sockets.
_bellwether_groups() {
    local dir file
    for dir in "${BELLWETHER_DIR-}" "${RUNTIME_DIRECTORY-}" \
        "${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/bellwether}" /run/bellwether "/tmp/bellwether-$UID"; do
        [ -n "$dir" ] || continue
        for file in "$dir"/*.*.sock; do
            [ -S "$file" ] || continue
            file=${file##*/}
            file=${file%.sock}
            printf '%s\n' "${file%.*}"
        done
    done | sort -u
}

# All that the function above offers, and groups where a group may stand.
_bellwether_with_groups() {
    _bellwether "$@"
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    case "${COMP_WORDS[1]}" in
        COMMANDS)
            if [[ $COMP_CWORD -ge 2 && $word != -* && $before != --* ]]; then
                COMPREPLY+=($(compgen -W "$(_bellwether_groups)" -- "$word"))
            fi
            ;;
    esac
}

complete -F _bellwether_with_groups -o bashdefault -o default bellwether
