"""Leases of a majority: never two leaders, for every group size. This is the code as it is.

Time is real time. The protocol learns two lengths from its clocks (`clocks.py`):
  LOCK   no lock is seen to be over before LOCK has passed,
  LEASE  no lease is seen to run once LEASE has passed since its request,   LEASE <= LOCK.
A `Life` is one incarnation of a node. A `Req` is one request; at(r) is the real time at which its
candidate read the clock for it. Messages are sets that only grow (sent, granted, released), so
they may be lost, duplicated, reordered and late. A step may happen any time after its reading.
In a group (`group.py`) each list has lengths of its own.
"""
import z3
from z3 import And, If, Implies, Not, Or

from kit import Model, put, val


class Leases(Model):
    SORTS = ["Node", "Life", "Req", "Quorum"]
    RIGID = {
        "node": "Life Node",
        "owner": "Req Life",
        "at": "Req Real",
        "member": "Node Quorum Bool",
        "common": "Quorum Quorum Node",  # a member of both
        "LOCK": "Real",
        "LEASE": "Real",
    }
    STATE = {
        "now": "Real",
        "seen": "Node Real",         # the last reading of its clock
        "begun": "Node Bool",        # it has run before, or runs
        "runs": "Node Bool",
        "life": "Node Life",
        "used": "Life Bool",
        "locked": "Node Bool",
        "bound": "Node Bool",        # if locked: to nobody, after a restart
        "until": "Node Real",        # the lock is not seen to be over before
        "lockreq": "Node Req",       # the request that it names, unless bound to nobody
        "sent": "Req Bool",
        "granted": "Node Req Bool",  # votes, under way or arrived
        "dead": "Req Bool",          # given up: its candidate counts no votes for it
        "released": "Req Bool",      # releases, under way or arrived
        "willed": "Life Bool",       # last wills, under way or arrived
        "leads": "Life Bool",        # has a lease, expired or not
        "ends": "Life Real",         # when the lease is over
        "quorum": "Life Quorum",     # whose votes the lease rests on,
        "vote": "Life Node Req",     # and which
    }
    ACTIONS = "pass_time start restart crash request grant lapse adopt give_up unlock will".split()

    def unneeded(self, action):
        return ["willed"]

    def axioms(self):
        times = [self.LEASE > 0, self.LOCK > 0, self.LEASE <= self.LOCK]
        if self.lacks("drift-margin"):  # 1/(1-rho) : 1/(1+rho) with rho = 200 ppm
            times[2] = self.LEASE * 9998 == self.LOCK * 10002
        return times + self.quorums()

    def quorums(self):
        u = self.u
        if self.lacks("intersection"):
            return []
        if u.sizes:
            half = u.sizes["Node"] // 2
            votes = lambda q: [(self.member(n, q), 1) for n in u.things["Node"]]
            return [u.every("Quorum", lambda q: z3.PbGe(votes(q), half + 1)), self.meet()]
        return [self.meet()]

    def meet(self):
        """Two quorums have a member in common."""
        common, member = self.common, self.member
        return self.u.every("Quorum Quorum", lambda p, q: And(
            member(common(p, q), p), member(common(p, q), q)))

    def initial(self, s):
        u = self.u
        return And(
            u.every("Node", lambda n: s.seen(n) <= s.now()),
            self.all_run(s) if u.sizes else self.none_has_begun(s),
            u.every("Life", lambda l: And(Not(s.leads(l)), Not(s.willed(l)))),
            u.every("Req", lambda r: And(Not(s.sent(r)), Not(s.dead(r)), Not(s.released(r)))),
            u.every("Node Req", lambda n, r: Not(s.granted(n, r))),
        )

    def none_has_begun(self, s):
        return And(self.u.every("Node", lambda n: And(Not(s.begun(n)), Not(s.runs(n)))),
                   self.u.every("Life", lambda l: Not(s.used(l))))

    def all_run(self, s):
        """To shorten runs of the small model: every node has just begun its first life."""
        nodes, lives = self.u.things["Node"], self.u.things["Life"]
        first = [And(s.begun(n), s.runs(n), Not(s.locked(n)), s.life(n) == l, self.node(l) == n)
                 for n, l in zip(nodes, lives)]
        return And(first + [s.used(l) == (i < len(nodes)) for i, l in enumerate(lives)])

    # --- how long ---

    def length(self, r):
        """A lease that rests on r is over once this has passed since r."""
        return self.LEASE

    def end(self, r):
        return self.at(r) + self.length(r)

    def lock(self, s, n, r, mine, T):
        """Until when n is locked, at least, if it grants r at its reading T."""
        return T + self.LOCK

    def quarantine(self, s, n):
        """How long n is bound to nobody, at least, after a restart."""
        return self.LOCK

    def is_over(self, s, n, T):
        """Whether n sees at its reading T that its lock is over."""
        return T > s.until(n)

    # --- actions: each returns its guard and the state after it ---

    def step(self, s, n):
        """Time passes until t; the clock of n was last read at T."""
        t, T = self.some(t="Real", T="Real")
        forward = self.rule("clock-never-goes-back", s.seen(n) <= T)
        return t, T, And(s.now() <= t, T <= t, forward), s.but(now=val(t), seen=put(s.seen, n, T))

    def pass_time(self, s):
        t = self.some(t="Real")
        return s.now() <= t, s.but(now=val(t))

    def start(self, s):
        """The first life of a node: it has promised nothing."""
        n, l = self.some(n="Node", l="Life")
        t, T, ok, a = self.step(s, n)
        return And(ok, Not(s.begun(n)), Not(s.used(l)), self.node(l) == n), a.but(
            begun=put(s.begun, n, True), runs=put(s.runs, n, True), life=put(s.life, n, l),
            used=put(s.used, l, True), locked=put(s.locked, n, False))

    def restart(self, s):
        """Another life: bound to nobody for the length of a lock (the quarantine)."""
        n, l = self.some(n="Node", l="Life")
        t, T, ok, a = self.step(s, n)
        return And(ok, s.begun(n), Not(s.runs(n)), Not(s.used(l)), self.node(l) == n), a.but(
            runs=put(s.runs, n, True), life=put(s.life, n, l), used=put(s.used, l, True),
            locked=put(s.locked, n, not self.lacks("quarantine")),
            bound=put(s.bound, n, True), until=put(s.until, n, T + self.quarantine(s, n)))

    def crash(self, s):
        """A life ends without a word. What it started may run until its lease is over: it counts as
        leading until then, or until its will."""
        n = self.some(n="Node")
        return s.runs(n), s.but(runs=put(s.runs, n, False))

    def will(self, s):
        """Somebody who knows that a life and all its work are over says so: its guardian."""
        l = self.some(l="Life")
        n = self.node(l)
        over = self.rule("will-of-the-dead", Not(And(s.runs(n), s.life(n) == l)))
        a = s.but(willed=put(s.willed, l, True))
        if self.lacks("will-of-the-dead"):  # it runs on, and knows nothing of this
            return s.used(l), a
        leads = s.leads if self.lacks("will-after-work") else put(s.leads, l, False)
        return And(s.used(l), over), a.but(
            leads=leads, dead=lambda r: Or(s.dead(r), self.owner(r) == l))

    def request(self, s):
        """A request is later than all that its life has given up."""
        n, r = self.some(n="Node", r="Req")
        t, T, ok, a = self.step(s, n)
        later = lambda p: self.at(p) <= T if self.lacks("later-requests") else self.at(p) < T
        fresh = self.u.every("Req", lambda p: Implies(
            And(s.released(p), self.owner(p) == self.owner(r)), later(p)))
        mine = And(self.owner(r) == s.life(n), self.at(r) == T)
        return And(ok, s.runs(n), Not(s.sent(r)), mine, fresh), a.but(sent=put(s.sent, r, True))

    def grant(self, s):
        """A vote, its own included: if it is free, or locked to that life already."""
        n, r = self.some(n="Node", r="Req")
        t, T, ok, a = self.step(s, n)
        owner, held = self.owner, s.lockreq(n)
        mine = And(s.locked(n), Not(s.bound(n)), owner(held) == owner(r))
        free = Or(Not(s.locked(n)), mine)
        keeps = And(mine, self.at(held) >= self.at(r), not self.lacks("old-request-is-no-news"))
        lock = lambda f, value: put(f, n, value)
        if self.lacks("own-vote-locks"):
            own = self.node(owner(r)) == n
            free, lock = Or(free, own), lambda f, value: put(f, n, If(own, f(n), value))
        heard = self.rule("reading-after-receipt", self.at(r) <= T)
        return And(ok, s.runs(n), s.sent(r), heard, free), a.but(
            granted=put(s.granted, n, r, True), locked=lock(s.locked, True),
            bound=lock(s.bound, False), until=lock(s.until, self.lock(s, n, r, mine, T)),
            lockreq=lock(s.lockreq, If(keeps, held, r)))

    def lapse(self, s):
        """A lock is seen to be over."""
        n = self.some(n="Node")
        t, T, ok, a = self.step(s, n)
        return And(ok, s.runs(n), s.locked(n), self.is_over(s, n, T)), a.but(
            locked=put(s.locked, n, False))

    def counts(self, s, r):
        """Whether votes for this request count."""
        return self.rule("released-votes-are-void", Not(s.dead(r)))

    def votes(self, s, l, q, v, r):
        """All of q have granted v(.), requests of this life that count, and of which none is over
        before r."""
        return self.u.every("Node", lambda m: Implies(self.member(m, q), And(
            s.granted(m, v(m)), self.owner(v(m)) == l, self.counts(s, v(m)),
            self.rule("lease-is-the-shortest", self.end(r) <= self.end(v(m))))))

    def adopt(self, s):
        """A lease, the first or a longer one: a quorum has granted this request or later ones."""
        n, r, q = self.some(n="Node", r="Req", q="Quorum")
        v = self.v = self.u.some_map("Node Req")
        t, T, ok, a = self.step(s, n)
        l = s.life(n)
        since = self.at(r) if not self.lacks("lease-from-sending") else T
        ends = since + self.length(r)
        asked = And(self.owner(r) == l, s.sent(r), self.counts(s, r))
        return And(ok, s.runs(n), asked, self.votes(s, l, q, v, r)), a.but(
            leads=put(s.leads, l, True), ends=put(s.ends, l, ends), quorum=put(s.quorum, l, q),
            vote=lambda k, m: If(k == l, v(m), s.vote(k, m)))

    def give_up(self, s):
        """It ends its lease and gives up all requests up to r, which need not be one; then it says
        so."""
        n, r = self.some(n="Node", r="Req")
        t, T, ok, a = self.step(s, n)
        l, mine = s.life(n), lambda p: And(s.sent(p), self.owner(p) == s.life(n))
        last = self.u.every("Req", lambda p: Implies(mine(p), self.at(p) <= self.at(r)))
        leads = s.leads if self.lacks("release-ends-lease") else put(s.leads, l, False)
        return And(ok, s.runs(n), self.owner(r) == l, self.at(r) <= T, last), a.but(
            leads=leads, dead=lambda p: Or(s.dead(p), mine(p)), released=put(s.released, r, True))

    def unlock(self, s):
        """A release, from its sender or carried on, ends a lock for its request or an earlier
        one; a will ends a lock to its life."""
        n, r = self.some(n="Node", r="Req")
        held, owner = s.lockreq(n), self.owner
        named = self.rule("release-names-request", self.at(held) <= self.at(r))
        ends = And(owner(held) == owner(r), named)
        if self.lacks("release-names-life"):
            other = And(owner(held) != owner(r), self.node(owner(held)) == self.node(owner(r)))
            ends = Or(ends, other)
        heard = Or(And(s.released(r), ends), s.willed(owner(held)))
        return And(s.runs(n), s.locked(n), Not(s.bound(n)), heard), s.but(
            locked=put(s.locked, n, False))

    # --- what holds ---

    def live(self, s, r):
        """A lease may still rest on it."""
        return And(Not(s.dead(r)), s.now() < self.end(r))

    def leading(self, s, l):
        return And(s.leads(l), s.now() < s.ends(l))

    def invariant(self, s):
        u, owner, at, live, member = self.u, self.owner, self.at, self.live, self.member
        return {
            "readings": u.every("Node", lambda n: s.seen(n) <= s.now()),
            "lives": u.every("Node", lambda n: Implies(s.runs(n), And(
                s.begun(n), s.used(s.life(n)), self.node(s.life(n)) == n,
                Not(s.willed(s.life(n)))))),
            "requests": u.every("Req", lambda r: Implies(
                s.sent(r), And(s.used(owner(r)), at(r) <= s.now()))),
            "votes": u.every("Node Req", lambda n, r: Implies(
                s.granted(n, r), And(s.begun(n), s.sent(r), at(r) <= s.seen(n)))),
            "released-is-dead": u.every("Req Req", lambda r, p: Implies(
                And(s.released(r), s.sent(p), owner(p) == owner(r), at(p) <= at(r)), s.dead(p))),
            "willed-has-begun": u.every("Life", lambda l: Implies(s.willed(l), s.used(l))),
            "willed-is-dead": u.every("Req", lambda r: Implies(
                And(s.sent(r), s.willed(owner(r))), s.dead(r))),
            "lease-rests-on-votes": u.every("Life Node", lambda l, n: Implies(
                And(s.leads(l), member(n, s.quorum(l))), And(
                    s.granted(n, s.vote(l, n)), owner(s.vote(l, n)) == l,
                    Not(s.dead(s.vote(l, n))), s.ends(l) <= self.end(s.vote(l, n))))),
            "vote-binds": u.every("Node Req", lambda n, r: Implies(
                And(s.granted(n, r), live(s, r), s.runs(n)), And(
                    s.locked(n), s.until(n) >= self.end(r),
                    Or(s.bound(n), And(owner(s.lockreq(n)) == owner(r),
                                       at(s.lockreq(n)) >= at(r)))))),
            "one-at-a-time": u.every("Node Req Req", lambda n, r, p: Implies(
                And(s.granted(n, r), s.granted(n, p), live(s, r), live(s, p)),
                owner(r) == owner(p))),
        }

    def never_two(self, s):
        return self.u.every("Life Life", lambda l, k: Implies(
            And(self.leading(s, l), self.leading(s, k)), l == k))

    def safety(self, s):
        return {"never two": self.never_two(s)}
