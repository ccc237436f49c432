# The groups that have a member on this machine, by their control sockets.
_bellwether_groups() {
    local -aU groups
    local dir
    for dir in "$BELLWETHER_DIR" "$RUNTIME_DIRECTORY" \
        "${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/bellwether}" /run/bellwether "/tmp/bellwether-$UID"; do
        [[ -n $dir ]] && groups+=("$dir"/*.*.sock(N=:t:r:r))
    done
    compadd -a -- groups
}

