"""The method: a transition system that is written once and used twice.

To prove: every sort is uninterpreted (any number of things), `every` is a quantifier, and the
solver refutes, for each action and each part of the invariant, a step that breaks the part.
To run: every sort has a few named things, `every` is a conjunction, and the steps of a script are
unrolled, so that the solver finds a run of the small model.
"""
import itertools
import time

import z3
from z3 import And, Not, Or

UNIVERSES = itertools.count()
# What the solver does in a second on an idle core, as it counts. A limit in seconds would depend on
# what else the machine does.
STEPS = 2_500_000


class Universe:
    """The things there are: any number of each sort, or as many as `sizes` says."""

    def __init__(self, sorts, sizes=None):
        self.sizes, self.things, self.fresh, self.depth = sizes, {}, itertools.count(), 0
        self.sort = {"Real": z3.RealSort(), "Int": z3.IntSort(), "Bool": z3.BoolSort()}
        number = next(UNIVERSES)
        for name in sorts:
            if sizes is None:
                self.sort[name] = z3.DeclareSort(name)
            else:
                names = [f"{name.lower()}{i}_{number}" for i in range(sizes[name])]
                self.sort[name], self.things[name] = z3.EnumSort(f"{name}_{number}", names)
        if sizes is not None:
            self.things["Int"] = [z3.IntVal(i) for i in range(sizes.get("Int", 0))]

    def symbol(self, name, signature):
        """A function; `signature` lists the sorts of its arguments and, last, of its result."""
        *args, result = [self.sort[sort] for sort in signature.split()]
        if args:
            return z3.Function(name, *args, result)
        constant = z3.Const(name, result)
        return lambda: constant

    def some(self, sort):
        """A thing of which nothing is known."""
        return z3.Const(f"{sort.lower()}!{next(self.fresh)}", self.sort[sort])

    def some_map(self, signature):
        """A function of which nothing is known."""
        return self.symbol(f"map!{next(self.fresh)}", signature)

    def every(self, sorts, says, where=None):
        """`says` holds for all things of these sorts. `where` gives terms: in a proof the solver
        considers the things for which such terms occur."""
        sorts = sorts.split()
        if self.sizes is None:
            # The same names each time, so that what an action does not change is the same formula.
            names = [f"{s.lower()}?{self.depth}.{i}" for i, s in enumerate(sorts)]
            xs = [z3.Const(name, self.sort[s]) for name, s in zip(names, sorts)]
            terms = where(*xs) if where else []
            self.depth += 1
            body = says(*xs)
            self.depth -= 1
            # In a state that is written as a change of another one, such a term is no pattern.
            is_plain = lambda t: t.num_args() and t.decl().kind() == z3.Z3_OP_UNINTERPRETED
            plain = all(is_plain(t) for t in terms)
            patterns = [z3.MultiPattern(*terms)] if terms and plain else []
            return z3.ForAll(xs, body, patterns=patterns)
        return And([says(*xs) for xs in itertools.product(*(self.things[s] for s in sorts))])


class State:
    """A state: one function for each name in a model's STATE."""

    def __init__(self, parts):
        self.__dict__.update(parts)

    def but(self, **changed):
        """The same state with some functions replaced."""
        return State({**self.__dict__, **changed})


def put(f, *at_and_value):
    """The function f with another value at one place."""
    *at, value = at_and_value
    return lambda *xs: z3.If(And([x == a for x, a in zip(xs, at)]), value, f(*xs))


def wipe(f, n, value=False):
    """The function f with this value wherever the first argument is n."""
    return lambda x, *rest: z3.If(x == n, value, f(x, *rest))


def val(value):
    """The constant function."""
    return lambda: value


class Model:
    """What every model has. A model defines SORTS, STATE (changes), RIGID (never changes), ACTIONS,
    and the methods `axioms`, `initial`, `invariant`, `safety` and one for each action, which
    returns its guard and the state after it."""

    HINTS = {}

    def __init__(self, without=None, sizes=None):
        self.without, self.u = without, Universe(self.SORTS, sizes)
        self.params, self.rules = {}, set()
        for name, signature in self.RIGID.items():
            symbol = self.u.symbol(name, signature)
            setattr(self, name, symbol if " " in signature else symbol())

    def lacks(self, rule):
        """Whether this is the mutant without that rule."""
        self.rules.add(rule)
        return self.without == rule

    def rule(self, name, guard):
        """A part of a guard that has a name, so that a mutant can lack it."""
        return True if self.lacks(name) else guard

    def some(self, **sorts):
        """Parameters of an action; a script may fix them by the first letters of their names."""
        xs = {name: self.u.some(sort) for name, sort in sorts.items()}
        self.params.update(xs)
        return list(xs.values()) if len(xs) > 1 else next(iter(xs.values()))

    def simple(self, action, s):
        """A simpler state than s. The solver is asked whether the action can happen in such a one,
        because it finds one sooner."""
        return s

    def lemmas(self, action, s, after):
        """Facts to prove first, in this order; each may then be used for what follows."""
        return {}


