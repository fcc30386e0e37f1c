"""The findings of a check of a design, as values, in JSON, and as they are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ...notation.labels import counted
from ...verdicts.verdict import Outcome
from ..reading.language import Design
from ..reading.lints import lints
from ..reading.source import Spot
from .blocked import Blocked, Left

__all__ = [
    "Attempt", "DesignReport", "Edit", "Finding", "GraphCycle", "Meanwhile", "Repair",
    "RepairStep", "ToldLeg", "Way", "in_short", "worst_of",
]

CEASED = {"stops forever": "has stopped forever", "crashes": "has crashed"}
"""Steps after which a task does nothing any more, and what is said of it then."""


@dataclass(frozen=True)
class Edit:
    """A value to write in the file: ``key`` of what an entry is about (``of``, as in "link q") is
    ``new`` where it was ``old`` (empty: not there). ``spot`` is that of the entry; once the file
    was read again (``is_exact``), that of the value. ``by`` is by how much a number changes that
    is not the same in all copies. Of a list of steps ``parts`` are the new ones: the spot of one
    that is there, or the text of one that is not.
    """

    of: str
    key: str
    spot: Spot
    old: str
    new: str
    by: int | None = None
    is_exact: bool = False
    parts: tuple[Spot | str, ...] = ()


@dataclass(frozen=True)
class RepairStep:
    """One change of a repair: its ``kind``, what it ``gives_up``, and whether it is the
    ``least`` of its kind in that place (false: whether less would do was not decided).
    ``edits`` say where in the file that is. ``tier`` is the name of what it gives up in general;
    it is ``done`` to a design."""

    kind: str
    change: str
    gives_up: str
    least: bool
    edits: tuple[Edit, ...] = ()
    tier: str = ""
    done: Callable[[Design], Design] | None = field(default=None, compare=False, repr=False)

    def to_json(self, file: str) -> dict[str, Any]:
        """The step as an entry of ``changes``."""
        return {
            "kind": self.kind, "change": self.change, "tier": self.tier,
            "gives_up": self.gives_up, "least": self.least, "edits": [
                {"where": f"{file}:{edit.spot}" if edit.spot.line else file, "of": edit.of,
                 "key": edit.key, "old": edit.old, "new": edit.new} for edit in self.edits],
        }


@dataclass(frozen=True)
class Way:
    """Changes that help together, and how that was ``checked``: a method for each property. Those
    that are ``open`` could not be decided, and those ``violated`` were so and still may be. Where
    the file was read again, there is a ``patch`` of it, or there is ``no_patch`` for a reason."""

    steps: tuple[RepairStep, ...]
    checked: tuple[tuple[str, str], ...] = ()
    open: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    patch: str = ""
    no_patch: str = ""

    def to_json(self, file: str) -> dict[str, Any]:
        """The way as an entry of ``ways``."""
        return {"changes": [step.to_json(file) for step in self.steps],
                "checked": dict(self.checked), "undecided": list(self.open),
                "not_repaired": list(self.violated), "patch": self.patch or None,
                "no_patch": self.no_patch}


@dataclass(frozen=True)
class Repair:
    """Changes that were checked to make a design keep what is wanted, or what was tried in vain.

    ``ways`` is one or more sets of changes, each of which is a fix by itself, what gives up least
    first. ``tried`` has an entry for each kind of change that was tried in vain. There may be a fix
    that was not found for the reason ``undecided``, or among the changes ``untried``.
    """

    ways: tuple[Way, ...]
    tried: tuple[str, ...]
    undecided: str
    untried: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[RepairStep, ...]:
        """The changes of the best way; none where none was found."""
        return self.ways[0].steps if self.ways else ()

    @property
    def cut_short(self) -> str:
        """Why there may be a fix that was not found; empty if there is none."""
        number = len(self.untried)
        untried = f"{counted(number, 'change')} {'was' if number == 1 else 'were'} not tried"
        return "; ".join(filter(None, [self.undecided, untried if number else ""]))

    def to_json(self, file: str) -> dict[str, Any]:
        """The repair as the entry ``repair`` of a result."""
        return {
            "found": bool(self.ways), "changes": [step.to_json(file) for step in self.steps],
            "ways": [way.to_json(file) for way in self.ways], "tried": list(self.tried),
            "cut_short": self.cut_short, "untried": list(self.untried),
        }


@dataclass(frozen=True)
class Attempt:
    """The answer of one engine in ``seconds``: its outcome, and ``why`` (or by what method).

    ``part`` is the first task of the connected part that it was asked about, and has so many
    ``states`` at least.
    """

    part: str
    engine: str
    seconds: float
    outcome: Outcome
    why: str
    states: int = 0

    def to_json(self) -> dict[str, Any]:
        """The attempt as an entry of ``tried``."""
        return {"part": self.part, "engine": self.engine, "seconds": round(self.seconds, 6),
                "verdict": self.outcome.value, "why": self.why}


@dataclass(frozen=True)
class ToldLeg:
    """A part of a long way: the first ``keep`` steps of the leg before, and then ``steps`` with
    their ``changes``: all of it ``times`` times."""

    keep: int
    steps: tuple[str, ...]
    changes: tuple[Mapping[str, int], ...]
    times: int

    def to_json(self) -> dict[str, Any]:
        """The leg as an entry of ``legs``."""
        return {"keep": self.keep, "then": list(self.steps), "times": self.times}


@dataclass(frozen=True)
class Meanwhile:
    """The steps that continue while ``tasks`` are blocked forever: ``steps``, of which those from
    ``loop``
    on can be repeated forever. Of very many tasks it has those that wait for each other.
    """

    tasks: tuple[str, ...]
    steps: tuple[str, ...]
    loop: int

    def to_json(self) -> dict[str, Any]:
        """The same as the entry ``meanwhile`` of a result."""
        return {"tasks": list(self.tasks), "steps": list(self.steps), "loop": self.loop}


@dataclass(frozen=True)
class Finding:
    """The verdict on one property (its ``name``) of a design.

    ``steps`` is the shortest counterexample (any one, where it ``is_shortest`` not); with ``loop``
    set,
    the steps from that index on repeat forever. A counterexample of very many steps has ``legs`` in
    place
    of steps. ``waits`` are the waits at its end, ``cycle`` those of them that close a cycle, with
    those
    of all holders of the pools in it (none where the waits lead to one that no task can end),
    ``contents`` is how many elements are then in each link, and ``free`` how much of each pool no
    task
    holds. ``repair`` is what was found and tried to make the wanted verdicts hold, None where
    nothing
    was looked for. ``tried`` has an entry for each engine that was asked, in their order.
    ``bounds`` are
    proved: so many elements at most are ever in each of these links, and in those of ``reached``
    sometimes so many. ``changes`` are those of each step (and then of each step ``meanwhile``), by
    the
    names of ``counters``. The verdict ``expected`` is None where the design says nothing about it.
    ``between`` are the sender and the receiver between which order is lost; ``without`` is what
    does not continue
    in a design that is not live: a ``task``, or taking from a ``counter``. ``left`` are the
    elements that
    no task reads where all tasks are done.
    """

    name: str
    outcome: Outcome
    method: str
    states: int = 0
    transitions: int = 0
    depth: int = 0
    seconds: float = 0.0
    steps: tuple[str, ...] = ()
    loop: int | None = None
    waits: tuple[Blocked, ...] = ()
    cycle: tuple[Blocked, ...] = ()
    contents: tuple[tuple[str, int], ...] = ()
    free: tuple[tuple[str, int], ...] = ()
    reason: str = ""
    repair: Repair | None = None
    expected: str | None = "holds"
    is_shortest: bool = True
    tried: tuple[Attempt, ...] = ()
    bounds: tuple[tuple[str, int], ...] = ()
    changes: tuple[Mapping[str, int], ...] = ()
    legs: tuple[ToldLeg, ...] = ()
    reached: frozenset[str] = frozenset()
    meanwhile: Meanwhile | None = None
    between: tuple[str, str] | None = None
    without: tuple[str, str] = ("", "")
    left: tuple[Left, ...] = ()

    @property
    def length(self) -> int:
        """The number of steps of the way."""
        return len(self.steps) + sum((leg.keep + len(leg.steps)) * leg.times for leg in self.legs)

    @property
    def ceased(self) -> dict[str, str]:
        """The tasks that have stopped or crashed on the way, each with the words for it."""
        steps = {*self.steps, *(step for leg in self.legs for step in leg.steps)}
        return {step.removesuffix(f" {ends}"): told for step in steps
                for ends, told in CEASED.items() if step.endswith(f" {ends}")}

    @property
    def way(self) -> str:
        """The steps, as a noun phrase."""
        return ("the shortest counterexample" if self.is_shortest
                else "a counterexample, perhaps not the shortest")

    @property
    def as_expected(self) -> bool:
        """True if the verdict is the one that the design's author expects, if any."""
        return self.expected in (None, self.outcome.value)

    def to_json(self, design: str, file: str = "") -> dict[str, Any]:
        """The finding as an entry of ``results``, of a design in a file."""
        return {
            "design": design, "property": self.name, "verdict": self.outcome.value,
            "expected": self.expected, "as_expected": self.as_expected, "method": self.method,
            "states": self.states, "transitions": self.transitions, "depth": self.depth,
            "seconds": round(self.seconds, 6), "trace": list(self.steps), "length": self.length,
            "legs": [leg.to_json() for leg in self.legs],
            "shortest": self.is_shortest, "loop": self.loop,
            "waits": [_wait(wait) for wait in self.waits],
            "cycle": [_wait(wait) for wait in self.cycle],
            "contents": dict(self.contents), "free": dict(self.free),
            "reason": self.reason, "tried": [attempt.to_json() for attempt in self.tried],
            "bounds": dict(self.bounds), "reached": sorted(self.reached),
            "left": [{"in": left.where, "elements": left.number, "gone": list(left.gone)}
                     for left in self.left],
            "meanwhile": None if self.meanwhile is None else self.meanwhile.to_json(),
            "repair": None if self.repair is None else self.repair.to_json(file),
        }


