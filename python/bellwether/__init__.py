"""Leader election: simulate it, measure it, try to break it, and be a member of a live group.

    import bellwether
    runs = bellwether.simulate("le-s", nodes=100, loss=0.4)
    runs.to_pandas()["leadership_delay"].hist()

Questions (`simulate`, `sweep`, `trace`, `check`, `analyze`, `plan`) have the parameters of the
commands of these names, with `_` for `-`, and the same answers. `parameters("simulate", "le-s")`
lists them.
`Election` is a member of a live group.
"""

from ._errors import (
    BellwetherError,
    FileError,
    ForkError,
    GoneError,
    LeadershipLostError,
    NotElectedError,
    NotNowError,
    ParameterError,
)
from ._live import Campaign, Election, Guard, Leadership
from ._native import VERSION as __version__
from ._questions import (
    analyze,
    check,
    parameters,
    plan,
    protocols,
    quantities,
    simulate,
    sweep,
    trace,
)
from ._results import (
    Analysis,
    Estimate,
    Parameter,
    Plan,
    Simulation,
    Summary,
    Sweep,
    Trace,
    Verdict,
    Violation,
)

__all__ = [
    "Analysis",
    "BellwetherError",
    "Campaign",
    "Election",
    "Estimate",
    "FileError",
    "ForkError",
    "GoneError",
    "Guard",
    "Leadership",
    "LeadershipLostError",
    "NotElectedError",
    "NotNowError",
    "Parameter",
    "ParameterError",
    "Plan",
    "Simulation",
    "Summary",
    "Sweep",
    "Trace",
    "Verdict",
    "Violation",
    "analyze",
    "check",
    "parameters",
    "plan",
    "protocols",
    "quantities",
    "simulate",
    "sweep",
    "trace",
]
