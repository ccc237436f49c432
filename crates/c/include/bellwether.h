/* Live leader election: at most one member of a group leads at a time, and knows until when.
 *
 * Link with libbellwether_c.so, or with libbellwether_c.a and -lpthread -ldl -lm.
 *
 * Every function may be called from any thread. A process that has joined must not be forked: in
 * the child every call fails, and nothing is released. A pointer that a function has taken (leave,
 * resign, release) must not be used again, nor be in use by another thread at that moment. To end a
 * wait of another thread, call bellwether_stop, join that thread, and then leave.
 *
 * Made of crates/c/src/lib.rs by cbindgen: cargo run --manifest-path crates/c/header/Cargo.toml
 */

#ifndef BELLWETHER_H
#define BELLWETHER_H

#include <stdint.h>

/**
 * A member of a group.
 */
typedef struct bellwether_election bellwether_election;

/**
 * Proof that a member leads, for one reign.
 */
typedef struct bellwether_guard bellwether_guard;

/**
 * The settings of a member; what is NULL or 0 is not given. Set all of it to zero first.
 */
typedef struct bellwether_settings {
    /**
     * The name of the group.
     */
    const char *group;
    /**
     * The members, as in "1=10.0.0.1:7400,2=10.0.0.2:7400,3=10.0.0.3:7400".
     */
    const char *peers;
    /**
     * The file of the group's keys, as `bellwether keygen` makes them.
     */
    const char *key_file;
    /**
     * Which member this is; if it is NULL, the one whose address is here.
     */
    const uint64_t *id;
    /**
     * Where to listen, if not at the listed address.
     */
    const char *listen;
    /**
     * Where the state is stored, and where `bellwether status` asks; without it nothing is stored.
     */
    const char *dir;
    /**
     * Not 0: there is no key, and everybody who reaches the port can lead.
     */
    int insecure;
} bellwether_settings;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What went wrong in the last call of this thread that failed, in one line; empty if none has
 * failed. It is valid until the next call of this thread.
 */
const char *bellwether_error(void);

/**
 * Joins a group: from now on this process may be elected. NULL if it cannot.
 *
 * # Safety
 * The settings and their texts live as long as the call.
 */
struct bellwether_election *bellwether_join(const struct bellwether_settings *settings);

/**
 * Waits until the member leads: 1 and a guard, 0 if the time passed first, -1 if it failed. A
 * negative time is none.
 *
 * # Safety
 * The member was not taken, and `guard` points to a place for a guard.
 */
int bellwether_wait(const struct bellwether_election *election,
                    int64_t timeout_ms,
                    struct bellwether_guard **guard);

/**
 * Whether the member still leads at this moment, by the clock: 1 or 0. Ask before each action that
 * only a leader may take. It is 0 if the question cannot be answered.
 *
 * # Safety
 * The guard was not taken.
 */
int bellwether_still_leading(const struct bellwether_guard *guard);

/**
 * The nanoseconds until the reign ends unless it is renewed: 0 if it is over or the question
 * cannot be answered, INT64_MAX if it has no end.
 *
 * # Safety
 * The guard was not taken.
 */
int64_t bellwether_remaining_ns(const struct bellwether_guard *guard);

/**
 * The fencing token, higher than that of every leader before: 1 and the token, 0 if the reign is
 * over or there are no tokens, -1 if it failed.
 *
 * # Safety
 * The guard was not taken, and `term` points to a place for a number.
 */
int bellwether_term(const struct bellwether_guard *guard, uint64_t *term);

/**
 * Resigns and waits until the lease is released; takes the guard. 0, or -1 if it failed.
 *
 * # Safety
 * The guard was not taken before.
 */
int bellwether_resign(struct bellwether_guard *guard);

/**
 * Releases the guard, and takes it; the last guard of a reign resigns. NULL does nothing.
 *
 * # Safety
 * The guard was not taken before.
 */
void bellwether_release(struct bellwether_guard *guard);

/**
 * Leaves the group, and does not take the member: a wait of another thread ends, and every later
 * one fails. Nothing but bellwether_leave is of use then. 0, or -1 if it failed.
 *
 * # Safety
 * The member was not taken.
 */
int bellwether_stop(const struct bellwether_election *election);

/**
 * Leaves the group, and takes the member; a leader hands over first. Guards of it lead no
 * longer, and are still to be released. NULL does nothing. 0, or -1 if it failed.
 *
 * # Safety
 * The member was not taken before.
 */
int bellwether_leave(struct bellwether_election *election);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BELLWETHER_H */
