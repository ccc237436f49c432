"""Writes bellwether/__init__.pyi: the types of the package, with every parameter of every question.

    python stubs.py            writes it
    python stubs.py --check    says whether it is up to date

The parameters come from the installed package, which has them from the command line. A test
compares.
"""

import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
# The installed package, and not its sources, which are beside this file.
sys.path[:] = [path for path in sys.path if pathlib.Path(path).resolve() != HERE.resolve()]

import bellwether
from bellwether import _errors, _live, _questions, _results

STUB = HERE / "bellwether" / "__init__.pyi"

HEAD = '''"""Written by stubs.py; the documentation is in the package."""

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
'''

KINDS = {"length": "Length", "count": "Count", "number": "Number", "switch": "bool",
         "text": "Text"}


def kind(parameter):
    """The type of a parameter."""
    if parameter.choices and parameter.kind == "choice":
        one = "Literal[" + ", ".join(map(repr, parameter.choices)) + "]"
    else:
        one = KINDS[parameter.kind]
    return f"Union[{one}, Sequence[{one}]]" if parameter.several else one


def keywords(parameters, without=()):
    """Keyword arguments, one a line."""
    told = [it for it in parameters if it.name not in without]
    return "".join(f"    {it.name}: Optional[{kind(it)}] = ...,\n" for it in told)


def annotation(text):
    """A type as it stands in the source."""
    return text.replace("np.ndarray", "np.ndarray[Any, Any]") if isinstance(text, str) else text


def method(name, function, kind=""):
    """A function of a class."""
    signature = inspect.signature(function)
    arguments = []
    for it in signature.parameters.values():
        star = {it.VAR_POSITIONAL: "*", it.VAR_KEYWORD: "**"}.get(it.kind, "")
        noted = "" if it.annotation is it.empty else f": {annotation(it.annotation)}"
        default = "" if it.default is it.empty else " = ..."
        arguments.append(f"{star}{it.name}{noted}{default}")
    result = annotation(signature.return_annotation)
    result = "Any" if result is signature.empty else result.strip('"')
    start = "async def" if inspect.iscoroutinefunction(function) else "def"
    return f"{kind}    {start} {name}({', '.join(arguments)}) -> {result}: ...\n"


SHOWN = ["__init__", "__getitem__", "__iter__", "__len__", "__enter__", "__exit__", "__aenter__",
         "__aexit__", "__await__"]


def fields(cls):
    """What an object of a class without annotations of its own has."""
    if cls is _results.Sweep:
        return "    rows: List[Dict[str, Any]]\n"
    if cls is not _results.Simulation:
        return ""
    return ("    raw: Dict[str, Any]\n    protocol: str\n    nodes: int\n    runs: int\n"
            "    seed: int\n    params: Dict[str, Any]\n    unsettled: int\n"
            "    numbers: np.ndarray[Any, Any]\n    settled: np.ndarray[Any, Any]\n"
            "    samples: Dict[str, np.ndarray[Any, Any]]\n    summaries: Dict[str, Summary]\n")


def described(cls):
    """A class."""
    bases = [base.__name__ for base in cls.__bases__ if base is not object]
    if issubclass(cls, tuple):
        body = "".join(f"    {name}: {annotation(noted.__forward_arg__)}\n"
                       if hasattr(noted, "__forward_arg__") else f"    {name}: {noted}\n"
                       for name, noted in cls.__annotations__.items())
        return f"class {cls.__name__}(NamedTuple):\n{body}\n"
    mapping = "_Answer" in bases
    bases = ["Mapping[str, Any]" if base == "_Answer" else base for base in bases]
    head = f"class {cls.__name__}({', '.join(bases)}):\n" if bases else f"class {cls.__name__}:\n"
    body = fields(cls)
    if issubclass(cls, Exception):
        body += "    parameter: Optional[str]\n" if cls is _errors.ParameterError else ""
    elif mapping:
        body += ("    raw: Dict[str, Any]\n    def __getitem__(self, key: str) -> Any: ...\n"
                 "    def __iter__(self) -> Iterator[str]: ...\n"
                 "    def __len__(self) -> int: ...\n")
    elif cls is _live.Election:
        told = _questions.parameters("Election")
        body += ("    group: str\n    def __init__(self, group: str, *,\n"
                 "    peers: Union[None, str, Mapping[int, str]] = ...,\n"
                 f"{keywords(told, ['peers'])}    ) -> None: ...\n")
    for name, value in vars(cls).items():
        if name == "__init__" and (cls is _live.Election or issubclass(cls, Exception)):
            continue
        if name.startswith("_") and name not in SHOWN:
            continue
        if isinstance(value, property):
            body += method(name, value.fget, "    @property\n")
        elif inspect.isfunction(value):
            if name == "__init__" and cls in (_live.Guard, _live.Campaign, _results.Simulation,
                                              _results.Sweep, _results.Trace):
                continue
            body += method(name, value)
    return f"{head}{body or '    ...' + chr(10)}\n"


def question(function, first, result, told, more=""):
    """A question with all of its parameters."""
    return (f"def {function}(\n    {first},\n    *,\n{more}{keywords(told)}) -> {result}: ...\n\n")


def stub():
    """The whole text."""
    text = HEAD + "\n"
    for module in (_errors, _results, _live):
        for name in bellwether.__all__:
            value = getattr(bellwether, name)
            if inspect.isclass(value) and value.__module__ == module.__name__:
                text += described(value)
    told = _questions.parameters
    bar = "    progress: Progress = ...,\n"
    rare = next(it for it in told("simulate") if it.name == "rare")
    others = [it for it in told("simulate") if it.name != "rare"]
    for result, noted in [("Estimate", kind(rare)), ("Simulation", "None = ...")]:
        text += "@overload\n" + question(
            "simulate", "protocol: Path", result, others, f"    rare: {noted},\n{bar}")
    swept = "described: Union[Path, Mapping[str, Any]]"
    text += question("sweep", swept, "Sweep", told("sweep"), bar)
    recorded = "    recorded: Optional[Iterable[Path]] = ...,\n"
    text += question("trace", "protocol: Optional[Path] = ...", "Trace", told("trace"), recorded)
    text += question("check", "protocol: str", "Verdict", told("check"), bar)
    text += question("analyze", "quantity: str", "Analysis", told("analyze"), bar)
    goals = {it.name: it for name in _questions.PLANNED for it in told("plan", name)}
    names = "Literal[" + ", ".join(map(repr, _questions.PLANNED)) + "]"
    text += question("plan", f"protocol: {names}", "Plan", goals.values(), bar)
    text += method("parameters", _questions.parameters)[4:]
    text += method("protocols", _questions.protocols)[4:]
    text += method("quantities", _questions.quantities)[4:]
    return text


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if STUB.read_text() != stub():
            sys.exit(f"{STUB.name} is not up to date: python python/stubs.py writes it")
    elif sys.argv[1:]:
        sys.exit("usage: stubs.py [--check]")
    else:
        STUB.write_text(stub())
