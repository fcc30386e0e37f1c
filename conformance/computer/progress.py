"""A line on the terminal that says how far a long run has got.

It appears when a run has taken two seconds, on stderr and only if that is a terminal: how many of
how many are done, at which rate, and about how long the rest takes; of a search, the end of which
nobody knows, how long it has run and may run. It is gone when the run ends. Only the command line
turns it on (``switched_on``); what verdicts rest on does not know of it.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

__all__ = [
    "QUIET_SECONDS", "Progress", "counted_off", "line_away", "line_of", "switched_on", "watched",
]

T = TypeVar("T")

QUIET_SECONDS = 2.0
"""Seconds before the line appears."""

_EVERY = 0.2
_CLEAR = "\r\x1b[2K"


def line_of(what: str, done: int, total: int, seconds: float, limit: float | None = None) -> str:
    """The line on a run that has taken so many ``seconds`` and may take ``limit`` of them. The
    rest is reckoned at the rate so far."""
    if total:
        rate = done / seconds if seconds else 0.0
        parts = [f"{what}: {done:,} of {total:,}"]
        if rate:
            parts += [f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s",
                      f"about {_lasting((total - done) / rate)} left"]
        return ", ".join(parts)
    most = f" of at most {_lasting(limit)}" if limit is not None else ""
    return f"{what}: {_lasting(seconds)}{most}"


def _lasting(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60} s"


class Progress:
    """The line on one run: ``what`` it is, and how much of it is ``done``; it is drawn by a thread
    of its own, so that a search that never comes back to Python is shown as well."""

    def __init__(self, what: str, stream: TextIO, total: int, limit: float | None) -> None:
        self._what, self._stream, self._limit = what, stream, limit
        self.done, self.total = 0, total
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._drawn = False
        self._mine = threading.Lock()
        self._thread = threading.Thread(target=self._draw, daemon=True)
        self._thread.start()

    def _draw(self) -> None:
        if self._ended.wait(QUIET_SECONDS):
            return
        while not self._ended.is_set():
            line = line_of(self._what, self.done, self.total,
                           time.monotonic() - self._began, self._limit)
            with self._mine:
                self._write(_CLEAR + line[:shutil.get_terminal_size().columns - 1])
                self._drawn = True
            self._ended.wait(_EVERY)

    def end(self) -> None:
        """Take the line away."""
        self._ended.set()
        self._thread.join()
        if self._drawn:
            self._write(_CLEAR)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Take the line away while this lasts; it comes back by itself."""
        with self._mine:
            if self._drawn:
                self._write(_CLEAR)
                self._drawn = False
            yield

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            self._ended.set()


_on: list[TextIO] = []
_watched: list[Progress] = []


@contextmanager
def switched_on(stream: TextIO | None = None) -> Iterator[None]:
    """Show lines while this lasts, if ``stream`` (stderr) is a terminal."""
    chosen = sys.stderr if stream is None else stream
    if chosen is None or not chosen.isatty():
        yield
        return
    _on.append(chosen)
    try:
        yield
    finally:
        _on.pop()


@contextmanager
def watched(what: str, total: int = 0, limit: float | None = None) -> Iterator[None]:
    """Show how far a run has got. Inside of another one, it is a part of that."""
    if not _on or _watched:
        yield
        return
    _watched.append(Progress(what, _on[-1], total, limit))
    try:
        yield
    finally:
        _watched.pop().end()


@contextmanager
def line_away() -> Iterator[None]:
    """Show no line while something else is printed in the midst of a run."""
    if not _watched:
        yield
        return
    with _watched[-1].away():
        yield


def counted_off(each: Iterable[T], total: int) -> Iterator[T]:
    """The same, one after another, counted for the run that is watched; it has ``total`` more."""
    if _watched:
        _watched[-1].total += total
    for one in each:
        yield one
        if _watched:
            _watched[-1].done += 1
