"""The stand: forks of this process, in which killers try mutants, under limits.

This process imports the heavy libraries once and starts no thread, so a fork is cheap and
sound. One loop looks after all forks: a mutant is *killed* by the first killer that fails, or by
ending its process (``crash``), by using up the processor time of a killer, by standing still, or
by getting on forever with little processor time (``hang``).
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from mmap import PAGESIZE
from pathlib import Path
from typing import Any, Final

from checkvalve.conformance.computer.patience import Countdown, slowness
from checkvalve.spec.notation.errors import InternalError

from .child import SUITE, Patience, Say, enter, sender, try_killers
from .operators import Mutant
from .tree import Tree

__all__ = ["CRASH", "HANG", "STILL_SECONDS", "SUITES", "SURVIVED", "TESTS", "Fate", "Job",
           "Progress", "carry_out", "fork", "how_it_ended", "lines_of", "warm_up"]

SUITES, TESTS, HANG, CRASH, SURVIVED = "suites", "tests", "hang", "crash", "survived"

STILL_SECONDS: Final = 20.0
"""After so long without any processor time a fork is taken to hang."""
MEMORY_BYTES_MAX: Final = 4 << 30
"""Resident in one fork. Address space is no measure: the explorer reserves what it may use."""
_LOOK_SECONDS: Final = 1.0
_GENERATIONS: Final = 8
_HEAVY: Final = ("hypothesis", "llvmlite.binding", "networkx", "numpy", "pytest",
                 "yaml", "z3", "click", "hypothesis.strategies", "asyncio")


@dataclass(frozen=True)
class Job:
    """A mutant, and the killers that are to try it, in this order."""

    mutant: Mutant
    killers: tuple[str, ...]


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: ``how`` it was killed (or that it survived), by which killer,
    and what that one said.

    ``seconds`` is the processor time that this took, ``commit`` the one that it was tried at.
    ``runs``: a line that it changes is run in the default run of some suite on its reference.
    """

    how: str
    killer: str = ""
    why: str = ""
    seconds: float = 0.0
    commit: str = ""
    runs: bool = False

    @property
    def by_default(self) -> bool:
        """Whether the default run of some suite found it."""
        return self.killer.startswith(SUITE)


def warm_up() -> None:
    """Import what is slow to import; no thread is started."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in _HEAVY:
        import_module(name)


def fork(tree: Tree, task: Callable[[Say], None]) -> tuple[int, int]:
    """Do a task in a fork that sees a tree; its process, and the pipe on which it speaks."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    try:
        os.setsid()
        os.close(reading)
        enter(tree)
        say = sender(writing)
        task(say)
        say({"done": True})
    finally:
        os._exit(0)


def lines_of(pipe: int) -> Iterator[dict[str, Any]]:
    """What a fork says, until it ends."""
    with os.fdopen(pipe, "rb") as lines:
        for line in lines:
            yield json.loads(line)


class Progress:
    """Whether a killer gets on: it uses processor time now and then, and comes to its end.

    ``clock`` is in seconds, ``slow`` says how slow the machine is at the moment (``patience``).
    """

    def __init__(
        self, patience: Patience, clock: Callable[[], float] = time.monotonic,
        slow: Callable[[], float] = slowness,
    ) -> None:
        self._patience, self._clock, self._slow = patience, clock, slow
        self._ticks = -1
        self.begins("")

    def begins(self, killer: str) -> None:
        """A killer has its time from now on."""
        self._most = self._patience.by_the_clock(killer)
        self._left = Countdown(self._most, clock=self._clock, slow=self._slow)
        self._moved = self._clock()

    def hangs(self, ticks: int) -> str:
        """Why it is taken to hang, if it is: so many ticks of processor time are used by now."""
        if ticks != self._ticks:
            self._ticks, self._moved = ticks, self._clock()
        elif self._clock() - self._moved > STILL_SECONDS:
            return f"it stood still for {STILL_SECONDS:.0f} s"
        if self._left.over:
            return f"it had not ended after {self._most:.0f} s of an idle machine"
        return ""


@dataclass
class _Attempt:
    """A job under way."""

    job: Job
    tree: Tree
    process: int
    pipe: int
    undo: contextlib.ExitStack
    progress: Progress
    heard: bytes = b""
    at: str = ""
    fate: Fate | None = None


