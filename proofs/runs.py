"""Runs of small models: witnesses, which show that a model can do something, and mutants, which
show what goes wrong without a rule. The scripts are ours; the solver chooses the rest."""
from z3 import And, Or

from group_proof import Group
from kit import broken, run, state_at
from leases import Leases

ELECT = " request grant grant adopt"
READ = " restart_lost lapse answer answer recover"
SMALL = {"Node": 3, "Life": 4, "Req": 4, "Quorum": 2}
GROUP = SMALL | {"Config": 1, "Lease": 2, "Readset": 1, "Int": 2}


class Witness:
    """A run that ends with a leader, and with what `goal` says."""

    def __init__(self, name, model, script, sizes, new=False, founders=None, goal=None):
        self.name, self.model, self.script, self.sizes = name, model, script, sizes
        self.new, self.founders, self.goal = new, founders, goal

    def small(self, without=None):
        model = self.model(without, self.sizes)
        model.new, model.founders = self.new, self.founders or self.sizes["Node"]
        return model

    def check(self):
        """Whether the run exists, a note, and the run."""
        model = self.small()
        leads = lambda s: Or([model.leading(s, l) for l in model.u.things["Life"]])
        goal = (lambda s: And(leads(s), self.goal(model, s))) if self.goal else leads
        answer, text = run(model, self.script, goal)
        return answer == "sat", "" if answer == "sat" else answer, text


class Mutant(Witness):
    """A run that breaks a promise without the rule, and does not exist with it."""

    def check(self):
        model, whole = self.small(self.name), self.small()
        answer, text = run(model, self.script, broken(model))
        with_rule, _ = run(whole, self.script, broken(whole), timeout=20)
        note = "" if with_rule == "unsat" else f"with the rule: {with_rule}"
        if answer != "sat":
            note = f"no run: {answer}"
        return answer == "sat" and with_rule != "sat", note, text


def elect(r, q, *voters, how="adopt"):
    """The first of these voters asks, and leads by the votes of all."""
    grants = " ".join(f"grant:n{n},r{r}" for n in voters)
    return f" request:n{voters[0]},r{r} {grants} {how}:n{voters[0]},r{r},q{q}"


def read(n, *others):
    """It comes back without state, and reads from these."""
    answers = " ".join(f"answer:n{n},m{m}" for m in others)
    return f" restart_lost:n{n} lapse:n{n} {answers} recover:n{n}"


def found(n, *others):
    """It founds by the word of these."""
    hears = " ".join(f"hear:n{n},m{m}" for m in others)
    clean = " ".join(f"say_clean:n{n},m{m}" for m in others)
    return f" {hears} ask_all:n{n} {clean} found:n{n}"


# Voters of the founding list are 0, 1 and 2. Node 0 leads, makes another list, and commits it with
# the votes of 1 (of the old list) and 3 (of the new one).
CHANGE = elect(0, 0, 0, 1) + " change:n0,c1" + elect(1, 1, 0, 1, 3, how="renew_joint")
# Node 0 makes a list and nobody hears of it; node 1 makes another one, and commits it.
FORK = (elect(0, 0, 0, 1) + " change:n0,c1 lapse:n1" + elect(1, 1, 1, 2) + " change:n1,c2"
        + elect(2, 2, 1, 2, 4, how="renew_joint"))
LISTS = {"Node": 5, "Life": 6, "Req": 5, "Quorum": 5, "Config": 3, "Lease": 5, "Readset": 2,
         "Int": 4}

# Of five founders node 0 makes a list of the same five, and node 1 votes for its request.
FIVE = {"Node": 5, "Life": 6, "Req": 2, "Quorum": 3, "Config": 2, "Lease": 2, "Readset": 1,
        "Int": 3}


def longer(model, s):
    """The second list has a longer lockTime, and the lease lasts beyond the first one's."""
    (first, second), last = model.u.things["Config"][:2], model.u.things["Req"][2]
    return And(model.parent(second) == first, model.LOCK(second) > model.LOCK(first),
               s.now() > model.at(last) + model.LOCK(first))


def shorter(model, s):
    """Another one leads although a lockTime of the first list has not passed."""
    (first, second), last = model.u.things["Config"][:2], model.u.things["Req"][2]
    return And(model.parent(second) == first, model.LOCK(second) < model.LOCK(first),
               s.now() < model.at(last) + model.LOCK(first), s.leads(model.u.things["Life"][1]))


