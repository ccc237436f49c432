
# The groups that have a member on this machine, by their control sockets.
function __bellwether_groups
    for dir in $BELLWETHER_DIR $RUNTIME_DIRECTORY $XDG_RUNTIME_DIR/bellwether /run/bellwether /tmp/bellwether-(id -u)
        for file in $dir/*.*.sock
            test -S $file
            and string replace -r '\.[^.]*\.sock$' '' -- (basename $file)
        end
    end | sort -u
end

complete -c bellwether -n "__fish_seen_subcommand_from COMMANDS" -f -a "(__bellwether_groups)"
