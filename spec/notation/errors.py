"""The errors that a user may see. Everything else is a bug of checkvalve itself.

Each says what happened, whose fault it is, where, and what to do next.
"""

from __future__ import annotations

import os
from typing import ClassVar, Literal

__all__ = [
    "CheckvalveError", "InputError", "InternalError", "ModelFault", "NotationError",
    "TargetError", "line_in", "raised_here",
]

Blame = Literal["input", "target", "us"]


class CheckvalveError(Exception):
    """Base of the family; raise one of its subclasses.

    ``what`` is a sentence without a full stop, ``where`` is ``file:line`` or empty,
    ``next_step`` is an imperative sentence, or empty.
    """

    blame: ClassVar[Blame] = "us"

    def __init__(self, what: str, where: str = "", next_step: str = "") -> None:
        super().__init__(what, where, next_step)
        self.what = what
        self.where = where
        self.next_step = next_step

    @property
    def fault(self) -> Blame:
        """The party that has to act: the author of the input, of the target, or checkvalve."""
        return self.blame

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" {self.next_step}" if self.next_step else ""
        return f"{place}{self.what}.{advice}"


class InputError(CheckvalveError):
    """An input that cannot be used: a file, an option, a name.

    Usual causes: a misspelt key or task, a number out of range, a file that is not there.
    """

    blame = "input"


class NotationError(InputError):
    """A machine is written in Python that the notation does not allow.

    The message names the construct; ``where`` is its file and line. Rewrite it with what
    the notation offers (docs/notation.md lists it).
    """


class ModelFault(InputError):
    """A machine leaves its own declared ranges in a state that it can reach.

    Usual causes: a guard that is missing before a decrement or a push, or a range that was
    declared too small. ``steps`` are the labels of the shortest way there, when known.
    """

    def __init__(
        self, what: str, where: str = "", next_step: str = "", steps: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, where, next_step)
        self.steps = steps


class TargetError(CheckvalveError):
    """The implementation under test could not be talked to: it hung, died, or spoke rubbish.

    This is an error of the target, not a verdict about its behaviour.
    """

    blame = "target"


class InternalError(CheckvalveError):
    """checkvalve contradicts itself; please report it with the command that showed it."""

    blame = "us"


# --- whose fault an exception of Python's is --------------------------------------------------

_HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def line_in(error: BaseException, file: str) -> int | None:
    """The line of ``file`` that ``error`` comes from, the innermost one, if it is in its trace."""
    wanted = os.path.realpath(file)
    lines = [line for name, line in _frames(error) if os.path.realpath(name) == wanted]
    return lines[-1] if lines else None


def raised_here(error: BaseException) -> bool:
    """True if checkvalve's own code raised ``error``, not the code of a user's machine."""
    *_, (name, _) = _frames(error) or [("", None)]
    return os.path.realpath(name).startswith(_HERE + os.sep)


def _frames(error: BaseException) -> list[tuple[str, int | None]]:
    import traceback  # not for the starts where all goes well
    return [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
