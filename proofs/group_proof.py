"""The invariant of a group, and the steps of the proof that the solver does not find by itself.

README.md says the same in words.
"""
from z3 import And, If, Implies, Not, Or

from group import Rules


class Group(Rules):
    # Where the solver is told which parts of the invariant suffice.
    HINTS = {(action, "commits"): ["line", "commits", "made", "by-newest"]
             for action in ("adopt_joint", "renew_joint")}

    # --- what holds ---

    def invariant(self, s):
        return (super().invariant(s) | {"vote-binds": self.binds(s)} | self.lists_hold(s)
                | self.terms_hold(s) | self.lost_hold(s))

    def current(self, s, c):
        """Neither is a newer list than c committed, nor another one of its version: a lease may
        still be taken by it."""
        return Or(c == s.line(s.top()), self.ver(c) > s.top())

    def timely(self, s, r):
        return super().live(s, r)

    def live(self, s, r):
        """A lease may still rest on it."""
        return And(self.timely(s, r), self.current(s, self.cfg(r)))

    def binds(self, s):
        """A voter that has state is locked; see `lost_hold` for the others."""
        owner, at, held = self.owner, self.at, s.lockreq
        return self.u.every("Node Req", lambda n, r: Implies(
            And(s.granted(n, r), self.live(s, r), s.runs(n), Not(s.lost(n))), And(
                s.locked(n), s.until(n) >= self.end(r),
                Or(s.bound(n), And(owner(held(n)) == owner(r), at(held(n)) >= at(r))))))

    def lists_hold(self, s):
        u, ver, made, top, line = self.u, self.ver, s.made, s.top(), s.line
        owner, cfg, member = self.owner, self.cfg, self.member
        past = lambda v: And(1 <= v, v <= top)
        return {
            "line": And(top >= 0, line(0) == self.root, u.every("Int", lambda v: Implies(
                And(0 <= v, v <= top), And(made(line(v)), ver(line(v)) == v)),
                where=lambda v: [line(v)])),
            "commits": u.every("Int", lambda v: Implies(past(v), And(
                self.parent(line(v)) == line(v - 1), self.of(s.cq(v)) == line(v - 1),
                s.led(s.ce(v)), self.of(self.lease_quorum(s.ce(v))) == line(v))),
                where=lambda v: [s.cq(v)]),
            "made": And(made(self.root), u.every("Config", lambda c: Implies(
                made(c), And(0 <= ver(c), ver(c) <= top + 1, Implies(c != self.root, And(
                    1 <= ver(c), self.parent(c) == line(ver(c) - 1))))))),
            "leader-by-newest": u.every("Life", lambda l: And(
                Implies(s.leads(l), self.of(s.quorum(l)) == s.lconf(l)),
                Implies(self.leading(s, l), s.lconf(l) == line(top)))),
            "lease-by-one-list": u.every("Life Node", lambda l, n: Implies(
                And(s.leads(l), member(n, s.quorum(l))), cfg(s.vote(l, n)) == s.lconf(l))),
            "leases-by-committed": u.every("Lease", lambda e: Implies(s.led(e), And(
                0 <= self.version(e), self.version(e) <= top,
                self.of(self.lease_quorum(e)) == line(self.version(e)),
                s.used(self.lease_life(e))))),
            "requests-by-made": u.every("Req", lambda r: Implies(s.sent(r), And(
                made(cfg(r)), Or(self.open(r), self.committed(s, cfg(r)))))),
            "own-list": u.every("Node", lambda n: Implies(Not(s.lost(n)), made(s.conf(n)))),
            "vote-stores-list": u.every("Node Req", lambda n, r: Implies(
                And(s.granted(n, r), self.live(s, r), Not(s.lost(n))),
                self.holds(s, s.conf(n), cfg(r)))),
            "commit-is-stored": u.every("Int Node", lambda v, n: Implies(
                And(past(v), member(n, s.cq(v)), Not(s.lost(n))),
                Or(ver(s.conf(n)) > v, s.conf(n) == line(v)))),
            "older-votes-are-the-committers": u.every("Int Node Req", lambda v, n, r: Implies(
                And(past(v), member(n, s.cq(v)), s.granted(n, r), self.timely(s, r),
                    Or(cfg(r) == line(v - 1), And(ver(cfg(r)) == v, cfg(r) != line(v)))),
                owner(r) == self.lease_life(s.ce(v)))),
        }

    def holds(self, s, mine, c):
        """A node with list `mine` has c, or a list that supersedes it."""
        return Or(mine == c, self.ver(mine) > self.ver(c),
                  And(self.ver(mine) == self.ver(c), self.committed(s, mine)))

    def terms_hold(self, s):
        u, owner, live, term, member = self.u, self.owner, self.live, self.term, self.member
        life, token, quorum = self.lease_life, self.lease_token, self.lease_quorum
        # A newer list is committed, and the lease that did it carries the token on.
        old = lambda e: self.version(e) < s.top()
        return {
            "vote-stores-term": u.every("Node Req", lambda n, r: Implies(
                And(s.granted(n, r), live(s, r), Not(s.lost(n))), Or(
                    s.highest(n) > term(r),
                    And(s.highest(n) == term(r), Not(s.anon(n)), s.grantee(n) == owner(r))))),
            "token-is-stored": u.every("Lease Node", lambda e, n: Implies(
                And(s.led(e), member(n, quorum(e)), Not(s.lost(n))), Or(
                    old(e), s.highest(n) > token(e),
                    And(s.highest(n) == token(e), Or(s.anon(n), s.grantee(n) == life(e)))))),
            "others-vote-higher": u.every("Lease Node Req", lambda e, n, r: Implies(
                And(s.led(e), member(n, quorum(e)), s.granted(n, r), owner(r) != life(e),
                    live(s, r)), Or(old(e), term(r) > token(e)))),
            "commits-carry-tokens": u.every("Lease Int", lambda e, v: Implies(
                And(s.led(e), self.version(e) < v, v <= s.top()), token(e) <= token(s.ce(v)))),
            "own-tokens": u.every("Life Lease", lambda l, e: Implies(
                And(s.leads(l), s.led(e), life(e) == l), token(e) <= s.token(l))),
            "tokens-grow": self.tokens_grow(s),
            "one-life-per-token": self.one_life_per_token(s),
        }

    def lost_hold(self, s):
        u, member, quorum = self.u, self.member, self.lease_quorum
        past = lambda v: And(1 <= v, v <= s.top())
        free = lambda n: And(s.lost(n), s.runs(n), Not(s.locked(n)))
        # Its quarantine was too short for its votes for this list.
        short = lambda n, c: And(s.waited(n) < self.LOCK(c), Or(
            self.ver(c) <= s.need(n), s.waited(n) < self.LOCK(self.parent(c))))
        kept = lambda n, w: And(
            w != n, self.voter(w, self.root), Not(s.clean(n, w)), s.knows(n, w),
            Implies(And(s.runs(w), s.life(w) == s.klife(n, w)), Not(self.is_clean(s, w))))
        return {
            "quarantine": u.every("Node", lambda n: Implies(
                And(s.lost(n), s.runs(n), s.locked(n)), s.bound(n))),
            "waited": u.every("Node Req", lambda n, r: Implies(
                And(free(n), s.granted(n, r)), s.born(n) + s.waited(n) < s.now())),
            "voted-before": u.every("Node Req", lambda n, r: Implies(
                And(s.lost(n), s.runs(n), s.granted(n, r)), self.at(r) <= s.born(n))),
            "need-votes": u.every("Node Req", lambda n, r: Implies(
                And(free(n), s.granted(n, r)), Or(
                    self.ver(self.cfg(r)) <= s.need(n),
                    And(self.ver(self.cfg(r)) == s.need(n) + 1, self.open(r))))),
            "reading": u.every("Node Node", lambda n, m: Implies(s.told(n, m), And(
                s.runs(n), Implies(s.lost(n), Not(s.locked(n)))))),
            "need": u.every("Node", lambda n: Implies(free(n), s.need(n) <= s.top())),
            "need-commits": u.every("Node Int", lambda n, v: Implies(
                And(free(n), past(v), member(n, s.cq(v))),
                Or(v <= s.need(n), And(v == s.need(n) + 1, short(n, s.line(v)))))),
            "need-leases": u.every("Node Lease", lambda n, e: Implies(
                And(free(n), s.led(e), member(n, quorum(e))), Or(
                    self.version(e) <= s.need(n),
                    And(self.version(e) == s.need(n) + 1, short(n, self.of(quorum(e))))))),
            "told-of-made": u.every("Node Node", lambda n, m: Implies(
                And(s.lost(n), s.told(n, m)), s.made(s.tconf(n, m)))),
            "told-of-commits": u.every("Node Node Int", lambda n, m, v: Implies(
                And(s.lost(n), s.told(n, m), 1 <= v, v <= s.need(n), member(m, s.cq(v))),
                Or(self.ver(s.tconf(n, m)) > v, s.tconf(n, m) == s.line(v)))),
            "told-of-tokens": u.every("Node Node Lease", lambda n, m, e: Implies(
                And(s.lost(n), s.told(n, m), s.led(e), member(n, quorum(e)), member(m, quorum(e))),
                Or(self.version(e) < s.top(), s.tterm(n, m) >= self.lease_token(e),
                   short(n, self.of(quorum(e)))))),
            "heard-of-lives": u.every("Node Node", lambda n, m: Implies(
                s.knows(n, m), s.used(s.klife(n, m)))),
            "asking": u.every("Node", lambda n: Implies(s.asked(n), And(
                s.runs(n), Implies(s.lost(n), And(
                    Not(s.locked(n)), self.LOCK(self.root) <= s.waited(n)))))),
            "kept-by-leases": u.every("Node Lease", lambda n, e: Implies(
                And(s.lost(n), s.asked(n), s.led(e), member(n, quorum(e))), kept(n, s.witness(n)))),
            "kept-by-votes": u.every("Node Req", lambda n, r: Implies(
                And(s.lost(n), s.asked(n), s.granted(n, r), self.cfg(r) != self.root),
                kept(n, s.witness(n)))),
            "kept-by-commits": u.every("Node Int", lambda n, v: Implies(
                And(s.lost(n), s.asked(n), past(v), member(n, s.cq(v))), kept(n, s.witness(n)))),
        }

    # --- steps of the proof that the solver does not find by itself ---

    def lemmas(self, action, s, after):
        if action in ("adopt", "renew", "adopt_joint", "renew_joint"):
            return self.lemmas_of_leases(action, s)
        return self.lemmas_of_recovery(s) if action == "recover" else {}

    def given(self, *nodes):
        """True; names nodes that the solver should consider."""
        return And([self.think(n) for n in nodes])

    def lemmas_of_leases(self, action, s):
        n, r, q, k = (self.params[x] for x in "nrqk")
        c, l, common, token = self.cfg(r), s.life(n), self.common, self.lease_token
        v, newest = self.ver(c), c == s.line(s.top())
        quorums, facts = [q], {}
        basic = ["line", "commits", "made", "requests-by-made", "older-votes-are-the-committers"]
        if "joint" in action:
            p = self.params["p"]
            quorums.append(p)
            newest = Or(newest, And(v == s.top() + 1, self.parent(c) == s.line(s.top())))
            facts["new-or-committed"] = (Implies(
                self.given(common(p, s.cq(v))), Or(v == s.top() + 1, c == s.line(v))),
                basic + ["votes"])
        facts["by-newest"] = (Implies(self.given(common(q, s.cq(v + 1))), newest),
                              basic + list(facts) + ["votes"])
        if "adopt" in action:
            last = self.lease_quorum(s.ce(s.top()))
            facts["token-is-higher"] = (self.u.every("Lease", lambda e: Implies(
                And(s.led(e), self.given(*(common(x, y) for x in quorums
                                           for y in (last, self.lease_quorum(e))))),
                token(e) < k)), ["line", "commits", "leases-by-committed", "others-vote-higher",
                                 "commits-carry-tokens", "by-newest", "votes"])
        return facts

    def lemmas_of_recovery(self, s):
        n, w, b, p = (self.params[x] for x in "nwbp")
        d = s.tconf(n, w)
        v = self.ver(d)
        basic = ["line", "commits", "made", "reading", "need", "told-of-made", "told-of-commits"]
        return {
            "no-fork": (Implies(And(self.given(self.met(p, s.cq(v))), v <= s.need(n)),
                                d == s.line(v)), basic),
            "no-newer": (Implies(self.given(self.met(b, s.cq(v + 1))), v >= s.need(n)),
                         basic + ["no-fork"]),
        }

    def tokens_grow(self, s):
        return self.u.every("Life Lease", lambda l, e: Implies(
            And(self.leading(s, l), s.led(e)),
            If(self.lease_life(e) == l, self.lease_token(e) <= s.token(l),
               self.lease_token(e) < s.token(l))))

    def one_life_per_token(self, s):
        return self.u.every("Lease Lease", lambda e, f: Implies(
            And(s.led(e), s.led(f), self.lease_token(e) == self.lease_token(f)),
            self.lease_life(e) == self.lease_life(f)))

    def safety(self, s):
        return super().safety(s) | {"tokens grow": self.tokens_grow(s),
                                    "one life per token": self.one_life_per_token(s)}
