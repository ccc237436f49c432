"""Live members: be elected, and know for how long."""

from __future__ import annotations

import asyncio
import atexit
import json
import math
import select
import sys
import threading
import time
import weakref
from contextlib import suppress
from typing import Any, Dict, Generator, List, Mapping, NamedTuple, Optional, Union

from . import _native
from ._errors import ForkError, GoneError, LeadershipLostError, NotElectedError, ParameterError
from ._questions import describe, parameters

_joined: "weakref.WeakSet[Election]" = weakref.WeakSet()
_watching = False


def _refuse_forks(event: str, _arguments: Any) -> None:
    """Refuses to fork a process that has a member: the child would have no thread that renews the
    lease, but the parent's sockets and the belief that it leads."""
    if event in ("os.fork", "os.forkpty") and len(_joined) > 0:
        groups = ", ".join(sorted({election.group for election in _joined}))
        raise ForkError(
            f"this process is a member of {groups} and must not be forked: leave first, fork "
            "before joining, or start the child with spawn (multiprocessing) or subprocess")


def _leave_all() -> None:
    for election in list(_joined):
        election.__exit__()


def _watch_process() -> None:
    global _watching
    if not _watching:
        _watching = True
        sys.addaudithook(_refuse_forks)
        atexit.register(_leave_all)


class Leadership(NamedTuple):
    """What a member believes at the moment of the question; it does not follow later changes."""

    #: The id of the member.
    id: int
    #: `leader`, `follower`, `looking` or `withdrawn`.
    role: str
    #: The leaders that it follows; itself, if it leads.
    leaders: List[int]
    #: The fencing token of that leader, where the protocol counts terms.
    term: Optional[int]
    #: For how many seconds this holds unless it is renewed; infinite if it has no deadline.
    remaining: float


#: The longest wait of one call, in seconds; the system counts milliseconds in 32 bits.
_POLL_MAX = 86_400.0


def _wait_readable(fd: int, seconds: Optional[float]) -> None:
    """Waits for a descriptor, for a day at most. Signals are handled meanwhile, so Ctrl-C works."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    limited = seconds is not None and math.isfinite(seconds)
    poll.poll(max(0, math.ceil(min(seconds, _POLL_MAX) * 1000)) if limited else None)


async def _readable(fd: int, seconds: Optional[float]) -> None:
    """The same for an event loop."""
    loop = asyncio.get_running_loop()
    done: "asyncio.Future[None]" = loop.create_future()

    def wake() -> None:
        if not done.done():
            done.set_result(None)

    loop.add_reader(fd, wake)
    limited = seconds is not None and math.isfinite(seconds)
    timer = loop.call_later(min(max(0.0, seconds), _POLL_MAX), wake) if limited else None
    try:
        await done
    finally:
        loop.remove_reader(fd)
        if timer is not None:
            timer.cancel()


class _Deadline:
    """A time limit, by the clock of this process."""

    def __init__(self, timeout: Optional[float]) -> None:
        if timeout is not None and math.isnan(timeout):
            raise ParameterError("timeout: it is not a number; give seconds, or None", "timeout")
        self.end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> Optional[float]:
        return None if self.end is None else self.end - time.monotonic()

    def is_over(self) -> bool:
        return self.end is not None and time.monotonic() >= self.end


class Guard:
    """Proof that a member leads, for one reign. Ask it before each action that only a leader may
    take, and be done within `remaining()` seconds.

    A process may be stopped between asking and acting. Where the target of an action can reject
    requests of a former leader, send `term()` with each.
    """

    def __init__(self, native: Any, election: "Election") -> None:
        self._native = native
        self._election = election

    def still_leading(self) -> bool:
        """Whether the member still leads at this moment, by the clock."""
        return self._native.still_leading()

    def remaining(self) -> float:
        """The seconds until the reign ends unless it is renewed: 0 if it is over, infinite where
        leadership has no deadline."""
        return self._native.remaining()

    def term(self) -> Optional[int]:
        """The fencing token, higher than that of every leader before; None if the reign is over or
        the protocol counts no terms."""
        return self._native.term()

    def check(self) -> float:
        """The same as `remaining()`; raises LeadershipLostError if the reign is over."""
        if not self.still_leading():
            raise LeadershipLostError("the member leads no longer: stop what only a leader may do")
        return self.remaining()

    def resign(self) -> None:
        """Resigns, and waits until the lease is released."""
        self._native.resign()

    def release(self) -> None:
        """Releases the guard; the last guard of a reign resigns."""
        self._native.release()

    def wait_lost(self, timeout: Optional[float] = None) -> bool:
        """Waits until the reign is over; False if the time passed first."""
        if not self.still_leading():
            return True
        watch, deadline = self._watch(), _Deadline(timeout)
        while self._still(watch):
            if deadline.is_over():
                return False
            _wait_readable(watch.fileno(), self._patience(deadline))
        return True

    async def lost(self) -> None:
        """Waits until the reign is over, in an event loop."""
        if not self.still_leading():
            return
        watch, deadline = self._watch(), _Deadline(None)
        while self._still(watch):
            await _readable(watch.fileno(), self._patience(deadline))

    def _watch(self) -> Any:
        watch = self._election._member().watch()
        watch.fileno()  # from now on it is told of changes
        return watch

    def _still(self, watch: Any) -> bool:
        watch.clear()
        return self.still_leading()

    def _patience(self, deadline: _Deadline) -> float:
        """Until the lease or the deadline ends: the member's thread may be stopped."""
        left = deadline.left()
        lease = self.remaining() + 0.001
        return lease if left is None else min(lease, left)

    def __repr__(self) -> str:
        return f"<Guard of {self._election.group!r}, {self.remaining():.3f} s left>"


