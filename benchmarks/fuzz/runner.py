"""Feeding one input after another to a command, and saying what must never happen."""

from __future__ import annotations

import io
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

import click

from checkvalve import conformance
from checkvalve.conformance.cli.outcome import INTERNAL, run

__all__ = ["CPU_SECONDS_MAX", "Failure", "Found", "Subject", "fuzz"]

CPU_SECONDS_MAX = 20.0
"""Processor time that an input may take; each has a budget of a second or less."""

_OURS = str(Path(conformance.__file__).parents[1]) + os.sep


@dataclass(frozen=True)
class Subject:
    """What is fed: ``make`` makes the bytes of an input, ``feed`` ends as a command does.

    ``suffix`` is what the name of its file ends with.
    """

    name: str
    suffix: str
    make: Callable[[Random], bytes]
    feed: Callable[[Path, int], object]


@dataclass(frozen=True)
class Failure:
    """An input that ended as none may."""

    index: int
    what: str
    file: Path


@dataclass
class Found:
    """What came of the inputs of a subject: how often each exit code, and what must not be."""

    name: str
    codes: Counter[int] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    cpu_seconds: float = 0.0
    slowest: float = 0.0


class _TooLate(BaseException):
    """An input has taken all the time that it may."""


def fuzz(subject: Subject, seed: int, indices: range, folder: Path) -> Found:
    """Feed the inputs of some numbers; those that fail stay in ``folder``."""
    found = Found(subject.name)
    for index in indices:
        # A file of its own: the source of a chapter is remembered by its name.
        file = folder / f"{subject.name}-{seed}-{index}{subject.suffix}"
        file.write_bytes(subject.make(Random(f"{seed}/{subject.name}/{index}")))
        began = time.process_time()
        code, what = _fed(subject, file, index)
        spent = time.process_time() - began
        found.codes[code] += 1
        found.cpu_seconds += spent
        found.slowest = max(found.slowest, spent)
        if what:
            found.failures.append(Failure(index, what, file))
        else:
            file.unlink()
    return found


def _fed(subject: Subject, file: Path, index: int) -> tuple[int, str]:
    """The exit code, and what is wrong with how it ended."""
    group = click.Group("checkvalve")
    group.command("feed")(lambda: subject.feed(file, index))
    out, err = io.StringIO(), io.StringIO()
    late: list[bool] = []
    code = -1
    try:
        with redirect_stdout(out), redirect_stderr(err), _limited(late):
            code = run(group, ["feed"])
    except _TooLate:
        late.append(True)
    except BaseException as error:  # noqa: BLE001 - that it comes here is the finding
        return code, f"raised {type(error).__name__}: {str(error)[:200]}"
    return code, "no end" if late else _wrong_with(code, err.getvalue())


@contextmanager
def _limited(late: list[bool]) -> Iterator[None]:
    """Raise in the midst of what takes too much time; what swallows that is told by ``late``."""
    def ring(_number: int, _frame: FrameType | None) -> None:
        late.append(True)
        raise _TooLate

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS_MAX, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _wrong_with(code: int, told: str) -> str:
    last = " ".join(told.split())[-300:]
    if code == INTERNAL:
        return f"internal error: {last}"
    if code not in (0, 1, 2, 64, 69):
        return f"exit code {code}: {last}"
    if "Traceback" in told:
        return f"a traceback: {last}"
    if code in (64, 69) and not told.rstrip():
        return f"{code} without a word"
    if _OURS in told:
        return f"names a file of ours: {last}"
    if len(told) > 4000:
        return f"a message of {len(told)} characters: {told[:100]}"
    return ""

