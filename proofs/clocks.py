"""From clocks to lengths of real time: the lemmas that `leases.py` rests on.

H is any clock, a and b are the real times of two readings Ha and Hb, a <= b. Assumed:
(1-rho)(b-a) - eps <= Hb - Ha <= (1+rho)(b-a) + eps. Each lemma is proved by refuting its negation.
"""
import time

import z3
from z3 import And, Implies, Not, ToInt, ToReal

from kit import STEPS

rho, eps, L, a, b, Ha, Hb = z3.Reals("rho eps L a b Ha Hb")
c, d, A, B, C, D, fastest = z3.Reals("c d A B C D fastest")
larger, longer = z3.Reals("larger longer")
ticks, ppm, n, error = z3.Ints("ticks ppm n error")


def clock(start, end, first, last):
    """A clock that read `first` at `start` and `last` at `end`."""
    took = end - start
    return And(0 <= rho, rho < 0.5, eps >= 0, start <= end,
               (1 - rho) * took - eps <= last - first, last - first <= (1 + rho) * took + eps)


drift = clock(a, b, Ha, Hb)
some = And(0 <= rho, rho < 0.5, eps >= 0, L > 0)
LOCK = (L - eps) / (1 + rho)
LEASE = (L * (1 - 2 * rho) - 2 * eps + eps) / (1 - rho)
trip = And(a + fastest <= b, b <= c, c <= d, clock(a, d, A, D), clock(b, c, B, C))
bound = (D - A + eps) / (1 - rho) - (C - B - eps) / (1 + rho) - fastest
MILLION = 1_000_000

LEMMAS = {
    # lock.rs: until = reading + lockTime, over once reading > until
    "a lock lasts longer than LOCK": Implies(And(drift, Hb - Ha > L), b - a > LOCK),
    # params.rs, hall.rs: until = sent + lockTime(1-2rho)-2eps, leads while reading < until
    "a lease lasts less than LEASE": Implies(
        And(drift, Hb - Ha < L * (1 - 2 * rho) - 2 * eps), b - a < LEASE),
    "LEASE <= LOCK": Implies(some, LEASE <= LOCK),
    # list.rs: an open list has the shorter lockTime and the larger rho of two lists
    "a lease by a larger rho lasts less than LEASE": Implies(
        And(drift, rho <= larger, larger < 0.5, L > 0,
            Hb - Ha < L * (1 - 2 * larger) - 2 * eps), b - a < LEASE),
    "a quarantine of a longer lockTime lasts longer than LOCK": Implies(
        And(drift, L <= longer, Hb - Ha > longer), b - a > LOCK),
    # readings are whole nanoseconds, rounded down
    "a lock over in ticks is over": Implies(ToInt(Hb) > ToInt(Ha) + ticks, Hb - Ha > ToReal(ticks)),
    "a lease running in ticks runs": Implies(
        ToInt(Hb) < ToInt(Ha) + ticks, Hb - Ha < ToReal(ticks)),
    # params.rs: set_lock rounds down
    "a lease is rounded down": Implies(
        And(n > 0, ppm >= 0, ppm <= 100000, error >= 0),
        ToReal(n * (MILLION - 2 * ppm) / MILLION - 2 * error)
        <= ToReal(n) * (1 - 2 * ToReal(ppm) / MILLION) - 2 * ToReal(error)),
    # bound.rs: the delay of a message from a round trip (liveness only, in majority mode)
    "a delay is at most its bound": Implies(trip, d - c <= bound),
    "an interval in ticks is a tick too short or too long at most": Implies(
        Ha <= Hb, And(Hb - Ha < ToReal(ToInt(Hb) - ToInt(Ha)) + 1,
                      Hb - Ha > ToReal(ToInt(Hb) - ToInt(Ha)) - 1)),
}
FALSE = {
    "without the margin for drift": Implies(
        And(some, rho > 0, L > eps), (L - 2 * eps + eps) / (1 - rho) <= LOCK),
    "with half of that margin": Implies(
        And(some, rho > 0, L > eps), (L * (1 - rho) - 2 * eps + eps) / (1 - rho) <= LOCK),
    "without the margin for errors of clocks": Implies(
        And(some, eps > 0, L > eps), (L * (1 - 2 * rho) + eps) / (1 - rho) <= LOCK),
    "with half of that margin, eps": Implies(
        And(some, eps > 0, L > eps), L * (1 - 2 * rho) / (1 - rho) <= LOCK),
    "a lock is over at its last tick": Implies(
        ToInt(Hb) >= ToInt(Ha) + ticks, Hb - Ha >= ToReal(ticks)),
    "a bound without eps": Implies(
        trip, d - c <= (D - A) / (1 - rho) - (C - B) / (1 + rho) - fastest),
}


def check(seed):
    """Refutes the negation of every lemma, and finds a case against every false one. Yields the
    name, whether all is as it should be, and the seconds."""
    for claims, wanted in ((LEMMAS, z3.unsat), (FALSE, z3.sat)):
        for name, claim in claims.items():
            solver = z3.Solver()
            solver.set(rlimit=20 * STEPS, random_seed=seed)
            solver.add(Not(claim))
            start = time.time()
            answer = solver.check()
            yield name, answer == wanted, time.time() - start
