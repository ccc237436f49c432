"""What questions are answered with."""

from __future__ import annotations

import json
import math
import shlex
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    return pandas


def _short(value: Optional[float]) -> str:
    return "" if value is None else f"{value:.6g}"


def _table(header: List[str], rows: List[List[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
             for row in [header, *rows]]
    return "\n".join(lines)


class Summary(NamedTuple):
    """The statistics of one measure over all runs that have it."""

    mean: float
    stderr: float
    #: The 95 % confidence interval of the mean; not a number where the end of a run cut some values.
    ci95: Tuple[float, float]
    min: float
    p50: float
    p99: float
    max: float
    count: int
    #: How many runs ended before they had a value.
    cut: int = 0


def _summary(raw: Mapping[str, Any]) -> Summary:
    low, high = raw["ci95"] or (math.nan, math.nan)
    rest = {key: raw[key] for key in Summary._fields if key != "ci95" and key in raw}
    return Summary(ci95=(low, high), **rest)


class _Answer(Mapping[str, Any]):
    """An answer with the keys that the command's JSON has."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        #: The answer as the command prints it with --format json.
        self.raw = raw

    def __getitem__(self, key: str) -> Any:
        return self.raw[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


class Simulation:
    """Many runs: the values of each, and the summary of every measure.

    `simulation["leadership_delay"]` is an array with a value for each run, which is not a number
    where a run has none; `simulation.summaries["leadership_delay"].mean` is its mean.
    """

    def __init__(self, raw: str, numbers: bytearray, settled: bytearray,
                 columns: List[Tuple[str, bytearray]]) -> None:
        #: The result as the command prints it with --format json.
        self.raw: Dict[str, Any] = json.loads(raw)
        self.protocol: str = self.raw["protocol"]
        self.nodes: int = self.raw["nodes"]
        self.runs: int = self.raw["runs"]
        self.seed: int = self.raw["seed"]
        #: All conditions, under the names of the parameters; times are in seconds.
        self.params: Dict[str, Any] = self.raw["params"]
        #: The runs in which the group did not settle while it was watched.
        self.unsettled: int = self.raw["unsettled"]
        #: The number of every run, which with the seed gives its random draws.
        self.numbers: np.ndarray = np.frombuffer(numbers, dtype="<u8")
        #: Whether what a run was for happened.
        self.settled: np.ndarray = np.frombuffer(settled, dtype=np.bool_)
        #: The values of every run, by measure.
        self.samples: Dict[str, np.ndarray] = {
            name: np.frombuffer(values, dtype="<f8") for name, values in columns}
        #: The statistics, by measure.
        self.summaries: Dict[str, Summary] = {
            name: _summary(summary) for name, summary in self.raw["metrics"].items()}

    def __getitem__(self, measure: str) -> np.ndarray:
        try:
            return self.samples[measure]
        except KeyError:
            there = ", ".join(self.samples)
            raise KeyError(f"no run has the measure {measure!r}; there are {there}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.samples)

    def __len__(self) -> int:
        return len(self.numbers)

    def to_pandas(self) -> Any:
        """A row for each run, under its number: whether it settled, and its measures."""
        pandas = _pandas()
        index = pandas.Index(self.numbers, name="run")
        return pandas.DataFrame({"settled": self.settled, **self.samples}, index=index)

    def summary_to_pandas(self) -> Any:
        """A row for each measure, with its statistics."""
        rows = {}
        for name, summary in self.summaries.items():
            row = summary._asdict()
            row["ci95_low"], row["ci95_high"] = row.pop("ci95")
            rows[name] = row
        frame = _pandas().DataFrame.from_dict(rows, orient="index")
        frame.index.name = "measure"
        return frame

    def __repr__(self) -> str:
        header = ["measure", "mean", "95 % interval", "p50", "p99", "max", "runs"]
        rows = []
        for name, it in self.summaries.items():
            low, high = map(_short, it.ci95)
            rows.append([name, _short(it.mean), f"{low} .. {high}", _short(it.p50),
                         _short(it.p99), _short(it.max), str(it.count)])
        head = f"{self.protocol} with {self.nodes} processes, {self.runs} runs, seed {self.seed}"
        return f"{head}\n\n{_table(header, rows)}"


class Sweep:
    """The rows of a sweep: a mapping for each point and measure.

    `rows[0]["mean"]` is a number; `to_pandas()` has all of them, with a column for every axis.
    """

    def __init__(self, rows: List[Dict[str, Any]]) -> None:
        #: The rows as the command prints them with --format json.
        self.rows: List[Dict[str, Any]] = rows

    def __getitem__(self, at: int) -> Dict[str, Any]:
        return self.rows[at]

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """A row for each point and measure, with the columns of the command's CSV."""
        return _pandas().DataFrame(self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return "a sweep without rows"
        columns = list(self.rows[0])
        # After the number of the point: what was asked and the axes.
        shown = columns[1:columns.index("metric")] + ["metric", "mean", "low", "high", "runs"]

        def cell(value: Any) -> str:
            if value is None or isinstance(value, float):
                return _short(value)
            return str(value)

        return _table(shown, [[cell(row[name]) for name in shown] for row in self.rows])


class Analysis(_Answer):
    """What a paper computes: as printed, as corrected and, if it was asked for, as simulated."""

    @property
    def quantity(self) -> str:
        return self.raw["quantity"]

    @property
    def unit(self) -> str:
        return self.raw["unit"]

    @property
    def params(self) -> Dict[str, Any]:
        """What the quantity depends on; an infinite time is None."""
        return self.raw["params"]

    @property
    def printed(self) -> Optional[float]:
        """The value of the paper's formula; None where it has none."""
        return self.raw["printed"]

    @property
    def corrected(self) -> Optional[float]:
        """The value of what the formula should read; None where there is none."""
        return self.raw["corrected"]

    @property
    def exact(self) -> Optional[bool]:
        """Whether the corrected form is exact."""
        return self.raw["exact"]

    @property
    def note(self) -> str:
        return self.raw["note"]

    @property
    def simulated(self) -> Optional[Summary]:
        """The statistics of the simulation, if there was one."""
        raw = self.raw.get("simulated")
        return None if raw is None else _summary(raw)

    def __repr__(self) -> str:
        rows = [["printed", _short(self.printed)], ["corrected", _short(self.corrected)]]
        if self.simulated is not None:
            rows.append(["simulated", _short(self.simulated.mean)])
        return f"{self.quantity}, {self.unit}\n\n{_table(['form', 'value'], rows)}\n\n{self.note}"


class Estimate(_Answer):
    """The probability of a rare event: the mean of independent replications."""

    @property
    def protocol(self) -> str:
        return self.raw["protocol"]

    @property
    def event(self) -> str:
        return self.raw["event"]

    @property
    def probability(self) -> float:
        """How probable the event is, while a run is watched."""
        return self.raw["probability"]

    @property
    def stderr(self) -> float:
        """The standard error of the probability."""
        return self.raw["stderr"]

    @property
    def ci95(self) -> Tuple[float, float]:
        """Where the probability is, with 95 % confidence."""
        low, high = self.raw["ci95"]
        return low, high

    @property
    def large_error(self) -> bool:
        """Whether the standard error is above 20 %: the interval may be too narrow."""
        return self.raw["large_error"]

    @property
    def per_year(self) -> Optional[float]:
        """How often that is in a year, if windows follow one another; None where none do."""
        return self.raw["per_year"]

    @property
    def replications(self) -> np.ndarray:
        """What each replication estimates."""
        return np.array(self.raw["replications"])

    def __repr__(self) -> str:
        low, high = map(_short, self.ci95)
        made = len(self.raw["replications"])
        doubt = " (large error: it may be too narrow)" if self.large_error else ""
        return (f"{self.protocol}, {self.event}: {_short(self.probability)}, 95 % interval "
                f"{low} .. {high}{doubt}, {made} replications")


class Violation(NamedTuple):
    """A schedule of faults that breaks a promise, shrunk to what is needed for it."""

    #: The number of the schedule.
    schedule: int
    invariant: str
    #: When it was broken, in seconds.
    at: float
    #: What was seen.
    seen: str
    #: The shrunk schedule, as a scenario file.
    scenario: str
    #: The shrunk run, as a picture.
    svg: str
    #: The command that shows the schedule again.
    replay: str

    def _repr_svg_(self) -> str:
        return self.svg


class Verdict(_Answer):
    """Whether a promise held under random faults; that nothing was found is no proof."""

    @property
    def protocol(self) -> str:
        return self.raw["protocol"]

    @property
    def promise(self) -> str:
        return self.raw["promise"]

    @property
    def verdict(self) -> str:
        """`holds`, `violated` or `nothing to judge`."""
        return self.raw["verdict"]

    @property
    def holds(self) -> bool:
        return self.verdict == "holds"

    @property
    def schedules(self) -> int:
        """How many schedules were run."""
        return self.raw["schedules"]

    @property
    def violation(self) -> Optional[Violation]:
        """The first violation, if there is one."""
        if not self.raw["violations"]:
            return None
        raw = self.raw["violations"][0]
        return Violation(raw["schedule"], raw["invariant"], raw["at"], raw["seen"],
                         raw["scenario"], raw["diagram"], raw["replay"])

    def to_pandas(self) -> Any:
        """A row for each invariant: how often it was checked, and how often broken."""
        frame = _pandas().DataFrame.from_dict(self.raw["invariants"], orient="index")
        frame.index.name = "invariant"
        return frame

    def __repr__(self) -> str:
        rows = [[name, str(it["checks"]), str(it["breaches"])]
                for name, it in self.raw["invariants"].items()]
        table = _table(["invariant", "checks", "breaches"], rows)
        head = f"{self.protocol}, {self.promise}: {self.verdict} in {self.schedules} schedules"
        found = self.violation
        broken = f"\n\nbroken at {found.at} s: {found.seen}" if found else ""
        return f"{head}\n\n{table}{broken}"


class Plan(_Answer):
    """Parameters that reach goals, what to expect of them, and whether a simulation confirms it."""

    @property
    def protocol(self) -> str:
        return self.raw["protocol"]

    @property
    def goals(self) -> Dict[str, Any]:
        return self.raw["goals"]

    @property
    def params(self) -> Dict[str, Any]:
        """What was chosen."""
        return self.raw["params"] if "params" in self.raw else self.raw["chosen"]

    @property
    def trial(self) -> Dict[str, Any]:
        """What `simulate(**plan.trial)` takes to see the plan at work."""
        _, _, protocol, *words = shlex.split(self.raw["command"])
        trial: Dict[str, Any] = {"protocol": protocol}
        while words:
            name = words.pop(0)[2:].replace("-", "_")
            alone = not words or words[0].startswith("--")
            trial[name] = True if alone else words.pop(0)
        return trial

    @property
    def confirmed(self) -> Optional[bool]:
        """Whether the simulation confirms it; None if there was none."""
        return self.raw["confirmed"]

    def __repr__(self) -> str:
        words = {True: "confirmed", False: "not confirmed", None: "not simulated"}
        rows = [[name, str(value)] for name, value in self.params.items()]
        table = _table(["parameter", "value"], rows)
        return f"{self.protocol}: {words[self.confirmed]}\n\n{table}"


class Trace:
    """One run: its records, and pictures of it. A notebook shows the picture."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._records: Optional[List[Dict[str, Any]]] = None

    @property
    def about(self) -> str:
        """What ran, in a line; nothing if it was recorded."""
        return self._native.about

    @property
    def records(self) -> List[Dict[str, Any]]:
        """What happened, in order: `t` (nanoseconds), `node`, `kind` and what belongs to it."""
        if self._records is None:
            self._records = [json.loads(line) for line in self.json_lines().splitlines()]
        return self._records

    def json_lines(self) -> str:
        """The records, one JSON object a line."""
        return self._native.json_lines()

    def transcript(self) -> str:
        """The records for people, one line each."""
        return self._native.transcript()

    def svg(self, view: str = "all", title: Optional[str] = None) -> str:
        """A picture: `all`, the run over `time`, the `ring`, or the `graph`."""
        return self._native.svg(view, title)

    def to_pandas(self) -> Any:
        """A row for each record; `time` is in seconds."""
        frame = _pandas().DataFrame(self.records)
        if len(frame):
            frame.insert(0, "time", frame.pop("t") / 1e9)
        return frame

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self._native)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<{self.about or 'a recorded run'}: {len(self)} records>"


class Parameter(NamedTuple):
    """A parameter of a question."""

    name: str
    #: `length`, `count`, `number`, `switch`, `choice` or `text`.
    kind: str
    choices: Tuple[str, ...]
    default: Optional[str]
    #: Whether it may be a list.
    several: bool
    #: What it is for, as the command's help says it.
    help: str
