"""The exceptions of the package."""

from __future__ import annotations

from typing import Optional


class BellwetherError(Exception):
    """Anything that Bellwether refuses, or that went wrong in it; its text is one line."""


class ParameterError(BellwetherError, ValueError):
    """A parameter breaks a rule. The text names the value, the rule and the way out."""

    #: The name of the parameter, if the text names one.
    parameter: Optional[str]

    def __init__(self, line: str, parameter: Optional[str] = None) -> None:
        super().__init__(line)
        self.parameter = parameter


class FileError(BellwetherError, ValueError):
    """A scenario file, a key file or a recorded trace breaks a rule."""


class GoneError(BellwetherError):
    """The member has left its group, or has failed."""


class NotNowError(BellwetherError):
    """The member cannot do this now, for example resign while it does not lead."""


class NotElectedError(BellwetherError, TimeoutError):
    """The member did not lead within the time that was given."""


class LeadershipLostError(BellwetherError):
    """The reign of this guard is over."""


class ForkError(BellwetherError, RuntimeError):
    """A process that has joined a group was about to be forked, or a child used its member."""
