"""The laboratory: simulate, sweep, trace, check, analyze, plan."""

from __future__ import annotations

import json
import textwrap
from os import PathLike, fspath
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union

from . import _native
from ._errors import ParameterError
from ._progress import Progress, following
from ._results import (
    Analysis, Estimate, Parameter, Plan, Simulation, Sweep, Trace, Verdict,
)

_COMMANDS = {
    "simulate": "sim",
    "sweep": "sweep",
    "trace": "trace",
    "check": "check",
    "analyze": "analyze",
    "plan": "plan",
    "Election": "run",
}
#: The protocols that can be planned.
PLANNED = ("announce-listen", "local-leader", "probabilistic")


def parameters(question: str = "simulate", protocol: Optional[str] = None) -> List[Parameter]:
    """The parameters of a question (`simulate`, `sweep`, `trace`, `check`, `analyze`, `plan` or
    `Election`), about one protocol or about any; `plan` needs one.

    Names, rules, defaults and help are those of the command's flags.
    """
    command = _COMMANDS.get(question)
    if command is None:
        known = ", ".join(_COMMANDS)
        raise ParameterError(f"no question is called {question!r}; there are {known}", "question")
    told = _native.offered(command, protocol)
    if told is None:
        known = PLANNED if question == "plan" else [row["protocol"] for row in protocols()]
        there = ", ".join(known)
        line = f"{question} knows no protocol {protocol!r}; there are {there}"
        raise ParameterError(line, "protocol")
    return [Parameter(it["name"], it["kind"], tuple(it["choices"]), it["default"], it["several"],
                      it["help"])
            for it in json.loads(told) if it["name"] != "from"]  # which is `recorded` here


def protocols() -> List[Dict[str, str]]:
    """All protocols: `protocol`, `promise`, `summary` and `source` of each."""
    return json.loads(_native.protocols())


def quantities() -> List[Dict[str, Any]]:
    """All quantities of `analyze`: `quantity`, `section`, `unit`, `about` and what it `reads`."""
    return json.loads(_native.quantities())


def simulate(protocol: Union[str, "PathLike[str]"], *, progress: Progress = None,
             **params: Any) -> Union[Simulation, Estimate]:
    """Simulates a protocol many times, and keeps the values of every run; with `rare` it estimates
    how probable that event is instead, and gives an `Estimate`.

    `protocol` is a name of `protocols()` or a scenario file (*.toml), which replaces all parameters
    but runs, seed and threads. A length of time is a text ("250ms"), a number of seconds or a
    timedelta. The same seed gives the same result, which is that of `bellwether sim`.

    `progress` is a function of (done, total); without it there is a bar if tqdm is installed.
    """
    if params.get("rare") is not None:
        with following(progress, "replication") as tell:
            return Estimate(json.loads(_native.estimate(fspath(protocol), params, tell)))
    with following(progress, "run") as tell:
        return Simulation(*_native.simulate(fspath(protocol), params, tell))


def _plain(value: Any) -> Any:
    """A value of a sweep that JSON has no word for: numbers and arrays of NumPy, lengths, paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "total_seconds"):
        return f"{value.total_seconds():.6f}".rstrip("0").rstrip(".") + "s"
    if isinstance(value, PathLike):
        return fspath(value)
    kind = type(value).__name__
    raise ParameterError(f"a value of a sweep is a text, a number, True, False, a list or a "
                         f"dictionary, not {kind}", None)


def sweep(described: Union[str, "PathLike[str]", Mapping[str, Any]], *, progress: Progress = None,
          **params: Any) -> Sweep:
    """Asks one question at many points, and makes one table of the answers.

    `described` is a file that `bellwether sweep` reads (*.toml), or a dictionary with the keys of
    one: `sweep({"sim": "le-s", "runs": 1000, "fixed": {"loss_model": "correlated"}, "axis":
    [{"loss": [0, .1, .2]}, {"nodes": [10, 100]}]})`. In `fixed` and `axis` are the parameters of
    `simulate`. With `out` finished pieces are kept in that folder, and the same call goes on after
    an interruption. The rows are those of `bellwether sweep`.

    `progress` is a function of (done, total); without it there is a bar if tqdm is installed.
    """
    file, keys = None, None
    if isinstance(described, Mapping):
        keys = json.dumps(_dashed(described), default=_plain)
    else:
        file = fspath(described)
    with following(progress, "run") as tell:
        return Sweep(json.loads(_native.sweep(file, keys, params, tell)))


def _dashed(described: Mapping[str, Any]) -> Dict[str, Any]:
    """The keys of a sweep, in which parameters have the names of flags: `-` for `_`."""
    def flags(table: Any) -> Any:
        if not isinstance(table, Mapping):
            return table
        return {str(name).replace("_", "-"): value for name, value in table.items()}
    whole = dict(described)
    if "fixed" in whole:
        whole["fixed"] = flags(whole["fixed"])
    if isinstance(whole.get("axis"), (list, tuple)):
        whole["axis"] = [flags(axis) for axis in whole["axis"]]
    return whole


def trace(protocol: Union[None, str, "PathLike[str]"] = None, *,
          recorded: Optional[Iterable[Union[str, "PathLike[str]"]]] = None,
          **params: Any) -> Trace:
    """Simulates one run of a protocol or of a scenario file (*.toml), and keeps all records.

    With `recorded` it reads the files into which live members recorded instead.
    """
    if recorded is not None:
        params["from"] = [fspath(path) for path in recorded]
    elif protocol is None:
        raise ParameterError("name a protocol, a scenario file or recorded=[files]", "protocol")
    what = None if protocol is None else fspath(protocol)
    return Trace(_native.trace(what, params))


def check(protocol: str, *, progress: Progress = None, **params: Any) -> Verdict:
    """Tries to break what a protocol promises, with random faults.

    The verdict is that of `bellwether check`; no file is written: a violation has its scenario and
    its picture as texts.
    """
    with following(progress, "schedule") as tell:
        return Verdict(json.loads(_native.check(protocol, params, tell)))


def analyze(quantity: str, *, progress: Progress = None, **params: Any) -> Analysis:
    """Computes what a paper computes: as printed, as corrected and, with `simulate=R`, as R runs
    measure it. `quantities()` lists what there is."""
    with following(progress, "run") as tell:
        return Analysis(json.loads(_native.analyze(quantity, params, tell)))


def plan(protocol: str, *, progress: Progress = None, **goals: Any) -> Plan:
    """Chooses the parameters of `announce-listen`, `local-leader` or `probabilistic` from goals,
    and confirms by simulation what to expect; `simulate=0` leaves that out.

    A search that is interrupted (Ctrl-C) goes on in the background until its present step is done.
    """
    with following(progress, "run") as tell:
        return Plan(json.loads(_native.plan(protocol, goals, tell)))


def describe(function: Callable[..., Any], told: List[Parameter], title: str) -> None:
    """Adds parameters to the documentation of a function, in the words of the command's help."""
    lines = [function.__doc__ or "", "", f"{title}:", ""]
    for it in told:
        kind = " | ".join(it.choices) if it.choices else it.kind
        text = textwrap.fill(it.help, 92, initial_indent=" " * 8, subsequent_indent=" " * 8)
        lines += [f"    {it.name}: {kind}", text]
    function.__doc__ = "\n".join(lines)


for _function in (simulate, sweep, trace, check, analyze):
    describe(_function, parameters(_function.__name__), "Parameters")
for _name in PLANNED:
    describe(plan, parameters("plan", _name), f"Goals of {_name}")