WITNESSES = [
    Witness("a leader", Leases, ELECT, SMALL),
    Witness("a longer lease", Leases, ELECT + " request grant adopt", SMALL),
    Witness("two leaders, one after the other", Leases, ELECT + " lapse" + ELECT, SMALL),
    Witness("handing over", Leases, ELECT + " give_up unlock" + ELECT, SMALL),
    Witness("a supporter that began again", Leases, ELECT + " crash restart lapse" + ELECT, SMALL),
    Witness("a leader that began again", Leases,
            ELECT + " crash restart lapse lapse" + ELECT, SMALL),
    Witness("a killed leader is replaced at once", Leases,
            ELECT + " crash will unlock" + ELECT, SMALL),
    Witness("a killed leader of a group is replaced at once", Group,
            elect(0, 0, 0, 1) + " crash:n0 will:l0 unlock:n1" + elect(1, 1, 1, 2), GROUP),
    Witness("a leader after founding", Group,
            found(0, 1, 2) + found(1, 0, 2) + elect(0, 0, 0, 1), GROUP, new=True),
    Witness("one that came late to the founding", Group,
            found(0, 1, 2) + found(1, 0, 2) + elect(0, 0, 0, 1) + " answer:n2,m0 answer:n2,m1"
            " recover:n2 lapse:n1" + elect(1, 1, 2, 1), GROUP, new=True),
    Witness("a disk lost between founding and the first leader", Group,
            found(0, 1, 2) + found(1, 0, 2) + " crash:n0 restart_lost:n0 lapse:n0"
            + found(0, 1, 2) + elect(0, 0, 0, 1), GROUP, new=True),
    Witness("a group of one by the operator's word", Group,
            "bootstrap:n0" + elect(0, 0, 0), GROUP, new=True, founders=1),
    Witness("one that begins again to found the group, and answers in its quarantine", Group,
            "crash:n0 restart_lost:n0 bootstrap:n0 answer:n1,m0 lapse:n0 bootstrap:n1"
            + elect(0, 0, 0, 1), GROUP, new=True),
    Witness("a longer lease of a group", Group, ELECT + " request grant grant renew", GROUP),
    Witness("a leader after a lost disk", Group,
            elect(0, 0, 0, 1) + " crash:n1" + read(1, 0, 2) + elect(1, 1, 1, 2), GROUP),
    Witness("a leader after a change of members", Group, CHANGE, LISTS, founders=3),
    Witness("another one after a change of members", Group,
            CHANGE + " lapse:n3" + elect(2, 2, 3, 4), LISTS, founders=3),
    Witness("a disk lost during a change of members", Group,
            elect(0, 0, 0, 1) + " change:n0,c1 crash:n1" + read(1, 0, 2)
            + elect(1, 1, 0, 1, 3, how="adopt_joint"), LISTS, founders=3),
    Witness("a disk lost after one of three was removed and died", Group,
            elect(0, 0, 0, 1) + " change:n0,c1" + elect(1, 1, 0, 1, how="renew_joint")
            + " crash:n2 crash:n1" + read(1, 0) + elect(2, 1, 0, 1), LISTS, founders=3),
    Witness("a longer lockTime", Group, CHANGE + elect(2, 1, 0, 1, 3, how="renew") + " pass_time",
            LISTS, founders=3, goal=longer),
    Witness("a shorter lockTime", Group, CHANGE + elect(2, 1, 0, 1, 3, how="renew")
            + " crash:n0 lapse:n1 lapse:n3" + elect(3, 2, 1, 3), LISTS, founders=3, goal=shorter),
    Witness("a disk lost after a change to a longer lockTime", Group,
            CHANGE + " crash:n1 restart_lost:n1 lapse:n1 answer:n1,m0 wait_longer:n1 lapse:n1"
            " answer:n1,m0 answer:n1,m3 recover:n1 lapse:n3" + elect(2, 2, 3, 1), LISTS,
            founders=3, goal=lambda model, s: model.LOCK(model.u.things["Config"][1])
            > model.LOCK(model.root)),
    Witness("a fork that is healed", Group,
            FORK + " learn_list:n0,c2 lapse:n0 lapse:n4" + elect(3, 3, 0, 4), LISTS, founders=3),
]

