"""Tokens, lost disks, founding and changes of members, together, for every number of members.

`leases.py` with everything a group needs to be built on. Rules for the code: README.md.

A request carries a term and a list of voters (`Config`). A `Lease` is a record of one lease: its
life, its token, its quorum. A list has a version and a parent. The committed lists form a line:
line(0) is the founding list, line(top) the newest committed one. Each list has its own lockTime. A
node that has no state, because it never had any or because it lost its disk, is `lost`: it cannot
tell which.
"""
import z3
from z3 import And, If, Implies, Not, Or

from kit import put, val, wipe
from leases import Leases


class Rules(Leases):
    SORTS = Leases.SORTS + ["Config", "Lease", "Readset"]
    RIGID = Leases.RIGID | {
        "term": "Req Int",
        "cfg": "Req Config",
        "of": "Quorum Config",            # a quorum is a majority of this list
        "ver": "Config Int",
        "parent": "Config Config",
        "LOCK": "Config Real",            # its lockTime, in real time; see `length`
        "LENGTH": "Req Real",
        "open": "Req Bool",               # made while its list was not known to be committed
        "root": "Config",                 # the founding list
        "voter": "Node Config Bool",
        "lease_life": "Lease Life",
        "lease_token": "Lease Int",
        "lease_quorum": "Lease Quorum",
        "reader": "Readset Node",         # enough voters of a list, other than the reader,
        "reads": "Node Readset Bool",     # to meet every majority of it
        "read_of": "Readset Config",
        "met": "Readset Quorum Node",
        "think": "Node Bool",             # true of all; see `given`
    }
    STATE = Leases.STATE | {
        # durable
        "lost": "Node Bool",              # it has no state
        "highest": "Node Int",            # the highest term it has granted, learnt or read
        "grantee": "Node Life",           # the life it granted that term to,
        "anon": "Node Bool",              # unless to nobody
        "conf": "Node Config",            # its list
        "fresh": "Node Bool",             # it has granted nothing since it got its state
        # volatile
        "born": "Node Real",              # the reading at which its life began
        # volatile: of a leader
        "token": "Life Int",
        "lconf": "Life Config",
        # volatile: of a node that has no state
        "waited": "Node Real",            # how long it was in quarantine, at least
        "told": "Node Node Bool",         # the other one told it, after the quarantine,
        "tterm": "Node Node Int",         # this term
        "tconf": "Node Node Config",      # and this list
        "knows": "Node Node Bool",        # it has heard of a life of the other one:
        "klife": "Node Node Life",        # this one
        "asked": "Node Bool",             # it knows all lives and asks all whether they are clean
        "clean": "Node Node Bool",        # that life of the other one has said that it is
        # ghosts
        "led": "Lease Bool",
        "made": "Config Bool",
        "top": "Int",                     # the version of the newest committed list
        "line": "Int Config",             # the committed list of a version,
        "cq": "Int Quorum",               # the majority of its parent that committed it,
        "ce": "Int Lease",                # and the lease that did
        "need": "Node Int",               # `top` when its lock lapsed
        "witness": "Node Node",           # a node that is not clean when the other one asks all
    }
    ACTIONS = ("pass_time start restart restart_lost crash will request grant lapse wait_longer"
               " give_up unlock adopt adopt_joint renew renew_joint learn learn_list change"
               " answer recover hear ask_all say_clean found bootstrap").split()

    def simple(self, action, s):
        """Nobody left a will. Whoever takes a lease does so in a group in which nobody was asked for
        its state, and only the founding list was committed."""
        no = lambda *_: z3.BoolVal(False)
        s = s.but(willed=no)
        if "adopt" in action or "renew" in action:
            s = s.but(told=no, knows=no, asked=no, clean=no, top=val(z3.IntVal(0)),
                      line=lambda v: self.root)
        return s

    def axioms(self):
        """A request has the length of its list, or of the one before, if that is shorter and its
        list is not known to be committed."""
        lasts = lambda r, c: self.LENGTH(r) <= self.LOCK(c)
        opens = lambda r: Implies(self.open(r), lasts(r, self.parent(self.cfg(r))))
        if self.lacks("open-lists-last-no-longer"):
            opens = lambda r: True
        return [self.u.every("Req", lambda r: And(
            0 < self.LENGTH(r), lasts(r, self.cfg(r)), opens(r)))] + self.quorums()

    def quorums(self):
        u, met = self.u, self.met
        common, member = self.common, self.member
        if u.sizes:
            return self.counted()
        return [
            self.ver(self.root) == 0, self.parent(self.root) == self.root,
            u.every("Quorum Quorum", lambda p, q: Implies(self.of(p) == self.of(q), And(
                member(common(p, q), p), member(common(p, q), q)))),
            u.every("Readset Quorum", lambda b, q: Implies(self.read_of(b) == self.of(q), And(
                self.reads(met(b, q), b), member(met(b, q), q), met(b, q) != self.reader(b)))),
            u.every("Node", self.think, where=lambda n: [self.think(n)]),
        ]

    def counted(self):
        """The same for a small model, where voters can be counted."""
        u, nodes = self.u, self.u.things["Node"]
        count = lambda says: z3.Sum([If(says(n), 1, 0) for n in nodes])
        size = lambda c: count(lambda n: self.voter(n, c))
        few = self.lacks("reads-enough")
        return [
            self.ver(self.root) == 0, self.parent(self.root) == self.root,
            u.every("Quorum", lambda q: 2 * count(lambda n: self.member(n, q)) > size(self.of(q))),
            u.every("Node Quorum", lambda n, q: Implies(
                self.member(n, q), self.voter(n, self.of(q)))),
            u.every("Readset", lambda b: 2 * count(lambda n: self.reads(n, b)) >=
                    size(self.read_of(b)) - (1 if few else 0)),
            u.every("Node Readset", lambda n, b: Implies(
                self.reads(n, b), And(self.voter(n, self.read_of(b)), n != self.reader(b)))),
            u.every("Req", lambda r: And(0 <= self.term(r), self.term(r) <= 5)),
        ] + [self.voter(n, self.root) == (i < self.founders) for i, n in enumerate(nodes)]

    def founded(self, s):
        """To shorten runs of the small model: every node has founded; or none, if it is `new`."""
        return self.u.every("Node", lambda n: And(
            s.lost(n) == self.new, s.highest(n) == 0, s.anon(n), s.conf(n) == self.root,
            s.fresh(n)))

    new, founders = False, 3

    def initial(self, s):
        u = self.u
        nobody = lambda f: u.every("Node Node", lambda n, m: Not(f(n, m)))
        return And(
            super().initial(s),
            self.founded(s) if u.sizes else u.every("Node", s.lost),
            nobody(s.told), nobody(s.knows), nobody(s.clean),
            u.every("Node", lambda n: Not(s.asked(n))),
            u.every("Lease", lambda e: Not(s.led(e))),
            u.every("Config", lambda c: s.made(c) == (c == self.root)),
            s.top() == 0, s.line(0) == self.root)

    # --- how long ---

    def length(self, r):
        """A lease that rests on r is over once this has passed, and a lock for it is not seen to
        be over before. `clocks.py` has more exact lengths."""
        return self.LENGTH(r)

    def lock(self, s, n, r, mine, T):
        """Not shorter than before, if it was locked to that life already."""
        until, own = T + self.LENGTH(r), T + self.LOCK(s.conf(n))
        if self.lacks("lock-as-asked"):
            return own
        keeps = And(mine, s.until(n) > until, not self.lacks("lock-never-shrinks"))
        return If(keeps, s.until(n), until)

    def quarantine(self, s, n):
        """The lockTime of its list, and of the one before if its own may be open. Without state it
        knows neither: see `lapse`."""
        c = s.conf(n)
        mine, before = self.LOCK(c), self.LOCK(self.parent(c))
        if self.lacks("quarantine-by-both-lists"):
            return mine
        return If(Or(self.committed(s, c), mine >= before), mine, before)

    def waits(self, s, n, c):
        """A node without state was in quarantine for as long as one with this list would be."""
        mine, before = self.LOCK(c), self.LOCK(self.parent(c))
        return And(mine <= s.waited(n), Or(self.committed(s, c), before <= s.waited(n)))

    # --- what a node can tell ---

    def committed(self, s, c):
        """May be believed once a lease by majorities of both lists is known of."""
        return And(0 <= self.ver(c), self.ver(c) <= s.top(), s.line(self.ver(c)) == c)

    def takes(self, s, n, c):
        """Its own list, a newer one, or another one of the same version if that is committed."""
        mine = s.conf(n)
        newer = Or(self.ver(c) > self.ver(mine), self.lacks("older-lists-refused"))
        committed = self.rule("forks-refused", self.committed(s, c))
        return Or(c == mine, newer, And(self.ver(c) == self.ver(mine), committed))

    def voted(self, s, n):
        """A lease or a commit has rested on a vote of n, or may, for a later list."""
        u = self.u
        return Not(And(
            u.every("Req", lambda r: Implies(s.granted(n, r), self.cfg(r) == self.root)),
            u.every("Lease", lambda e: Implies(
                s.led(e), Not(self.member(n, self.lease_quorum(e))))),
            u.every("Int", lambda v: Implies(
                And(1 <= v, v <= s.top()), Not(self.member(n, s.cq(v)))))))

    def version(self, e):
        """The version of the list that a lease rested on."""
        return self.ver(self.of(self.lease_quorum(e)))

    # --- lives ---

    def start(self, s):
        guard, a = super().start(s)
        n, T, x = self.params["n"], self.params["T"], self.some(x="Real")
        return guard, a.but(need=put(s.need, n, s.top()), born=put(s.born, n, T),
                            waited=put(s.waited, n, x))

    def restart(self, s):
        guard, a = super().restart(s)
        a = a.but(born=put(s.born, self.params["n"], self.params["T"]))
        if self.lacks("term-is-durable"):
            n, h = self.params["n"], self.some(h="Int")
            a = a.but(highest=put(s.highest, n, h), anon=put(s.anon, n, True))
        if self.lacks("list-is-durable"):
            n, c = self.params["n"], self.some(c="Config")
            guard, a = And(guard, s.made(c)), a.but(conf=put(s.conf, n, c))
        return guard, a

    def restart_lost(self, s):
        """Another life, without what was stored."""
        guard, a = super().restart(s)
        n, h, c = self.params["n"], *self.some(h="Int", c="Config")
        return And(guard, s.made(c)), a.but(
            lost=put(s.lost, n, not self.lacks("lost-is-silent")), anon=put(s.anon, n, True),
            highest=put(s.highest, n, h), conf=put(s.conf, n, c),
            born=put(s.born, n, self.params["T"]))

    def crash(self, s):
        guard, a = super().crash(s)
        if self.lacks("answers-name-life"):
            return guard, a
        n = self.params["n"]
        return guard, a.but(told=wipe(s.told, n), knows=wipe(s.knows, n),
                            clean=wipe(s.clean, n), asked=put(s.asked, n, False))

    def is_over(self, s, n, T):
        """Without state it waits for any time x, and then looks whether that was enough."""
        x = self.some(x="Real")
        return If(s.lost(n), And(0 < x, T - s.born(n) > x), T > s.until(n))

    def lapse(self, s):
        guard, a = super().lapse(s)
        n, x = self.params["n"], self.params["x"]
        return guard, a.but(need=put(s.need, n, s.top()), waited=put(s.waited, n, x))

    def wait_longer(self, s):
        """It was told of a list for which its quarantine was too short. It forgets all it was
        told."""
        n = self.some(n="Node")
        forgotten = not self.lacks("read-after-longer-quarantine")
        told = wipe(s.told, n) if forgotten else s.told
        return And(s.runs(n), s.lost(n), Not(s.locked(n))), s.but(
            locked=put(s.locked, n, True), bound=put(s.bound, n, True), told=told,
            clean=wipe(s.clean, n), asked=put(s.asked, n, False))

    # --- terms and leases ---

    def request(self, s):
        """With a list that was made, in practice its own, and any term. It counts as open unless
        its list is known to be committed."""
        guard, a = super().request(s)
        r = self.params["r"]
        return And(guard, s.made(self.cfg(r)), Or(self.open(r), self.committed(s, self.cfg(r)))), a

    def grant(self, s):
        """A higher term, or the highest again to the same life. Stored before the reply."""
        guard, a = super().grant(s)
        n, r = self.params["n"], self.params["r"]
        same = self.rule("equal-term-to-same-life", And(
            Not(s.anon(n)), s.grantee(n) == self.owner(r)))
        again = And(self.term(r) == s.highest(n), same)
        c = self.cfg(r)
        return And(guard, Not(s.lost(n)), Or(self.term(r) > s.highest(n), again),
                   self.takes(s, n, c)), a.but(
            highest=put(s.highest, n, self.term(r)), grantee=put(s.grantee, n, self.owner(r)),
            anon=put(s.anon, n, False), conf=put(s.conf, n, c), fresh=put(s.fresh, n, False))

    def lease(self, s):
        """A lease that runs now, by votes for one list. To take it is a step within one process,
        which nobody sees: so it happens at its reading."""
        guard, a = super().adopt(s)
        n, r, q = (self.params[x] for x in "nrq")
        e, k = self.some(e="Lease", k="Int")
        l, c = s.life(n), self.cfg(r)
        one = self.u.every("Node", lambda m: Implies(
            self.member(m, q), self.cfg(self.v(m)) == c))
        not_back = self.u.every("Lease", lambda f: Implies(
            And(s.led(f), self.lease_life(f) == l),
            Or(self.version(f) < self.ver(c), self.of(self.lease_quorum(f)) == c)))
        record = And(Not(s.led(e)), self.lease_life(e) == l, self.lease_token(e) == k,
                     self.lease_quorum(e) == q)
        runs = And(a.now() == a.seen(n), a.now() < self.end(r))
        return And(guard, runs, record, self.of(q) == c, self.rule("one-list-per-lease", one),
                   self.rule("lease-never-goes-back", not_back)), a.but(
            token=put(s.token, l, k), lconf=put(s.lconf, l, c), led=put(s.led, e, True))

    def new_reign(self, s, *quorums):
        """Votes for one term, higher than any that this life has led with."""
        l, k = s.life(self.params["n"]), self.params["k"]
        higher = self.u.every("Lease", lambda f: Implies(
            And(s.led(f), self.lease_life(f) == l), self.lease_token(f) < k))
        one = self.terms(quorums, lambda term: term == k)
        if self.lacks("one-term-per-reign"):
            one = k == self.term(self.params["r"])
        return And(one, self.rule("new-reign-has-new-term", higher))

    def renewal(self, s, a, *quorums):
        """The lease still runs; the token is no higher than any vote's term, and may grow."""
        l, k = s.life(self.params["n"]), self.params["k"]
        least = self.rule("token-is-least", self.terms(quorums, lambda term: k <= term))
        runs = self.rule("only-running-leases-renewed", a.now() < s.ends(l))
        return And(least, k <= self.term(self.params["r"]), s.leads(l), runs,
                   self.rule("token-never-falls", s.token(l) <= k))

    def terms(self, quorums, fits):
        return And([self.u.every("Node", lambda m: Implies(
            self.member(m, q), fits(self.term(self.v(m))))) for q in quorums])

    def adopt(self, s):
        """A new reign by a list that is committed."""
        guard, a = self.lease(s)
        r, q = self.params["r"], self.params["q"]
        committed = self.rule("both-majorities", self.committed(s, self.cfg(r)))
        return And(guard, committed, self.new_reign(s, q)), a

    def renew(self, s):
        """A longer lease by a list that is committed."""
        guard, a = self.lease(s)
        r, q = self.params["r"], self.params["q"]
        committed = self.rule("both-majorities", self.committed(s, self.cfg(r)))
        return And(guard, committed, self.renewal(s, a, q)), a

    def adopt_joint(self, s):
        """A new reign by majorities of a list and of its parent."""
        guard, a, p = self.joint(s)
        return And(guard, self.new_reign(s, self.params["q"], p)), a

    def renew_joint(self, s):
        """A longer lease by majorities of a list and of its parent."""
        guard, a, p = self.joint(s)
        return And(guard, self.renewal(s, a, self.params["q"], p)), a

    def joint(self, s):
        """This commits the list."""
        guard, a = self.lease(s)
        p = self.some(p="Quorum")
        n, r, e = (self.params[x] for x in "nre")
        c = self.cfg(r)
        one = self.rule("one-list-per-lease", self.u.every("Node", lambda m: Implies(
            self.member(m, p), self.cfg(self.v(m)) == c)))
        votes = self.votes(s, s.life(n), p, self.v, r)
        v = self.ver(c)
        new = v > s.top()
        once = lambda f, value: lambda x: If(And(new, x == v), value, f(x))
        return And(guard, self.of(p) == self.parent(c), one, votes), a.but(
            top=val(If(new, v, s.top())), line=once(s.line, c), cq=once(s.cq, p),
            ce=once(s.ce, e)), p

    def learn(self, s):
        """It stores a higher term that it has heard of."""
        n, k = self.some(n="Node", k="Int")
        return And(s.runs(n), Not(s.lost(n)), s.highest(n) < k), s.but(
            highest=put(s.highest, n, k), anon=put(s.anon, n, True), fresh=put(s.fresh, n, False))

    # --- lists ---

    def learn_list(self, s):
        """It stores a list that it has heard of."""
        n, c = self.some(n="Node", c="Config")
        return And(s.runs(n), Not(s.lost(n)), s.made(c), self.takes(s, n, c)), s.but(
            conf=put(s.conf, n, c))

    def change(self, s):
        """It makes the next list from its own, which is committed, and stores it. In practice it
        leads; the proof does not need that."""
        n, c = self.some(n="Node", c="Config")
        d = s.conf(n)
        child = And(Not(s.made(c)), c != self.root, self.parent(c) == d,
                    self.ver(c) == self.ver(d) + 1)
        committed = self.rule("one-change-at-a-time", self.committed(s, d))
        return And(s.runs(n), Not(s.lost(n)), child, committed), s.but(
            made=put(s.made, c, True), conf=put(s.conf, n, c))

    # --- a node without state: reading ---

    def answer(self, s):
        """m, which has state, tells n, which has none and whose quarantine is over, of its own."""
        n, m = self.some(n="Node", m="Node")
        after = self.rule("read-after-quarantine", Not(s.locked(n)))
        has = self.rule("read-from-intact", Not(s.lost(m)))
        return And(s.runs(n), s.lost(n), after, s.runs(m), has, n != m), s.but(
            told=put(s.told, n, m, True), tterm=put(s.tterm, n, m, s.highest(m)),
            tconf=put(s.tconf, n, m, s.conf(m)))

    def recover(self, s):
        """n has read from enough voters of the newest list d it was told of; and of its parent,
        unless it was told that d is committed."""
        n, w, b, p = self.some(n="Node", w="Node", b="Readset", p="Readset")
        k, fresh = self.some(k="Int", fresh="Bool")  # `fresh` is up to it: safety needs nothing
        d = s.tconf(n, w)
        committed = self.rule("no-open-fork", self.committed(s, d))
        newest = lambda c: self.rule("takes-newest-list", Or(
            self.ver(c) < self.ver(d), c == d, And(self.ver(c) == self.ver(d), committed)))
        fits = lambda m: And(s.told(n, m), newest(s.tconf(n, m)),
                             self.rule("takes-highest-term", s.tterm(n, m) <= k))
        in_b = lambda m: And(self.reads(m, b), not self.lacks("reads-newest-list"))
        in_p = lambda m: And(self.reads(m, p), Not(self.committed(s, d)),
                             not self.lacks("reads-parent-list"))
        enough = self.u.every("Node", lambda m: Implies(Or(in_b(m), in_p(m), m == w), fits(m)))
        sets = And(self.reader(b) == n, self.reader(p) == n, self.read_of(b) == d,
                   self.read_of(p) == self.parent(d))
        waited = self.rule("waits-for-what-it-reads", self.waits(s, n, d))
        return And(s.runs(n), s.lost(n), sets, waited, enough), s.but(
            lost=put(s.lost, n, False), highest=put(s.highest, n, k), anon=put(s.anon, n, True),
            conf=put(s.conf, n, d), fresh=put(s.fresh, n, fresh))

    # --- a node without state: founding ---

    def others(self, n, says):
        """It holds of all other voters of the founding list."""
        return self.u.every("Node", lambda m: Implies(
            And(self.voter(m, self.root), m != n), says(m)))

    def is_clean(self, s, m):
        """It has no state, or has granted nothing since it got its state."""
        return Or(s.lost(m), s.fresh(m))

    def hear(self, s):
        """n hears of a life of m, and begins to ask all anew."""
        n, m, x = self.some(n="Node", m="Node", x="Life")
        return And(s.runs(n), s.lost(n), s.used(x), self.node(x) == m), s.but(
            knows=put(s.knows, n, m, True), klife=put(s.klife, n, m, x),
            asked=put(s.asked, n, False), clean=wipe(s.clean, n))

    def ask_all(self, s):
        """n, after its quarantine, knows a life of all others and asks whether these are clean.

        Assumed: if a lease or a commit has ever rested on a vote of n, or n has voted by a list
        that is not the founding list, then some other voter of the founding list is not clean at
        this moment."""
        n, w = self.some(n="Node", w="Node")
        kept = And(w != n, self.voter(w, self.root), Not(self.is_clean(s, w)))
        after = self.rule("founds-after-quarantine", And(
            Not(s.locked(n)), self.waits(s, n, self.root)))
        assumed = self.rule("assumed-some-state-kept", Or(Not(self.voted(s, n)), kept))
        known = self.others(n, lambda m: s.knows(n, m))
        return And(s.runs(n), s.lost(n), after, known, assumed), s.but(
            asked=put(s.asked, n, True), clean=wipe(s.clean, n), witness=put(s.witness, n, w))

    def say_clean(self, s):
        """m says that it has no state, or has never granted anything, in the life that n named."""
        n, m = self.some(n="Node", m="Node")
        known = self.rule("lives-known-before", s.life(m) == s.klife(n, m))
        never = self.rule("clean-never-granted", self.is_clean(s, m))
        return And(s.runs(n), s.lost(n), s.asked(n), s.runs(m), known, never), s.but(
            clean=put(s.clean, n, m, True))

    def begin(self, s, n):
        """The state of a node that has never voted. Any term will do to begin with."""
        h = self.some(h="Int")
        return s.but(lost=put(s.lost, n, False), highest=put(s.highest, n, h),
                     anon=put(s.anon, n, True), conf=put(s.conf, n, self.root),
                     fresh=put(s.fresh, n, True))

    def found(self, s):
        """All other voters of the founding list are clean."""
        n = self.some(n="Node")
        clean = self.others(n, lambda m: s.clean(n, m))
        if self.lacks("all-others-clean"):  # but one
            x = self.some(x="Node")
            clean = self.others(n, lambda m: Or(s.clean(n, m), m == x))
        return And(s.runs(n), s.lost(n), s.asked(n), clean), self.begin(s, n)

    def bootstrap(self, s):
        """The operator's word that n has never voted; assumed to be true. After the quarantine it
        is enough that nothing has rested on a vote of n; before its end, n has granted nothing."""
        n = self.some(n="Node")
        over = And(Not(s.locked(n)), self.waits(s, n, self.root))
        never = self.u.every("Req", lambda r: Not(s.granted(n, r)))
        return And(s.runs(n), s.lost(n),
                   Or(over, self.rule("assumed-operator-is-right-at-once", never)),
                   self.rule("assumed-operator-is-right", Not(self.voted(s, n)))), self.begin(s, n)