class Proof:
    """The obligations of one model, each checked by a fresh solver."""

    def __init__(self, model, seed=0, timeout=20):
        self.model, self.seed, self.timeout = model, seed, timeout
        self.axioms = model.axioms()
        self.results = []  # (what, part, the solver's answer, whether it is wanted, seconds)

    def check(self, what, part, claims, wanted=z3.unsat):
        solver = z3.Solver()
        solver.set(rlimit=self.timeout * STEPS, random_seed=self.seed)
        solver.add(*self.axioms, *claims)
        start = time.time()
        answer = solver.check()
        self.results.append((what, part, answer, answer == wanted, time.time() - start))

    def run(self, only=None):
        """Initiation, consecution and safety. True if everything is proved."""
        model = self.model
        s = State({n: model.u.symbol(n, sig) for n, sig in model.STATE.items()})
        inv = model.invariant(s)
        if only is None:
            self.check("initially", "the axioms have a model", [model.initial(s)], z3.sat)
            for part, claim in inv.items():
                self.check("initially", part, [model.initial(s), Not(claim)])
        for name in model.ACTIONS:
            if only is None or only == name or only in inv:
                self.step(s, inv, name, only if only in inv else None)
        if only is None:
            for part, claim in model.safety(s).items():
                self.check("promise", part, [*inv.values(), Not(claim)])
        return not self.failures()

    def step(self, s, inv, name, only=None):
        """One action keeps all parts of the invariant."""
        model = self.model
        guard, after = getattr(model, name)(s)
        post, facts = model.invariant(after), {}
        for lemma, (claim, needs) in model.lemmas(name, s, after).items():
            known = [inv.get(need, facts.get(need)) for need in needs]
            self.check(name, lemma, [*known, guard, Not(claim)])
            facts[lemma] = claim
        for part, claim in post.items():
            if only in (None, part) and not claim.eq(inv[part]):
                needs = model.HINTS.get((name, part), list(inv) + list(facts))
                known = [inv.get(need, facts.get(need)) for need in needs]
                self.check(name, part, [*known, guard, Not(claim)])

    def possible(self):
        """Every action can happen in some state that the invariant allows: none is proved only
        because its guard is never true."""
        model = self.model
        s = State({n: model.u.symbol(n, sig) for n, sig in model.STATE.items()})
        for name in model.ACTIONS:
            simple = model.simple(name, s)
            guard, _ = getattr(model, name)(simple)
            self.check(name, "can happen", [*model.invariant(simple).values(), guard], z3.sat)
        return not self.failures()

    def failures(self):
        return [result for result in self.results if not result[3]]

    def seconds(self):
        return sum(seconds for *_, seconds in self.results)

    def slowest(self):
        return max(self.results, key=lambda result: result[4])


def state_at(model, i):
    return State({n: model.u.symbol(f"{n}@{i}", sig) for n, sig in model.STATE.items()})


def run(model, script, goal, timeout=120):
    """Looks for a run of the small model by these actions that ends in `goal`.

    A script is a list of actions: `grant:n0,r1` is a grant by node 0 of request 1; what is not
    fixed is free. Returns 'sat' and the run as text, or the solver's other answer."""
    u, solver = model.u, z3.Solver()
    solver.set(rlimit=timeout * STEPS)
    solver.add(*model.axioms())
    s, labels = state_at(model, 0), []
    solver.add(model.initial(s))
    for i, word in enumerate(script.split()):
        name, *pins = word.replace(":", ",").split(",")
        model.params = {}
        guard, after = getattr(model, name)(s)
        labels.append((name, dict(model.params)))
        solver.add(guard)
        for pin in pins:
            x = next(x for key, x in model.params.items() if key == pin.rstrip("0123456789"))
            number = int(pin[len(pin.rstrip("0123456789")):])
            things = [ts for ts in u.things.values() if ts and ts[0].sort() == x.sort()]
            solver.add(x == (things[0][number] if things else number))
        t = state_at(model, i + 1)
        for part, signature in model.STATE.items():
            *args, _ = signature.split()
            for xs in itertools.product(*(u.things[a] for a in args)):
                solver.add(getattr(t, part)(*xs) == getattr(after, part)(*xs))
        s = t
    solver.add(goal(s))
    answer = solver.check()
    if answer != z3.sat:
        return str(answer), ""
    found = solver.model()
    def value(x):
        return str(found.eval(x, model_completion=True)).split("_")[0]
    lines = [name + "".join(f" {k}={value(x)}" for k, x in params.items() if not callable(x))
             for name, params in labels]
    return "sat", "\n".join("      " + line for line in lines)


def broken(model):
    """The goal of a mutant's run: a promise is broken."""
    return lambda s: Or([Not(claim) for claim in model.safety(s).values()])
