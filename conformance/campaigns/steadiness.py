"""The reason why a program does not come out alike each time: state that is kept, or else chance.

Theory of operation. Each session begins with a new instance, so a program gets the same answers
whatever was run before. Where it does not, processes that served no session yet tell two causes
apart. If the program always comes out alike in these, something is *kept* from one session to the
next: then sessions of one process show it, as a rule two, and their programs are made short. If it
differs even in these, the cause is threads, the clock, chance, or something outside of the process;
then all that can be said of a breach is how often it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.errors import TargetError
from ...spec.notation.labels import filled
from ...spec.verdicts.deadline import Deadline, Spent
from ..ports.base import NoGreeting, Target
from ..suites.run import run_program
from ..suites.shrink import shrink
from ..suites.suite import AnySuite, Program

__all__ = ["BETWEEN", "Kept", "Sessions", "Told", "kept_state", "left_behind"]

_IN_A_ROW: Final = 12
"""Sessions of the program itself, one after the other, of which a later one may differ."""

BETWEEN: Final = 20
"""Other programs that are tried between two sessions of it."""

_ALONE: Final = 2
"""Fresh processes that answer what a failed session was asked, before others are blamed."""

_EARLIER_RUNS, _LATER_RUNS = 24, 12
"""Attempts to make the earlier programs shorter, and the later one; each starts processes."""

_ADVICE: Final = (
    "This is the target's fault, and no rule's: a hello makes a new instance. Leave nothing of a "
    "session in a class, a module, a file or a server; or answer hello with \"again\": false, and "
    "each session gets a process of its own.")


class Told(NamedTuple):
    """The outcome of a program in one session: the acts that were requested, and the replies in
    words, which are those of its failure if it ``failed``."""

    acts: Program
    words: tuple[str, ...]
    failed: bool = False


@dataclass(frozen=True)
class Sessions:
    """The place where programs are run: a target, with one capacity.

    No program begins after the ``deadline``: then OutOfTime is raised.
    """

    suite: AnySuite
    target: Target
    capacity: int
    candidates: int = STATES_MAX
    deadline: Deadline = field(default_factory=Deadline)

    def told(self, program: Program) -> Told:
        """Run a program in the next session, and return what came of it."""
        self.deadline.check("looking for what is kept from session to session")
        try:
            run = run_program(
                self.suite, self.target, program, self.capacity, candidates=self.candidates)
        except TargetError as error:
            return Told(program, (error.what,), failed=True)
        return Told(tuple(run.acts), tuple(exchange.words for exchange in run.exchanges))

    def after(self, earlier: Iterable[Program], program: Program) -> Told:
        """Run a program after others, in a process that has served no session before."""
        self.target.renew()
        for each in earlier:
            self.told(each)
        return self.told(program)


@dataclass(frozen=True)
class Kept:
    """Sessions of one process that show that something is kept, in words.

    The program of the last one has the answers ``after`` when the ``earlier`` ones were before it,
    and the answers ``alone`` in a process of its own.
    """

    scene: str
    earlier: tuple[tuple[str, ...], ...]
    after: tuple[str, ...]
    alone: tuple[str, ...]

    def error(self) -> TargetError:
        """The error that reports the kept state."""
        sessions = [f"Session {number}: {_listed(words)}"
                    for number, words in enumerate((*self.earlier, self.after), start=1)]
        return TargetError(
            "the target keeps state from one session to the next, in the same process. "
            f"{self.scene} {'. '.join(sessions)}. But session {len(sessions)} in a fresh process: "
            f"{_listed(self.alone)}", next_step=_ADVICE)


def _listed(words: Sequence[str]) -> str:
    return "; ".join(words) or "nothing is asked"


def kept_state(sessions: Sessions, tried: Sequence[Program], program: Program) -> Kept | None:
    """The evidence that a target's answers to a program depend on earlier sessions of its process.

    ``tried`` are programs that were run before it. None: nothing of the kind was seen, or it
    cannot be looked for, or the time was over.
    """
    try:
        return _evidence(sessions, tried, program)
    except Spent:
        return None


def _evidence(sessions: Sessions, tried: Sequence[Program], program: Program) -> Kept | None:
    """As ``kept_state``. Raises OutOfTime."""
    if not sessions.target.renew():
        return None
    alone = sessions.after((), program)
    if sessions.after((), program) != alone:
        return None
    for series in ((program,) * _IN_A_ROW, tuple(_between(tried[-BETWEEN:], program))):
        earlier = _until_it_differs(sessions, series, program, alone)
        if earlier and sessions.after(earlier, program) != alone:
            earlier, program = _shortest(sessions, earlier, program, alone)
            return _confirmed(sessions, earlier, program)
    return None


def left_behind(
    sessions: Sessions, tried: Sequence[Program], program: Program, error: TargetError
) -> TargetError:
    """The failure of a session; or what earlier sessions of its process left, if a fresh process
    answers all that was asked before time is over."""
    if isinstance(error, NoGreeting) and not tried:
        return error    # no session was before it
    try:
        if not sessions.target.renew() or any(
                sessions.after((), program).failed for _ in range(_ALONE)):
            return error
    except Spent:
        return error
    kept = kept_state(sessions, tried, program)
    if kept is not None:
        return kept.error()
    return TargetError(
        f"{error.what}. But a fresh process answered all of this, "
        f"{_ALONE} times of {_ALONE}: the failure is left of earlier sessions, or comes by chance",
        error.where, _ADVICE)


def _between(others: Sequence[Program], program: Program) -> Iterator[Program]:
    for other in others:
        yield from (other, program)


def _until_it_differs(
    sessions: Sessions, series: Sequence[Program], program: Program, alone: Told
) -> tuple[Program, ...]:
    """The programs of a series up to the session in which one of them came out in another way;
    none if it never did."""
    sessions.target.renew()
    for at, each in enumerate(series):
        if sessions.told(each) != alone and each == program:
            return tuple(series[:at])
    return ()


def _shortest(
    sessions: Sessions, earlier: tuple[Program, ...], program: Program, alone: Told
) -> tuple[tuple[Program, ...], Program]:
    """The same with fewer and shorter programs, as far as they are found soon."""
    def still_differs(candidate: tuple[Program, ...]) -> tuple[Program, ...] | None:
        differs = bool(candidate) and sessions.after(candidate, program) != alone
        return candidate if differs else None

    def up_to_the_difference(candidate: Program) -> Program | None:
        one, other = sessions.after((), candidate), sessions.after(earlier, candidate)
        if other.failed:  # its words are those of its failure alone
            return None if one.failed else candidate
        at = _first_difference(one.words, other.words)
        return None if at is None else other.acts[:at + 1]

    earlier = shrink(earlier, still_differs, _shorter, _EARLIER_RUNS)
    program = up_to_the_difference(program) or program
    return earlier, shrink(
        program, up_to_the_difference, sessions.suite.simpler, _LATER_RUNS)


def _confirmed(
    sessions: Sessions, earlier: tuple[Program, ...], program: Program
) -> Kept | None:
    """The difference that the sessions show, if it is the same each time: chance alone would vary.
    """
    alone = sessions.after((), program)
    sessions.target.renew()
    words = tuple(sessions.told(each).words for each in earlier)
    after = sessions.told(program)
    for first in (earlier, (), (), earlier):
        if sessions.after(first, program) != (after if first else alone):
            return None
    if after == alone:
        return None
    scene = filled(sessions.suite.scene, sessions.suite.settings(sessions.capacity))
    return Kept(scene, words, after.words, alone.words)


def _shorter(program: Program) -> Iterator[Program]:
    """A program with less in it: half, or one act less."""
    half = len(program) // 2
    if half:
        yield from (program[:half], program[half:])
        yield from (program[:at] + program[at + 1:] for at in range(len(program)))


def _first_difference(one: Sequence[str], other: Sequence[str]) -> int | None:
    """The first place in which two texts differ; None if they are the same."""
    if one == other:
        return None
    differing = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))