def carry_out(
    jobs: Sequence[Job], trees: Sequence[Tree], patience: Patience,
    tell: Callable[[Job, Fate], None],
) -> None:
    """Carry out the jobs, as many at once as there are trees; ``tell`` hears of each fate."""
    todo, free = list(reversed(jobs)), list(trees)
    running: dict[int, _Attempt] = {}
    with selectors.DefaultSelector() as selector:
        try:
            while todo or running:
                while todo and free:
                    attempt = _begin(todo.pop(), free.pop(), patience)
                    running[attempt.pipe] = attempt
                    selector.register(attempt.pipe, selectors.EVENT_READ)
                for key, _ in selector.select(_LOOK_SECONDS):
                    attempt = running[key.fd]
                    if not _hear(attempt):
                        selector.unregister(key.fd)
                        free.append(running.pop(key.fd).tree)
                        tell(attempt.job, _end(attempt))
                for attempt in running.values():
                    _look_after(attempt)
        finally:
            for attempt in running.values():
                _stop(attempt)


def _begin(job: Job, tree: Tree, patience: Patience) -> _Attempt:
    undo = contextlib.ExitStack()
    undo.enter_context(tree.mutated(job.mutant))
    process, pipe = fork(tree, lambda say: try_killers(tree, job.killers, patience, say))
    return _Attempt(job, tree, process, pipe, undo, Progress(patience))


def _hear(attempt: _Attempt) -> bool:
    """Take what the fork says; false when it has ended."""
    said = os.read(attempt.pipe, 1 << 16)
    *lines, attempt.heard = (attempt.heard + said).split(b"\n")
    for line in lines:
        message = json.loads(line)
        if "at" in message:
            attempt.at = message["at"]
            attempt.progress.begins(attempt.at)
        elif "killed" in message:
            killer = message["killed"]
            how = SUITES if killer.startswith(SUITE) else TESTS
            attempt.fate = attempt.fate or Fate(how, killer, message["why"])
        elif "crashed" in message:
            attempt.fate = Fate(CRASH, message["crashed"], message["why"])
        elif attempt.fate is None:
            attempt.fate = Fate(SURVIVED)
    return bool(said) and attempt.fate is None


def _end(attempt: _Attempt) -> Fate:
    """What became of a fork that is over, or is ended here."""
    status, seconds = _stop(attempt)
    return replace(attempt.fate or how_it_ended(attempt.at, status), seconds=seconds)


def _stop(attempt: _Attempt) -> tuple[int, float]:
    """End the fork with all that it started, and put the tree in order; how it ended, and the
    processor time that it took."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(attempt.process, signal.SIGKILL)
    os.close(attempt.pipe)
    _, status, used = os.wait4(attempt.process, 0)
    attempt.undo.close()
    return status, round(used.ru_utime + used.ru_stime, 2)


def how_it_ended(at: str, status: int) -> Fate:
    """The fate of a mutant after its process ended without a word.

    Raises InternalError where no killer had begun: then it was not the mutant that ended it.
    """
    if not at:
        raise InternalError(
            "the process of a mutant ended before anything was tried",
            next_step="Look what is wrong with this machine, and run it again: it goes on here.")
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if ended_by == signal.SIGXCPU:
        return Fate(HANG, at, "it used up its processor time")
    return Fate(CRASH, at, f"the process ended, signal {ended_by}")


def _look_after(attempt: _Attempt) -> None:
    """Kill a fork that takes too much memory, or does not get on."""
    ticks, size = _use_of(attempt.process)
    if size > MEMORY_BYTES_MAX:
        attempt.fate = Fate(CRASH, attempt.at, f"it took more than {MEMORY_BYTES_MAX:,} bytes")
    elif why := attempt.progress.hangs(ticks):
        attempt.fate = Fate(HANG, attempt.at, why)
    if attempt.fate is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(attempt.process, signal.SIGKILL)


def _use_of(process: int) -> tuple[int, int]:
    """The clock ticks that a process and all below it have used, and the bytes they hold."""
    seen: dict[int, tuple[int, int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[11]) + int(fields[12])
                seen[int(entry.name)] = int(fields[1]), ticks, int(fields[21]) * PAGESIZE
    family = {process}
    for _ in range(_GENERATIONS):
        family |= {number for number, (parent, _, _) in seen.items() if parent in family}
    rows = [seen[number] for number in family if number in seen]
    return sum(ticks for _, ticks, _ in rows), sum(size for _, _, size in rows)
