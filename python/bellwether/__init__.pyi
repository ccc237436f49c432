"""Written by stubs.py; the documentation is in the package."""

from datetime import timedelta
from os import PathLike
from typing import (
    Any, Callable, Dict, Generator, Iterable, Iterator, List, Literal, Mapping, NamedTuple,
    Optional, Sequence, Tuple, Union, overload,
)

import numpy as np

__version__: str

Path = Union[str, PathLike[str]]
Length = Union[str, float, timedelta]
Count = Union[int, str]
Number = Union[float, str]
Text = Union[str, int, PathLike[str]]
Progress = Union[None, bool, Callable[[int, int], Any]]

class BellwetherError(Exception):
    ...

class FileError(BellwetherError, ValueError):
    ...

class ForkError(BellwetherError, RuntimeError):
    ...

class GoneError(BellwetherError):
    ...

class LeadershipLostError(BellwetherError):
    ...

class NotElectedError(BellwetherError, TimeoutError):
    ...

class NotNowError(BellwetherError):
    ...

class ParameterError(BellwetherError, ValueError):
    parameter: Optional[str]

class Analysis(Mapping[str, Any]):
    raw: Dict[str, Any]
    def __getitem__(self, key: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def quantity(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def params(self) -> Dict[str, Any]: ...
    @property
    def printed(self) -> Optional[float]: ...
    @property
    def corrected(self) -> Optional[float]: ...
    @property
    def exact(self) -> Optional[bool]: ...
    @property
    def note(self) -> str: ...
    @property
    def simulated(self) -> Optional[Summary]: ...

class Estimate(Mapping[str, Any]):
    raw: Dict[str, Any]
    def __getitem__(self, key: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def protocol(self) -> str: ...
    @property
    def event(self) -> str: ...
    @property
    def probability(self) -> float: ...
    @property
    def stderr(self) -> float: ...
    @property
    def ci95(self) -> Tuple[float, float]: ...
    @property
    def large_error(self) -> bool: ...
    @property
    def per_year(self) -> Optional[float]: ...
    @property
    def replications(self) -> np.ndarray[Any, Any]: ...

class Parameter(NamedTuple):
    name: str
    kind: str
    choices: Tuple[str, ...]
    default: Optional[str]
    several: bool
    help: str

class Plan(Mapping[str, Any]):
    raw: Dict[str, Any]
    def __getitem__(self, key: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def protocol(self) -> str: ...
    @property
    def goals(self) -> Dict[str, Any]: ...
    @property
    def params(self) -> Dict[str, Any]: ...
    @property
    def trial(self) -> Dict[str, Any]: ...
    @property
    def confirmed(self) -> Optional[bool]: ...

class Simulation:
    raw: Dict[str, Any]
    protocol: str
    nodes: int
    runs: int
    seed: int
    params: Dict[str, Any]
    unsettled: int
    numbers: np.ndarray[Any, Any]
    settled: np.ndarray[Any, Any]
    samples: Dict[str, np.ndarray[Any, Any]]
    summaries: Dict[str, Summary]
    def __getitem__(self, measure: str) -> np.ndarray[Any, Any]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_pandas(self) -> Any: ...
    def summary_to_pandas(self) -> Any: ...

class Summary(NamedTuple):
    mean: float
    stderr: float
    ci95: Tuple[float, float]
    min: float
    p50: float
    p99: float
    max: float
    count: int
    cut: int

class Sweep:
    rows: List[Dict[str, Any]]
    def __getitem__(self, at: int) -> Dict[str, Any]: ...
    def __iter__(self) -> Iterator[Dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def to_pandas(self) -> Any: ...

class Trace:
    @property
    def about(self) -> str: ...
    @property
    def records(self) -> List[Dict[str, Any]]: ...
    def json_lines(self) -> str: ...
    def transcript(self) -> str: ...
    def svg(self, view: str = ..., title: Optional[str] = ...) -> str: ...
    def to_pandas(self) -> Any: ...
    def __iter__(self) -> Iterator[Dict[str, Any]]: ...
    def __len__(self) -> int: ...

class Verdict(Mapping[str, Any]):
    raw: Dict[str, Any]
    def __getitem__(self, key: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def protocol(self) -> str: ...
    @property
    def promise(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def holds(self) -> bool: ...
    @property
    def schedules(self) -> int: ...
    @property
    def violation(self) -> Optional[Violation]: ...
    def to_pandas(self) -> Any: ...

class Violation(NamedTuple):
    schedule: int
    invariant: str
    at: float
    seen: str
    scenario: str
    svg: str
    replay: str

class Campaign:
    def wait(self) -> Guard: ...
    def __enter__(self) -> Guard: ...
    def __exit__(self, *_: Any) -> None: ...
    async def __aenter__(self) -> Guard: ...
    async def __aexit__(self, *_: Any) -> None: ...
    def __await__(self) -> Generator[Any, None, Guard]: ...

class Election:
    group: str
    def __init__(self, group: str, *,
    peers: Union[None, str, Mapping[int, str]] = ...,
    join: Optional[Union[Text, Sequence[Text]]] = ...,
    voters: Optional[Text] = ...,
    priorities: Optional[Union[Text, Sequence[Text]]] = ...,
    id: Optional[Count] = ...,
    listen: Optional[Text] = ...,
    multicast: Optional[Text] = ...,
    key: Optional[Text] = ...,
    insecure: Optional[bool] = ...,
    protocol: Optional[Literal['le-a', 'le-s', 'le-m', 'sup', 'al', 'query', 'suppress-query', 'sup-al-elect', 'sup-al-limit', 'sup-al-spread', 'local-leader', 'bully', 'ring', 'chang-roberts', 'merea', 'hirschberg-sinclair', 'ad-hoc', 'probabilistic']] = ...,
    rank: Optional[Count] = ...,
    priority: Optional[Count] = ...,
    witness: Optional[bool] = ...,
    dir: Optional[Text] = ...,
    bootstrap: Optional[bool] = ...,
    record: Optional[Text] = ...,
    lease: Optional[Length] = ...,
    suppress: Optional[Length] = ...,
    announce: Optional[Length] = ...,
    aging: Optional[Length] = ...,
    timer: Optional[Literal['uniform', 'exponential', 'exponential-falling']] = ...,
    timer_rate: Optional[Number] = ...,
    patience: Optional[Length] = ...,
    reply_spread: Optional[Length] = ...,
    criterion: Optional[Literal['highest-id', 'rank', 'earliest-wake-up']] = ...,
    mapping: Optional[Literal['random', 'standing']] = ...,
    jitter: Optional[Length] = ...,
    best: Optional[Count] = ...,
    worst: Optional[Count] = ...,
    leaders: Optional[Count] = ...,
    bye: Optional[bool] = ...,
    bye_copies: Optional[Count] = ...,
    bye_from_all: Optional[bool] = ...,
    as_printed: Optional[bool] = ...,
    mode: Optional[Literal['majority', 'local']] = ...,
    tokens: Optional[Literal['durable', 'volatile']] = ...,
    preset: Optional[Literal['lan', 'fast', 'fastest', 'wan', 'paper']] = ...,
    delta: Optional[Length] = ...,
    sigma: Optional[Length] = ...,
    renew: Optional[Length] = ...,
    lock: Optional[Length] = ...,
    period: Optional[Length] = ...,
    expires: Optional[Length] = ...,
    fastest: Optional[Length] = ...,
    refresh: Optional[Length] = ...,
    cooldown: Optional[Length] = ...,
    preempt: Optional[bool] = ...,
    preempt_delay: Optional[Length] = ...,
    rotate_after: Optional[Length] = ...,
    hold: Optional[Length] = ...,
    replace_after: Optional[Length] = ...,
    spare: Optional[Count] = ...,
    tree: Optional[Count] = ...,
    drift_ppm: Optional[Count] = ...,
    as_published: Optional[bool] = ...,
    unchecked: Optional[bool] = ...,
    detector: Optional[Literal['told', 'heartbeats']] = ...,
    beat: Optional[Length] = ...,
    suspect: Optional[Length] = ...,
    resend: Optional[Length] = ...,
    tries: Optional[Count] = ...,
    call_after: Optional[Length] = ...,
    reply: Optional[Length] = ...,
    wait: Optional[Length] = ...,
    top_answers: Optional[Literal['ok', 'coordinator']] = ...,
    recovery: Optional[Literal['bully', 'ask']] = ...,
    stamps: Optional[bool] = ...,
    retry: Optional[Length] = ...,
    timeout: Optional[Length] = ...,
    leader_beat: Optional[Length] = ...,
    leader_silence: Optional[Length] = ...,
    k: Optional[Count] = ...,
    strategy: Optional[Text] = ...,
    max_rounds: Optional[Count] = ...,
    last_round_all: Optional[bool] = ...,
    reinitiate: Optional[Literal['hash', 'delay']] = ...,
    size: Optional[Text] = ...,
    choice: Optional[Literal['lowest-id', 'highest-id', 'rank', 'lot']] = ...,
    woken_by: Optional[Literal['initiation', 'preference']] = ...,
    join_by: Optional[Literal['restarted', 'always', 'never']] = ...,
    bound: Optional[Length] = ...,
    unicast: Optional[Length] = ...,
    multicast_within: Optional[Length] = ...,
    compute: Optional[Length] = ...,
    longest_path: Optional[Count] = ...,
    most_relays: Optional[Count] = ...,
    gossip: Optional[Length] = ...,
    silence: Optional[Length] = ...,
    listen_for: Optional[Length] = ...,
    ) -> None: ...
    def join(self) -> 'Election': ...
    def leave(self) -> None: ...
    @property
    def id(self) -> int: ...
    def leadership(self) -> Leadership: ...
    def status(self) -> Dict[str, Any]: ...
    def failure(self) -> Optional[str]: ...
    def campaign(self, timeout: Optional[float] = ...) -> Campaign: ...
    def resign(self) -> None: ...
    def transfer(self, to: int) -> None: ...
    def __enter__(self) -> 'Election': ...
    def __exit__(self, *_: Any) -> None: ...
    async def __aenter__(self) -> 'Election': ...
    async def __aexit__(self, *_: Any) -> None: ...

class Guard:
    def still_leading(self) -> bool: ...
    def remaining(self) -> float: ...
    def term(self) -> Optional[int]: ...
    def check(self) -> float: ...
    def resign(self) -> None: ...
    def release(self) -> None: ...
    def wait_lost(self, timeout: Optional[float] = ...) -> bool: ...
    async def lost(self) -> None: ...

class Leadership(NamedTuple):
    id: int
    role: str
    leaders: List[int]
    term: Optional[int]
    remaining: float

@overload
def simulate(
    protocol: Path,
    *,
    rare: Literal['false-departure', 'two-leaders', 'leadership-loss', 'split-vote', 'failed-election'],
    progress: Progress = ...,
    runs: Optional[Count] = ...,
    threads: Optional[Count] = ...,
    scenario: Optional[Literal['start', 'departure', 'false-departure', 'join-greater', 'join-smaller', 'split', 'merge', 'churn']] = ...,
    departures: Optional[Number] = ...,
    arrivals: Optional[Number] = ...,
    window: Optional[Length] = ...,
    engine: Optional[Literal['event', 'lazy', 'auto']] = ...,
    longer: Optional[Length] = ...,
    method: Optional[Literal['split', 'tilt']] = ...,
    effort: Optional[Count] = ...,
    replications: Optional[Number] = ...,
    seed: Optional[Count] = ...,
    suppress: Optional[Length] = ...,
    announce: Optional[Length] = ...,
    listen: Optional[Length] = ...,
    aging: Optional[Length] = ...,
    timer: Optional[Literal['uniform', 'exponential', 'exponential-falling']] = ...,
    timer_rate: Optional[Number] = ...,
    patience: Optional[Length] = ...,
    reply_spread: Optional[Length] = ...,
    criterion: Optional[Literal['highest-id', 'rank', 'earliest-wake-up']] = ...,
    mapping: Optional[Literal['random', 'standing']] = ...,
    jitter: Optional[Length] = ...,
    best: Optional[Count] = ...,
    worst: Optional[Count] = ...,
    leaders: Optional[Count] = ...,
    bye: Optional[bool] = ...,
    bye_copies: Optional[Count] = ...,
    bye_from_all: Optional[bool] = ...,
    as_printed: Optional[bool] = ...,
    mode: Optional[Literal['majority', 'local']] = ...,
    tokens: Optional[Literal['durable', 'volatile']] = ...,
    preset: Optional[Literal['lan', 'fast', 'fastest', 'wan', 'paper']] = ...,
    delta: Optional[Length] = ...,
    sigma: Optional[Length] = ...,
    renew: Optional[Length] = ...,
    lock: Optional[Length] = ...,
    period: Optional[Length] = ...,
    expires: Optional[Length] = ...,
    fastest: Optional[Length] = ...,
    refresh: Optional[Length] = ...,
    cooldown: Optional[Length] = ...,
    preempt: Optional[bool] = ...,
    preempt_delay: Optional[Length] = ...,
    preempt_asks: Optional[bool] = ...,
    rotate_after: Optional[Length] = ...,
    hold: Optional[Length] = ...,
    replace_after: Optional[Length] = ...,
    spare: Optional[Count] = ...,
    tree: Optional[Count] = ...,
    drift_ppm: Optional[Count] = ...,
    as_published: Optional[bool] = ...,
    unchecked: Optional[bool] = ...,
    detector: Optional[Literal['told', 'heartbeats']] = ...,
    beat: Optional[Length] = ...,
    suspect: Optional[Length] = ...,
    resend: Optional[Length] = ...,
    tries: Optional[Count] = ...,
    call_after: Optional[Length] = ...,
    reply: Optional[Length] = ...,
    wait: Optional[Length] = ...,
    top_answers: Optional[Literal['ok', 'coordinator']] = ...,
    recovery: Optional[Literal['bully', 'ask']] = ...,
    stamps: Optional[bool] = ...,
    retry: Optional[Length] = ...,
    timeout: Optional[Length] = ...,
    leader_beat: Optional[Length] = ...,
    leader_silence: Optional[Length] = ...,
    k: Optional[Count] = ...,
    strategy: Optional[Text] = ...,
    max_rounds: Optional[Count] = ...,
    last_round_all: Optional[bool] = ...,
    reinitiate: Optional[Literal['hash', 'delay']] = ...,
    size: Optional[Text] = ...,
    choice: Optional[Literal['lowest-id', 'highest-id', 'rank', 'lot']] = ...,
    woken_by: Optional[Literal['initiation', 'preference']] = ...,
    join: Optional[Literal['restarted', 'always', 'never']] = ...,
    bound: Optional[Length] = ...,
    unicast: Optional[Length] = ...,
    multicast: Optional[Length] = ...,
    compute: Optional[Length] = ...,
    longest_path: Optional[Count] = ...,
    most_relays: Optional[Count] = ...,
    gossip: Optional[Length] = ...,
    silence: Optional[Length] = ...,
    initiator: Optional[Union[Count, Sequence[Count]]] = ...,
    spread: Optional[Length] = ...,
    top_dead: Optional[bool] = ...,
    processing: Optional[Length] = ...,
    detection: Optional[Text] = ...,
    initiators: Optional[Text] = ...,
    order: Optional[Text] = ...,
    graph: Optional[Literal['random', 'tree', 'grid', 'line', 'circle', 'complete', 'disc', 'moving']] = ...,
    links: Optional[Count] = ...,
    range: Optional[Number] = ...,
    speed: Optional[Number] = ...,
    rest: Optional[Length] = ...,
    link: Optional[Union[Text, Sequence[Text]]] = ...,
    view: Optional[Number] = ...,
    fail: Optional[Number] = ...,
    ucast_loss: Optional[Number] = ...,
    mcast_loss: Optional[Number] = ...,
    loss: Optional[Number] = ...,
    loss_model: Optional[Literal['none', 'correlated', 'uncorrelated', 'bursts']] = ...,
    burst: Optional[Number] = ...,
    delay_model: Optional[Literal['constant', 'uniform', 'exponential', 'log-normal']] = ...,
    duplicate: Optional[Number] = ...,
    reorder: Optional[Number] = ...,
    straggle: Optional[Length] = ...,
    nodes: Optional[Count] = ...,
    delay: Optional[Length] = ...,
    clock_drift: Optional[Count] = ...,
) -> Estimate: ...

@overload
def simulate(
    protocol: Path,
    *,
    rare: None = ...,
    progress: Progress = ...,
    runs: Optional[Count] = ...,
    threads: Optional[Count] = ...,
    scenario: Optional[Literal['start', 'departure', 'false-departure', 'join-greater', 'join-smaller', 'split', 'merge', 'churn']] = ...,
    departures: Optional[Number] = ...,
    arrivals: Optional[Number] = ...,
    window: Optional[Length] = ...,
    engine: Optional[Literal['event', 'lazy', 'auto']] = ...,
    longer: Optional[Length] = ...,
    method: Optional[Literal['split', 'tilt']] = ...,
    effort: Optional[Count] = ...,
    replications: Optional[Number] = ...,
    seed: Optional[Count] = ...,
    suppress: Optional[Length] = ...,
    announce: Optional[Length] = ...,
    listen: Optional[Length] = ...,
    aging: Optional[Length] = ...,
    timer: Optional[Literal['uniform', 'exponential', 'exponential-falling']] = ...,
    timer_rate: Optional[Number] = ...,
    patience: Optional[Length] = ...,
    reply_spread: Optional[Length] = ...,
    criterion: Optional[Literal['highest-id', 'rank', 'earliest-wake-up']] = ...,
    mapping: Optional[Literal['random', 'standing']] = ...,
    jitter: Optional[Length] = ...,
    best: Optional[Count] = ...,
    worst: Optional[Count] = ...,
    leaders: Optional[Count] = ...,
    bye: Optional[bool] = ...,
    bye_copies: Optional[Count] = ...,
    bye_from_all: Optional[bool] = ...,
    as_printed: Optional[bool] = ...,
    mode: Optional[Literal['majority', 'local']] = ...,
    tokens: Optional[Literal['durable', 'volatile']] = ...,
    preset: Optional[Literal['lan', 'fast', 'fastest', 'wan', 'paper']] = ...,
    delta: Optional[Length] = ...,
    sigma: Optional[Length] = ...,
    renew: Optional[Length] = ...,
    lock: Optional[Length] = ...,
    period: Optional[Length] = ...,
    expires: Optional[Length] = ...,
    fastest: Optional[Length] = ...,
    refresh: Optional[Length] = ...,
    cooldown: Optional[Length] = ...,
    preempt: Optional[bool] = ...,
    preempt_delay: Optional[Length] = ...,
    preempt_asks: Optional[bool] = ...,
    rotate_after: Optional[Length] = ...,
    hold: Optional[Length] = ...,
    replace_after: Optional[Length] = ...,
    spare: Optional[Count] = ...,
    tree: Optional[Count] = ...,
    drift_ppm: Optional[Count] = ...,
    as_published: Optional[bool] = ...,
    unchecked: Optional[bool] = ...,
    detector: Optional[Literal['told', 'heartbeats']] = ...,
    beat: Optional[Length] = ...,
    suspect: Optional[Length] = ...,
    resend: Optional[Length] = ...,
    tries: Optional[Count] = ...,
    call_after: Optional[Length] = ...,
    reply: Optional[Length] = ...,
    wait: Optional[Length] = ...,
    top_answers: Optional[Literal['ok', 'coordinator']] = ...,
    recovery: Optional[Literal['bully', 'ask']] = ...,
    stamps: Optional[bool] = ...,
    retry: Optional[Length] = ...,
    timeout: Optional[Length] = ...,
    leader_beat: Optional[Length] = ...,
    leader_silence: Optional[Length] = ...,
    k: Optional[Count] = ...,
    strategy: Optional[Text] = ...,
    max_rounds: Optional[Count] = ...,
    last_round_all: Optional[bool] = ...,
    reinitiate: Optional[Literal['hash', 'delay']] = ...,
    size: Optional[Text] = ...,
    choice: Optional[Literal['lowest-id', 'highest-id', 'rank', 'lot']] = ...,
    woken_by: Optional[Literal['initiation', 'preference']] = ...,
    join: Optional[Literal['restarted', 'always', 'never']] = ...,
    bound: Optional[Length] = ...,
    unicast: Optional[Length] = ...,
    multicast: Optional[Length] = ...,
    compute: Optional[Length] = ...,
    longest_path: Optional[Count] = ...,
    most_relays: Optional[Count] = ...,
    gossip: Optional[Length] = ...,
    silence: Optional[Length] = ...,
    initiator: Optional[Union[Count, Sequence[Count]]] = ...,
    spread: Optional[Length] = ...,
    top_dead: Optional[bool] = ...,
    processing: Optional[Length] = ...,
    detection: Optional[Text] = ...,
    initiators: Optional[Text] = ...,
    order: Optional[Text] = ...,
    graph: Optional[Literal['random', 'tree', 'grid', 'line', 'circle', 'complete', 'disc', 'moving']] = ...,
    links: Optional[Count] = ...,
    range: Optional[Number] = ...,
    speed: Optional[Number] = ...,
    rest: Optional[Length] = ...,
    link: Optional[Union[Text, Sequence[Text]]] = ...,
    view: Optional[Number] = ...,
    fail: Optional[Number] = ...,
    ucast_loss: Optional[Number] = ...,
    mcast_loss: Optional[Number] = ...,
    loss: Optional[Number] = ...,
    loss_model: Optional[Literal['none', 'correlated', 'uncorrelated', 'bursts']] = ...,
    burst: Optional[Number] = ...,
    delay_model: Optional[Literal['constant', 'uniform', 'exponential', 'log-normal']] = ...,
    duplicate: Optional[Number] = ...,
    reorder: Optional[Number] = ...,
    straggle: Optional[Length] = ...,
    nodes: Optional[Count] = ...,
    delay: Optional[Length] = ...,
    clock_drift: Optional[Count] = ...,
) -> Simulation: ...

def sweep(
    described: Union[Path, Mapping[str, Any]],
    *,
    progress: Progress = ...,
    out: Optional[Text] = ...,
    threads: Optional[Count] = ...,
    plot: Optional[Text] = ...,
    parquet: Optional[bool] = ...,
) -> Sweep: ...

def trace(
    protocol: Optional[Path] = ...,
    *,
    recorded: Optional[Iterable[Path]] = ...,
    crash_leader: Optional[Length] = ...,
    resign_leader: Optional[Length] = ...,
    seed: Optional[Count] = ...,
    suppress: Optional[Length] = ...,
    announce: Optional[Length] = ...,
    listen: Optional[Length] = ...,
    aging: Optional[Length] = ...,
    timer: Optional[Literal['uniform', 'exponential', 'exponential-falling']] = ...,
    timer_rate: Optional[Number] = ...,
    patience: Optional[Length] = ...,
    reply_spread: Optional[Length] = ...,
    criterion: Optional[Literal['highest-id', 'rank', 'earliest-wake-up']] = ...,
    mapping: Optional[Literal['random', 'standing']] = ...,
    jitter: Optional[Length] = ...,
    best: Optional[Count] = ...,
    worst: Optional[Count] = ...,
    leaders: Optional[Count] = ...,
    bye: Optional[bool] = ...,
    bye_copies: Optional[Count] = ...,
    bye_from_all: Optional[bool] = ...,
    as_printed: Optional[bool] = ...,
    mode: Optional[Literal['majority', 'local']] = ...,
    tokens: Optional[Literal['durable', 'volatile']] = ...,
    preset: Optional[Literal['lan', 'fast', 'fastest', 'wan', 'paper']] = ...,
    delta: Optional[Length] = ...,
    sigma: Optional[Length] = ...,
    renew: Optional[Length] = ...,
    lock: Optional[Length] = ...,
    period: Optional[Length] = ...,
    expires: Optional[Length] = ...,
    fastest: Optional[Length] = ...,
    refresh: Optional[Length] = ...,
    cooldown: Optional[Length] = ...,
    preempt: Optional[bool] = ...,
    preempt_delay: Optional[Length] = ...,
    preempt_asks: Optional[bool] = ...,
    rotate_after: Optional[Length] = ...,
    hold: Optional[Length] = ...,
    replace_after: Optional[Length] = ...,
    spare: Optional[Count] = ...,
    tree: Optional[Count] = ...,
    drift_ppm: Optional[Count] = ...,
    as_published: Optional[bool] = ...,
    unchecked: Optional[bool] = ...,
    detector: Optional[Literal['told', 'heartbeats']] = ...,
    beat: Optional[Length] = ...,
    suspect: Optional[Length] = ...,
    resend: Optional[Length] = ...,
    tries: Optional[Count] = ...,
    call_after: Optional[Length] = ...,
    reply: Optional[Length] = ...,
    wait: Optional[Length] = ...,
    top_answers: Optional[Literal['ok', 'coordinator']] = ...,
    recovery: Optional[Literal['bully', 'ask']] = ...,
    stamps: Optional[bool] = ...,
    retry: Optional[Length] = ...,
    timeout: Optional[Length] = ...,
    leader_beat: Optional[Length] = ...,
    leader_silence: Optional[Length] = ...,
    k: Optional[Count] = ...,
    strategy: Optional[Text] = ...,
    max_rounds: Optional[Count] = ...,
    last_round_all: Optional[bool] = ...,
    reinitiate: Optional[Literal['hash', 'delay']] = ...,
    size: Optional[Text] = ...,
    choice: Optional[Literal['lowest-id', 'highest-id', 'rank', 'lot']] = ...,
    woken_by: Optional[Literal['initiation', 'preference']] = ...,
    join: Optional[Literal['restarted', 'always', 'never']] = ...,
    bound: Optional[Length] = ...,
    unicast: Optional[Length] = ...,
    multicast: Optional[Length] = ...,
    compute: Optional[Length] = ...,
    longest_path: Optional[Count] = ...,
    most_relays: Optional[Count] = ...,
    gossip: Optional[Length] = ...,
    silence: Optional[Length] = ...,
    initiator: Optional[Union[Count, Sequence[Count]]] = ...,
    spread: Optional[Length] = ...,
    top_dead: Optional[bool] = ...,
    processing: Optional[Length] = ...,
    detection: Optional[Text] = ...,
    initiators: Optional[Text] = ...,
    order: Optional[Text] = ...,
    graph: Optional[Literal['random', 'tree', 'grid', 'line', 'circle', 'complete', 'disc', 'moving']] = ...,
    links: Optional[Count] = ...,
    range: Optional[Number] = ...,
    speed: Optional[Number] = ...,
    rest: Optional[Length] = ...,
    link: Optional[Union[Text, Sequence[Text]]] = ...,
    ucast_loss: Optional[Number] = ...,
    mcast_loss: Optional[Number] = ...,
    loss: Optional[Number] = ...,
    loss_model: Optional[Literal['none', 'correlated', 'uncorrelated', 'bursts']] = ...,
    burst: Optional[Number] = ...,
    delay_model: Optional[Literal['constant', 'uniform', 'exponential', 'log-normal']] = ...,
    duplicate: Optional[Number] = ...,
    reorder: Optional[Number] = ...,
    straggle: Optional[Length] = ...,
    nodes: Optional[Count] = ...,
    delay: Optional[Length] = ...,
    clock_drift: Optional[Count] = ...,
    until: Optional[Length] = ...,
    view_prob: Optional[Number] = ...,
) -> Trace: ...

def check(
    protocol: str,
    *,
    progress: Progress = ...,
    schedules: Optional[Count] = ...,
    schedule: Optional[Count] = ...,
    promise: Optional[Text] = ...,
    vary: Optional[bool] = ...,
    threads: Optional[Count] = ...,
    seed: Optional[Count] = ...,
    suppress: Optional[Length] = ...,
    announce: Optional[Length] = ...,
    aging: Optional[Length] = ...,
    timer: Optional[Literal['uniform', 'exponential', 'exponential-falling']] = ...,
    timer_rate: Optional[Number] = ...,
    patience: Optional[Length] = ...,
    reply_spread: Optional[Length] = ...,
    criterion: Optional[Literal['highest-id', 'rank', 'earliest-wake-up']] = ...,
    mapping: Optional[Literal['random', 'standing']] = ...,
    jitter: Optional[Length] = ...,
    best: Optional[Count] = ...,
    worst: Optional[Count] = ...,
    leaders: Optional[Count] = ...,
    bye: Optional[bool] = ...,
    bye_copies: Optional[Count] = ...,
    bye_from_all: Optional[bool] = ...,
    as_printed: Optional[bool] = ...,
    mode: Optional[Literal['majority', 'local']] = ...,
    tokens: Optional[Literal['durable', 'volatile']] = ...,
    preset: Optional[Literal['lan', 'fast', 'fastest', 'wan', 'paper']] = ...,
    delta: Optional[Length] = ...,
    sigma: Optional[Length] = ...,
    renew: Optional[Length] = ...,
    lock: Optional[Length] = ...,
    period: Optional[Length] = ...,
    expires: Optional[Length] = ...,
    fastest: Optional[Length] = ...,
    refresh: Optional[Length] = ...,
    cooldown: Optional[Length] = ...,
    preempt: Optional[bool] = ...,
    preempt_delay: Optional[Length] = ...,
    preempt_asks: Optional[bool] = ...,
    rotate_after: Optional[Length] = ...,
    hold: Optional[Length] = ...,
    replace_after: Optional[Length] = ...,
    spare: Optional[Count] = ...,
    tree: Optional[Count] = ...,
    drift_ppm: Optional[Count] = ...,
    as_published: Optional[bool] = ...,
    unchecked: Optional[bool] = ...,
    detector: Optional[Literal['told', 'heartbeats']] = ...,
    beat: Optional[Length] = ...,
    suspect: Optional[Length] = ...,
    resend: Optional[Length] = ...,
    tries: Optional[Count] = ...,
    call_after: Optional[Length] = ...,
    reply: Optional[Length] = ...,
    wait: Optional[Length] = ...,
    top_answers: Optional[Literal['ok', 'coordinator']] = ...,
    recovery: Optional[Literal['bully', 'ask']] = ...,
    stamps: Optional[bool] = ...,
    retry: Optional[Length] = ...,
    timeout: Optional[Length] = ...,
    leader_beat: Optional[Length] = ...,
    leader_silence: Optional[Length] = ...,
    k: Optional[Count] = ...,
    strategy: Optional[Text] = ...,
    max_rounds: Optional[Count] = ...,
    last_round_all: Optional[bool] = ...,
    reinitiate: Optional[Literal['hash', 'delay']] = ...,
    size: Optional[Text] = ...,
    choice: Optional[Literal['lowest-id', 'highest-id', 'rank', 'lot']] = ...,
    woken_by: Optional[Literal['initiation', 'preference']] = ...,
    join: Optional[Literal['restarted', 'always', 'never']] = ...,
    bound: Optional[Length] = ...,
    unicast: Optional[Length] = ...,
    multicast: Optional[Length] = ...,
    compute: Optional[Length] = ...,
    longest_path: Optional[Count] = ...,
    most_relays: Optional[Count] = ...,
    gossip: Optional[Length] = ...,
    silence: Optional[Length] = ...,
    nodes: Optional[Count] = ...,
    listen: Optional[Length] = ...,
) -> Verdict: ...

def analyze(
    quantity: str,
    *,
    progress: Progress = ...,
    simulate: Optional[Count] = ...,
    seed: Optional[Count] = ...,
    threads: Optional[Count] = ...,
    loss: Optional[Number] = ...,
    nodes: Optional[Count] = ...,
    loss_model: Optional[Literal['none', 'correlated', 'uncorrelated']] = ...,
    delay: Optional[Length] = ...,
    suppress: Optional[Length] = ...,
    announce: Optional[Length] = ...,
    listen: Optional[Length] = ...,
    timer: Optional[Literal['uniform', 'exponential', 'exponential-falling']] = ...,
    timer_rate: Optional[Number] = ...,
    departures: Optional[Number] = ...,
    arrivals: Optional[Number] = ...,
    round: Optional[Count] = ...,
    sent: Optional[Count] = ...,
    links: Optional[Count] = ...,
    processing: Optional[Length] = ...,
    reply: Optional[Length] = ...,
    initiators: Optional[Text] = ...,
    initiator: Optional[Union[Count, Sequence[Count]]] = ...,
    k: Optional[Count] = ...,
    view: Optional[Number] = ...,
    fail: Optional[Number] = ...,
    ucast_loss: Optional[Number] = ...,
    mcast_loss: Optional[Number] = ...,
    mode: Optional[Literal['majority', 'local']] = ...,
    preset: Optional[Literal['lan', 'fast', 'fastest', 'wan', 'paper']] = ...,
    delta: Optional[Length] = ...,
    sigma: Optional[Length] = ...,
    renew: Optional[Length] = ...,
    lock: Optional[Length] = ...,
    period: Optional[Length] = ...,
    expires: Optional[Length] = ...,
    fastest: Optional[Length] = ...,
    refresh: Optional[Length] = ...,
    tree: Optional[Count] = ...,
    drift_ppm: Optional[Count] = ...,
) -> Analysis: ...

def plan(
    protocol: Literal['announce-listen', 'local-leader', 'probabilistic'],
    *,
    progress: Progress = ...,
    loss: Optional[Number] = ...,
    nodes: Optional[Count] = ...,
    loss_model: Optional[Literal['none', 'correlated', 'uncorrelated']] = ...,
    delay: Optional[Length] = ...,
    announce: Optional[Length] = ...,
    false_departures: Optional[Number] = ...,
    bye_confidence: Optional[Number] = ...,
    messages: Optional[Number] = ...,
    simulate: Optional[Count] = ...,
    seed: Optional[Count] = ...,
    threads: Optional[Count] = ...,
    delay_model: Optional[Literal['constant', 'uniform', 'exponential', 'log-normal']] = ...,
    scheduling: Optional[Length] = ...,
    fsync: Optional[Length] = ...,
    drift_ppm: Optional[Count] = ...,
    detect: Optional[Length] = ...,
    losses_per_year: Optional[Number] = ...,
    view: Optional[Number] = ...,
    fail: Optional[Number] = ...,
    success: Optional[Number] = ...,
    max_rounds: Optional[Count] = ...,
    reinitiate: Optional[Literal['hash', 'delay']] = ...,
    effort: Optional[Number] = ...,
    ucast_loss: Optional[Number] = ...,
    mcast_loss: Optional[Number] = ...,
) -> Plan: ...

def parameters(question: str = ..., protocol: Optional[str] = ...) -> List[Parameter]: ...
def protocols() -> List[Dict[str, str]]: ...
def quantities() -> List[Dict[str, Any]]: ...
