"""How far a question is: a bar of tqdm, a function of the caller, or nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

Progress = Union[None, bool, Callable[[int, int], Any]]


def _tqdm() -> Optional[Any]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


@contextmanager
def following(progress: Progress, unit: str) -> Iterator[Optional[Callable[[int, int], Any]]]:
    """What the work tells: `(done, total)`; the total is 0 while it is not known.

    Without a wish there is a bar if tqdm is installed, somebody looks (a terminal or a notebook)
    and the work takes longer than a second.
    """
    if callable(progress):
        yield progress
        return
    tqdm = None if progress is False else _tqdm()
    if progress is True and tqdm is None:
        raise ImportError("progress=True needs tqdm: pip install tqdm, or leave progress out")
    if tqdm is None:
        yield None
        return
    bar = tqdm(unit=unit, leave=False, delay=1, disable=None if progress is None else False)

    def tell(done: int, total: int) -> None:
        if total and bar.total != total:
            bar.total = total
            bar.n = 0
        bar.update(done - bar.n)

    try:
        yield tell
    finally:
        bar.close()