def _wait(wait: Blocked) -> dict[str, Any]:
    return {"task": wait.task, "for": wait.what, "in": wait.where, "on": list(wait.on),
            "gone": list(wait.gone), "never": wait.never}


@dataclass(frozen=True)
class GraphCycle:
    """An elementary cycle of the wait-for graph; ``excluded`` is empty if it is possible."""

    waits: tuple[Blocked, ...]
    excluded: str


@dataclass(frozen=True)
class DesignReport:
    """Everything that a check of one design found.

    ``cycles`` are the elementary cycles of the wait-for graph; ``all_cycles`` is false if
    there were too many to list.
    """

    design: Design
    findings: tuple[Finding, ...]
    cycles: tuple[GraphCycle, ...] = ()
    all_cycles: bool = True

    @property
    def results(self) -> list[dict[str, Any]]:
        """The findings as plain values, in the form of the JSON output."""
        return [finding.to_json(self.design.name, self.design.file) for finding in self.findings]

    @property
    def as_expected(self) -> bool:
        """True if every verdict is the expected one."""
        return all(finding.as_expected for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """0 all as expected, 1 something else than expected, 2 something unknown."""
        wrong = [finding for finding in self.findings if not finding.as_expected]
        if any(finding.outcome is not Outcome.UNKNOWN for finding in wrong):
            return 1
        return 2 if wrong else 0

    def to_json(self) -> dict[str, Any]:
        """The report as one document."""
        return {
            "design": self.design.name, "file": self.design.file,
            "parameters": dict(self.design.parameters), "assumed": list(self.design.assumed),
            "lints": list(self.lints),
            "as_expected": self.as_expected, "results": self.results,
            "cycles": [
                {"waits": [_wait(wait) for wait in cycle.waits], "excluded": cycle.excluded}
                for cycle in self.cycles
            ],
            "all_cycles": self.all_cycles,
        }

    @cached_property
    def lints(self) -> tuple[dict[str, str], ...]:
        """The oddities of the design, as entries of the report."""
        return tuple(lint.to_json() for lint in lints(self.design))

    def finding(self, name: str) -> Finding:
        """The finding on a property."""
        return next(finding for finding in self.findings if finding.name == name)


def in_short(steps: Sequence[str], longest_block: int = 8) -> list[tuple[list[str], int]]:
    """The steps as blocks with how often each is done in a row, for people to read."""
    found: list[tuple[list[str], int]] = []
    here = 0
    while here < len(steps):
        size, times = _best_block(steps, here, longest_block)
        found.append((list(steps[here:here + size]), times))
        here += size * times
    return found


def _best_block(steps: Sequence[str], here: int, longest_block: int) -> tuple[int, int]:
    best = (1, 1)
    for size in range(1, longest_block + 1):
        times = 1
        while steps[here:here + size] == steps[here + size * times:here + size * (times + 1)]:
            times += 1
        if times >= 3 and size * times > best[0] * best[1]:
            best = (size, times)
    return best


def worst_of(holds: Finding, found: Iterable[Finding]) -> Finding:
    """The answer to several questions at once, with the work on all: the first that is violated,
    or the last that is unknown, or else ``holds``."""
    worst, states, transitions, depth = holds, 0, 0, 0
    for each in found:
        states, transitions = states + each.states, transitions + each.transitions
        depth = max(depth, each.depth)
        if each.outcome is not Outcome.HOLDS:
            worst = each
        if each.outcome is Outcome.VIOLATED:
            break
    return replace(worst, states=states, transitions=transitions, depth=depth)
