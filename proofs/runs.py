"""Runs of small models: witnesses, which show that a model can do something, and mutants, which show
what goes wrong without a rule. The scripts are ours; the solver chooses whom and when."""
from z3 import Or

from group import Group
from kit import broken, run
from leases import Leases

ELECT = " request grant grant adopt"
READ = " restart_lost lapse answer answer recover"
SMALL = {"Node": 3, "Life": 4, "Req": 4, "Quorum": 2}
GROUP = SMALL | {"Config": 1, "Lease": 2, "Readset": 1, "Int": 2}


class Witness:
    """A run that ends with a leader."""

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
        answer, text = run(model, self.script, leads)
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


WITNESSES = [
    Witness("a leader", Leases, ELECT, SMALL),
]
MUTANTS = []
