/* Works while it leads, then hands over. Start it three times, with another id each:
 *
 *   cc -I crates/c/include crates/c/examples/leader.c -L target/release -lbellwether_c -o leader
 *   LD_LIBRARY_PATH=target/release ./leader 1=127.0.0.1:7401,2=127.0.0.1:7402,3=127.0.0.1:7403 1
 */
#include "bellwether.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int failed(const char *what) {
    fprintf(stderr, "cannot %s: %s\n", what, bellwether_error());
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: leader PEERS ID\n");
        return 2;
    }
    uint64_t id = strtoull(argv[2], NULL, 10);
    bellwether_settings settings = {0};
    settings.group = "example";
    settings.peers = argv[1];
    settings.id = &id;
    settings.insecure = 1; /* a real group has a key_file */

    bellwether_election *election = bellwether_join(&settings);
    if (election == NULL)
        return failed("join");
    bellwether_guard *guard = NULL;
    uint64_t term = 0;
    do {
        bellwether_release(guard); /* NULL at first, then one whose reign is over already */
        if (bellwether_wait(election, -1, &guard) != 1)
            return failed("wait");
    } while (bellwether_term(guard, &term) != 1);
    printf("member %" PRIu64 " leads, term %" PRIu64 "\n", id, term);
    fflush(stdout);

    /* What only one process may do, in pieces shorter than the time that remains. */
    const struct timespec piece = {0, 1000000};
    int pieces = 0;
    while (pieces < 20 && bellwether_still_leading(guard)) {
        if (bellwether_remaining_ns(guard) > 2000000)
            pieces++;
        nanosleep(&piece, NULL);
    }
    printf("member %" PRIu64 " did %d pieces\n", id, pieces);
    fflush(stdout);
    bellwether_resign(guard); /* it fails if the lease was lost: then there is nothing to resign */
    return bellwether_leave(election) == 0 ? 0 : failed("leave");
}
