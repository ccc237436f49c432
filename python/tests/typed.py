"""What a type checker knows of the package: mypy reads this, nobody executes it. An error that is
marked as expected must be found."""

from typing import List, Optional

import bellwether
from bellwether import Election, Guard

runs = bellwether.simulate("le-s", nodes=10, loss=0.4, announce="250ms", bye=True)
mean: float = runs.summaries["leadership_delay"].mean
shape: int = runs["leadership_delay"].ndim
bellwether.simulate("le-s", nodse=10)  # type: ignore[call-overload]
bellwether.simulate("le-s", loss_model="sometimes")  # type: ignore[call-overload]

chance: float = bellwether.simulate("le-s", rare="false-departure", effort=100).probability
bellwether.simulate("le-s", rare="sometimes")  # type: ignore[call-overload]

swept = bellwether.sweep({"sim": "le-s", "axis": [{"loss": [0.1, 0.2]}]}, out="loss", threads=1)
columns: List[str] = list(swept[0])
bellwether.sweep(7)  # type: ignore[arg-type]
bellwether.sweep("loss.toml", shard="1/2")  # type: ignore[call-arg]

run = bellwether.trace("local-leader", nodes=3, crash_leader=0.3)
picture: str = run.svg("time", title="a failover")
run.svg(7)  # type: ignore[arg-type]
bellwether.trace(recorded=["1.jsonl"]).to_pandas()

verdict = bellwether.check("le-s", promise="never-two", progress=False)
if verdict.violation is not None:
    seen: str = verdict.violation.seen
verdict.violation.seen  # type: ignore[union-attr]

corrected: Optional[float] = bellwether.analyze("le-s.leadership-delay", nodes=10).corrected
plan = bellwether.plan("local-leader", detect="1s", simulate=0)
bellwether.plan("le-s")  # type: ignore[arg-type]
names: List[str] = [it.name for it in bellwether.parameters("simulate", "le-s")]


def work(guard: Guard) -> None:
    while guard.still_leading():
        left: float = guard.remaining()
        term: Optional[int] = guard.term()
        print(left, term)


with Election("billing", peers={1: "10.0.0.1:7400"}, key="billing.key", lease="2s") as election:
    with election.campaign(timeout=5) as held:
        work(held)


async def waits() -> None:
    async with Election("billing", peers="1=10.0.0.1:7400", insecure=True) as election:
        async with election.campaign() as guard:
            await guard.lost()
        again: Guard = await election.campaign(timeout=1.0)
        again.release()


try:
    election.campaign("soon")  # type: ignore[arg-type]
except bellwether.ParameterError as error:
    parameter: Optional[str] = error.parameter
