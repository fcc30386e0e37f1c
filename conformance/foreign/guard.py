"""Calls into a target's own Python: their exceptions become errors of the target."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from traceback import walk_tb
from typing import Final, TypeVar

from ...spec.notation.errors import CheckvalveError, TargetError
from ..ports.base import excerpt
from .place import ASYNCIO, PYTHON, THREAD

__all__ = ["LOOP_EXIT", "guarded", "own_place", "raised"]

R = TypeVar("R")

_EXPECTED: Final = (Exception, SystemExit)
_OURS: Final = str(Path(__file__).parents[2])
_PLUMBING: Final = frozenset(
    str(Path(__file__).parents[1] / f"{name}.py") for name in (
        "adapters/host", "adapters/session", "adapters/thread_adapter",
        "foreign/asleep", "foreign/calls",
        "foreign/clock", "foreign/factories", "foreign/guard", "foreign/loading",
        "foreign/stage", "foreign/surface", "foreign/target", "foreign/threads"))
_FAR: Final = 3
_ADVICE: Final = "Catch it in the adapter, or answer with an error of the protocol."
_NAMED_ADVICE: Final = (
    "Its callers would get this exception too. If it is an answer (full, empty), --names says so: "
    "docs/by-name.md.")
_NOT_AWAITED: Final = ("Task got bad yield", "must be called from async context")
"""The words of a task of asyncio that is handed what another library's loop would know, and of trio
where that does not run."""
_OTHER_LOOP_ADVICE: Final = (
    "It awaits something that asyncio does not know: it is made for another event loop, as those "
    "of curio and trio are. Coroutines are run by asyncio here.")
LOOP_EXIT: Final = "LoopExit"
"""The exception of gevent where a greenlet waits, and no other one is left."""
_GREENLETS_ADVICE: Final = (
    "It waits for another greenlet of gevent, and here threads call it. Write an adapter that "
    "makes a greenlet of each call, and lets gevent run at settle: docs/settling.md.")
_MEMORY_ADVICE: Final = "Let it take less memory; docs/adapter-protocol.md has the limits."


def guarded(
    name: str, action: Callable[[], R], caught: tuple[type[BaseException], ...] = _EXPECTED
) -> R:
    """The result of ``action``; raises ``TargetError`` for an exception of the target ``name``.

    A KeyboardInterrupt goes through, unless ``caught`` has it: it may be the user's own.
    """
    try:
        return action()
    except CheckvalveError:
        raise
    except caught as error:
        raise raised(name, error) from error


def raised(name: str, error: BaseException) -> TargetError:
    """The error that says what ``name`` raised, and where in its own code."""
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - the text is made by the target too
        words = "its own text cannot be made"
    what = f"{name} raised {type(error).__name__}" + (f": {excerpt(words)}" if words else "")
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        frames.append((error.filename, error.lineno))
    return TargetError(what, own_place(frames), _advice(name, error, what))


def _advice(name: str, error: BaseException, what: str) -> str:
    if isinstance(error, MemoryError):
        return _MEMORY_ADVICE
    if isinstance(error, RuntimeError) and any(words in what for words in _NOT_AWAITED):
        return _OTHER_LOOP_ADVICE
    if type(error).__name__ == LOOP_EXIT:
        return _GREENLETS_ADVICE
    if name.startswith(f"{PYTHON}:"):
        return f"If it is an adapter: {_ADVICE[0].lower()}{_ADVICE[1:]} If not: {_NAMED_ADVICE}"
    return _NAMED_ADVICE if name.startswith((f"{THREAD}:", f"{ASYNCIO}:")) else _ADVICE


def own_place(frames: Iterable[tuple[str, int | None]]) -> str:
    """``file:line`` of the innermost of ``frames`` that its author wrote, else of a library.

    ``frames`` are files and lines, the innermost last. Empty if there are none but those of
    the interpreter, its library, and what carries messages here.
    """
    places = [(distance, f"{file}:{line}") for file, line in frames
              if (distance := _distance(file)) < _FAR]
    return min(reversed(places), key=lambda place: place[0], default=(0, ""))[1]


def _distance(file: str) -> int:
    """Distance of a file from the user's own code: 0 is nearest."""
    if file.startswith(f"{_OURS}{os.sep}"):    # it may be installed beside the libraries
        return _FAR if file in _PLUMBING else 2
    if "site-packages" in file or "dist-packages" in file:
        return 1
    return _FAR if file.startswith(("<", _standard_library())) else 0


@cache
def _standard_library() -> str:
    return sysconfig.get_path("stdlib")