class Campaign:
    """A wait for leadership: `with`, `async with` or `await` begins it and gives a `Guard`. At the
    end of the block the guard is released, which resigns."""

    def __init__(self, election: "Election", timeout: Optional[float]) -> None:
        self._election = election
        self._timeout = timeout
        self._guard: Optional[Guard] = None

    def wait(self) -> Guard:
        """Waits until the member leads. Raises NotElectedError if the timeout passes first."""
        native, deadline = self._election._member().campaign(), _Deadline(self._timeout)
        while True:
            guard = native.poll()
            if guard is not None:
                return Guard(guard, self._election)
            self._check(deadline)
            _wait_readable(native.fileno(), deadline.left())

    async def _wait(self) -> Guard:
        native, deadline = self._election._member().campaign(), _Deadline(self._timeout)
        while True:
            guard = native.poll()
            if guard is not None:
                return Guard(guard, self._election)
            self._check(deadline)
            await _readable(native.fileno(), deadline.left())

    def _check(self, deadline: _Deadline) -> None:
        if deadline.is_over():
            raise NotElectedError(f"the member did not lead within {self._timeout} s")

    def __enter__(self) -> Guard:
        self._guard = self.wait()
        return self._guard

    def __exit__(self, *_: Any) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            with suppress(ForkError):  # a child that was forked all the same holds nothing
                guard.release()

    async def __aenter__(self) -> Guard:
        self._guard = await self._wait()
        return self._guard

    async def __aexit__(self, *_: Any) -> None:
        self.__exit__()

    def __await__(self) -> Generator[Any, None, Guard]:
        return self._wait().__await__()


class Election:
    """A member of a group, from the beginning of a `with` block to its end.

        with Election("billing", peers="1=10.0.0.1:7400,...", key="billing.key") as election:
            with election.campaign() as guard:
                while guard.still_leading():
                    work(at_most=guard.remaining())

    `peers` is a text as for `bellwether run`, or a dictionary from ids to addresses. The process
    may be elected as soon as the block begins. It needs a key, or `insecure=True`. Without `dir`
    nothing is stored, and `bellwether status` does not see the member.

    A process that has joined must not be forked: `os.fork` raises ForkError, and so does
    multiprocessing with the method fork. A signal handler that raises an exception (as Ctrl-C
    does) ends every wait, and leaving the block hands over to the next leader.
    """

    def __init__(self, group: str, *, peers: Union[None, str, Mapping[int, str]] = None,
                 **params: Any) -> None:
        if isinstance(peers, Mapping):
            peers = ",".join(f"{id}={address}" for id, address in peers.items())
        self.group = group
        self._params = {"peers": peers, **params}
        self._native: Optional[Any] = None

    def join(self) -> "Election":
        """Joins the group; the beginning of a `with` block does that."""
        if self._native is not None:
            raise ParameterError("the member has joined already; leave first", None)
        _watch_process()
        _joined.add(self)  # before it joins, so that no other thread forks meanwhile
        try:
            self._native = _native.Member.join(self.group, self._params)
        finally:
            if self._native is None:
                _joined.discard(self)
        return self

    def leave(self) -> None:
        """Leaves the group; a leader hands over first. Does nothing if it has left."""
        native, self._native = self._native, None
        if native is not None:
            try:
                native.leave()
            finally:
                _joined.discard(self)

    def _member(self) -> Any:
        if self._native is None:
            raise GoneError("the member is in no group: join first, or use it in a `with` block")
        return self._native

    @property
    def id(self) -> int:
        """The id of the member."""
        return self.leadership().id

    def leadership(self) -> Leadership:
        """What the member believes now."""
        return Leadership(*self._member().leadership())

    def status(self) -> Dict[str, Any]:
        """All that the member knows of itself, as `bellwether status --format json` shows it."""
        return json.loads(self._member().status())

    def failure(self) -> Optional[str]:
        """Why the member has ended, if it did not leave."""
        return self._member().failure()

    def campaign(self, timeout: Optional[float] = None) -> Campaign:
        """Waits to lead, for `with`, `async with` or `await`. The member is a candidate all the
        time; the timeout, in seconds, ends only the wait."""
        return Campaign(self, timeout)

    def resign(self) -> None:
        """Stops leading and stays in the group. Guards are lost at once; this waits until they are
        released or their deadline has passed."""
        self._member().resign()

    def transfer(self, to: int) -> None:
        """Stops leading in favour of this member."""
        self._member().transfer(to)

    def __enter__(self) -> "Election":
        return self.join()

    def __exit__(self, *_: Any) -> None:
        with suppress(ForkError):  # a child that was forked all the same is no member
            self.leave()

    async def __aenter__(self) -> "Election":
        loop, turn = asyncio.get_running_loop(), threading.Lock()
        joined = cancelled = False

        def join() -> None:
            nonlocal joined
            self.join()
            with turn:
                joined = True
                if not cancelled:
                    return
            self.leave()

        try:
            await loop.run_in_executor(None, join)
        except asyncio.CancelledError:
            # A thread cannot be stopped: who joins after this leaves again.
            with turn:
                cancelled = True
            if joined:
                loop.run_in_executor(None, self.__exit__)
            raise
        return self

    async def __aexit__(self, *_: Any) -> None:
        # It may wait for the end of a lease.
        await asyncio.get_running_loop().run_in_executor(None, self.__exit__)

    def __repr__(self) -> str:
        if self._native is None:
            return f"<Election in {self.group!r}: not joined>"
        it = self.leadership()
        return f"<Election in {self.group!r}: member {it.id}, {it.role}>"


describe(Election, parameters("Election"), "Parameters")