MUTANTS = [
    Mutant("lease-from-sending", Leases, "request grant grant lapse" + ELECT + " adopt", SMALL),
    Mutant("quarantine", Leases, ELECT + " crash restart" + ELECT, SMALL),
    Mutant("release-ends-lease", Leases, ELECT + " give_up unlock" + ELECT, SMALL),
    Mutant("intersection", Leases, ELECT + ELECT, SMALL),
    Mutant("drift-margin", Leases, ELECT + " lapse" + ELECT, SMALL),
    Mutant("own-vote-locks", Leases, ELECT + ELECT, SMALL),
    Mutant("release-names-request", Leases, "request give_up" + ELECT + " unlock" + ELECT, SMALL),
    Mutant("release-names-life", Leases,
           "give_up crash restart lapse" + ELECT + " unlock" + ELECT, SMALL),
    Mutant("later-requests", Leases, "request give_up" + ELECT + " unlock" + ELECT, SMALL),
    Mutant("old-request-is-no-news", Leases,
           "request give_up" + ELECT + " grant unlock" + ELECT, SMALL),
    Mutant("released-votes-are-void", Leases,
           "request grant grant give_up unlock" + ELECT + " adopt", SMALL),
    Mutant("will-of-the-dead", Leases, ELECT + " will unlock" + ELECT, SMALL),
    Mutant("will-after-work", Leases, ELECT + " crash will unlock" + ELECT, SMALL),
    Mutant("reading-after-receipt", Leases, ELECT + " lapse" + ELECT, SMALL),
    Mutant("clock-never-goes-back", Leases, "request" + ELECT + " grant lapse" + ELECT, SMALL),
    Mutant("lease-is-the-shortest", Leases,
           "request:n0,r0 grant:n1,r0 request:n0,r1 grant:n0,r1 adopt:n0,r1 lapse:n1" + ELECT,
           SMALL),
    # terms
    Mutant("equal-term-to-same-life", Group, elect(0, 0, 0, 1) + " lapse:n1" + elect(1, 1, 2, 1),
           GROUP),
    Mutant("term-is-durable", Group,
           elect(0, 0, 0, 1) + " crash:n1 restart:n1 lapse:n1" + elect(1, 1, 2, 1), GROUP),
    Mutant("one-term-per-reign", Group,
           "request:n0,r0 request:n0,r1 grant:n1,r1 grant:n0,r0 adopt:n0,r0,q0 lapse:n1"
           + elect(2, 1, 2, 1), GROUP),
    Mutant("new-reign-has-new-term", Group,
           "request:n0,r0 request:n0,r1 grant:n1,r1 grant:n2,r1 grant:n1,r0 grant:n2,r0"
           " adopt:n0,r0,q0 adopt:n0,r1,q0", GROUP),
    Mutant("token-is-least", Group,
           elect(0, 0, 0, 1) + " request:n0,r1 request:n0,r2 grant:n1,r2 grant:n0,r1"
           " renew:n0,r1,q0 lapse:n1" + elect(3, 1, 2, 1), GROUP | {"Lease": 3}),
    Mutant("token-never-falls", Group,
           "request:n0,r0 request:n0,r1 grant:n1,r1 grant:n2,r1 grant:n1,r0 grant:n2,r0"
           " adopt:n0,r0,q0 renew:n0,r1,q0", GROUP),
    Mutant("only-running-leases-renewed", Group,
           elect(0, 0, 0, 1) + " request:n0,r1 grant:n0,r1 lapse:n1" + elect(2, 1, 2, 1)
           + " give_up:n2 unlock:n1 request:n0,r3 grant:n1,r3 renew:n0,r1,q0",
           GROUP | {"Lease": 3}),
    # lost disks
    Mutant("lost-is-silent", Group,
           elect(0, 0, 0, 1) + " crash:n1 restart_lost:n1 lapse:n1" + elect(1, 1, 2, 1), GROUP),
    Mutant("reads-enough", Group, elect(0, 0, 0, 1) + " crash:n1" + read(1, 2) + elect(1, 1, 2, 1),
           GROUP),
    Mutant("read-after-quarantine", Group,
           "request:n2,r0 grant:n0,r0 crash:n0 restart_lost:n0 answer:n0,m1 answer:n0,m2"
           " grant:n2,r0 adopt:n2,r0,q0 recover:n0 lapse:n0" + elect(1, 1, 1, 0), GROUP),
    Mutant("read-from-intact", Group,
           elect(0, 0, 0, 1) + " crash:n0 crash:n1 restart_lost:n0" + read(1, 0, 2)
           + elect(1, 1, 2, 1), GROUP | {"Life": 5}),
    Mutant("takes-highest-term", Group,
           elect(0, 0, 0, 1) + " crash:n1" + read(1, 0, 2) + elect(1, 1, 2, 1), GROUP),
    Mutant("answers-name-life", Group,
           "crash:n0" + read(0, 1, 2) + elect(0, 0, 2, 0)
           + " crash:n0 restart_lost:n0 lapse:n0 recover:n0" + elect(1, 1, 1, 0),
           GROUP | {"Life": 5}),
    # founding
    Mutant("founds-after-quarantine", Group,
           "request:n2,r0 grant:n0,r0 crash:n0 restart_lost:n0" + found(0, 1, 2)
           + " grant:n2,r0 adopt:n2,r0,q0 lapse:n0" + elect(1, 1, 1, 0), GROUP),
    Mutant("all-others-clean", Group,
           elect(0, 0, 0, 1) + " crash:n1 restart_lost:n1 lapse:n1 hear:n1,m0 hear:n1,m2 ask_all:n1"
           " say_clean:n1,m2 found:n1" + elect(1, 1, 2, 1), GROUP),
    Mutant("clean-never-granted", Group,
           elect(0, 0, 0, 1) + " crash:n1 restart_lost:n1 lapse:n1" + found(1, 0, 2)
           + elect(1, 1, 2, 1), GROUP),
    # Five: 0, 1 and 2 vote for a leader; 0 loses its disk, then 1, which recovers, then 2.
    Mutant("lives-known-before", Group,
           elect(0, 0, 0, 1, 2) + " crash:n0 restart_lost:n0 lapse:n0 hear:n0,m1 hear:n0,m2"
           " hear:n0,m3 hear:n0,m4 ask_all:n0 say_clean:n0,m3 say_clean:n0,m4 crash:n1"
           " restart_lost:n1 say_clean:n0,m1 lapse:n1 answer:n1,m2 answer:n1,m3 answer:n1,m4"
           " recover:n1 crash:n2 restart_lost:n2 say_clean:n0,m2 found:n0" + elect(1, 1, 3, 4, 0),
           {"Node": 5, "Life": 8, "Req": 2, "Quorum": 2, "Config": 1, "Lease": 2, "Readset": 1,
            "Int": 2}),
    Mutant("assumed-some-state-kept", Group,
           elect(0, 0, 0, 1) + " crash:n0 crash:n1 restart_lost:n0 restart_lost:n1 lapse:n1"
           + found(1, 0, 2) + elect(1, 1, 2, 1), GROUP | {"Life": 5}),
    Mutant("assumed-operator-is-right", Group,
           elect(0, 0, 0, 1) + " crash:n1 restart_lost:n1 lapse:n1 bootstrap:n1"
           + elect(1, 1, 2, 1), GROUP),
    Mutant("assumed-operator-is-right-at-once", Group,
           " request:n0,r0 grant:n0,r0 grant:n1,r0 crash:n1 restart_lost:n1 bootstrap:n1"
           " adopt:n0,r0,q0 lapse:n1" + elect(1, 1, 1, 2), GROUP),
    # lists
    Mutant("both-majorities", Group,
           elect(0, 0, 0, 1) + " change:n0,c1 learn_list:n3,c1" + elect(1, 1, 3, 4), LISTS,
           founders=3),
    Mutant("older-lists-refused", Group,
           CHANGE + " request:n0,r2 grant:n0,r2 grant:n3,r2 renew:n0,r2,q1 lapse:n1"
           + elect(3, 2, 2, 1), LISTS, founders=3),
    Mutant("list-is-durable", Group,
           CHANGE + " crash:n1 restart:n1 request:n0,r2 grant:n0,r2 grant:n3,r2"
           " renew:n0,r2,q1 lapse:n1" + elect(3, 2, 2, 1), LISTS, founders=3),
    Mutant("one-change-at-a-time", Group,
           elect(0, 0, 0, 1) + " change:n0,c1 change:n0,c2 learn_list:n4,c2"
           + elect(1, 1, 4, 3, how="adopt_joint"), LISTS, founders=3),
    # Node 0 commits the second list without the vote of 1 for it, which goes on with the first.
    Mutant("one-list-per-lease", Group,
           elect(0, 0, 0, 1) + " change:n0,c1 request:n0,r1 request:n0,r2 grant:n0,r1 grant:n3,r1"
           " grant:n1,r2 renew_joint:n0,r1,q1 request:n0,r3 grant:n3,r3 renew:n0,r3,q1 lapse:n1"
           + elect(4, 2, 2, 1), LISTS, founders=3),
    # Node 0 asks by both lists, the older one last, and leads by the newer and then by the older.
    Mutant("lease-never-goes-back", Group,
           elect(0, 0, 0, 1) + " change:n0,c1 request:n0,r1 request:n0,r2 grant:n2,r2 grant:n1,r2"
           " grant:n0,r1 grant:n1,r1 grant:n3,r1 renew_joint:n0,r1,q1 renew:n0,r2,q3 lapse:n3"
           + elect(3, 2, 3, 4), LISTS, founders=3),
    Mutant("forks-refused", Group,
           FORK + " request:n1,r3 grant:n4,r3 renew:n1,r3,q2 lapse:n2"
           + elect(4, 3, 0, 2, 3, how="adopt_joint"), LISTS, founders=3),
    Mutant("takes-newest-list", Group,
           CHANGE + " crash:n1 request:n0,r2 grant:n0,r2 grant:n3,r2 renew:n0,r2,q1"
           + read(1, 0, 2) + elect(3, 2, 2, 1), LISTS, founders=3),
    Mutant("no-open-fork", Group,
           FORK + " request:n1,r3 grant:n4,r3 renew:n1,r3,q2 crash:n2" + read(2, 0, 1)
           + elect(4, 3, 0, 2, 3, how="adopt_joint"), LISTS, founders=3),
    Mutant("reads-parent-list", Group,
           elect(0, 0, 0, 1) + " change:n0,c1 learn_list:n3,c1 lapse:n1" + elect(1, 1, 1, 2)
           + " crash:n2" + read(2, 3) + elect(2, 2, 0, 2, 3, how="adopt_joint"), LISTS, founders=3),
    Mutant("reads-newest-list", Group,
           CHANGE + " lapse:n3" + elect(2, 2, 3, 4) + " crash:n3" + read(3, 0, 1)
           + " lapse:n0" + elect(3, 1, 0, 3), LISTS, founders=3),
    # lockTimes
    # Node 2 has the old list, with a shorter lockTime, and votes by the new one.
    Mutant("lock-as-asked", Group,
           elect(0, 0, 0, 1) + " change:n0,c1" + elect(1, 1, 0, 1, how="renew_joint")
           + " request:n0,r2 grant:n0,r2 grant:n2,r2 renew:n0,r2,q3 lapse:n2 lapse:n1"
           + elect(3, 2, 1, 2), LISTS, founders=3),
    # Node 1 votes by the new list, with a shorter lockTime, while node 0 leads by the old one.
    Mutant("lock-never-shrinks", Group,
           elect(0, 0, 0, 1) + " change:n0,c1 request:n0,r1 grant:n1,r1 lapse:n1"
           + elect(2, 1, 1, 2, how="adopt_joint"), LISTS, founders=3),
    Mutant("quarantine-by-both-lists", Group,
           elect(0, 0, 0, 1) + " change:n0,c1 learn_list:n1,c1 crash:n1 restart:n1 lapse:n1"
           + elect(1, 1, 1, 2, how="adopt_joint"), LISTS, founders=3),
    Mutant("waits-for-what-it-reads", Group,
           elect(0, 0, 0, 1) + " crash:n1" + read(1, 0, 2) + elect(1, 1, 1, 2), GROUP),
    Mutant("read-after-longer-quarantine", Group,
           "request:n2,r0 grant:n0,r0 crash:n0 restart_lost:n0 lapse:n0 answer:n0,m1 answer:n0,m2"
           " wait_longer:n0 grant:n2,r0 adopt:n2,r0,q0 lapse:n0 recover:n0" + elect(1, 1, 1, 0),
           GROUP),
    # Node 1 loses its disk and reads from three that know nothing of the new list, which has a
    # longer lockTime; its old vote makes a leader by that list beside one by the old list.
    Mutant("open-lists-last-no-longer", Group,
           "change:n0,c1 request:n0,r0 grant:n1,r0 crash:n1" + read(1, 2, 3, 4)
           + elect(1, 1, 2, 1, 3) + " grant:n0,r0 grant:n4,r0 adopt_joint:n0,r0,q0", FIVE),
]


def rules_without_mutant():
    """The rules of the models that no mutant takes away."""
    rules = set()
    for model in (Leases(), Group(), Group(sizes=GROUP)):
        state = state_at(model, 0)
        model.axioms()
        for action in model.ACTIONS:
            getattr(model, action)(state)
        rules |= model.rules
    return sorted(rules - {mutant.name for mutant in MUTANTS})
