"""The twins of every suite, and the hunt for them: which rule kills which twin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from ...spec.notation.errors import InputError
from ...spec.notation.labels import counted
from ..ports.base import Adapter

if TYPE_CHECKING:
    from ..suites.fixture import Fixture

__all__ = [
    "KILLED", "EQUIVALENT", "Specimen", "SURVIVED", "Trophy", "hunt", "hunts", "twins", "zoos",
]

KILLED, SURVIVED, EQUIVALENT = "killed", "survived", "equivalent"

_MODULES: Final = (
    "queue", "storm_input", "storm_status", "storm_acker", "storm_spout", "storm_partition",
    "storm_topology",
    "kafka_timer", "kafka_purgatory", "kafka_races")
"""Folders of ``systems``, each with ``twins`` that have a table ``ZOO`` of its twins by name."""

_CHAPTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "timer": ("kafka.timer",),
    "kafka.races": ("kafka.timer_races", "kafka.purgatory_races"),
}
"""The chapters whose bugs a suite's twins have, where they are not named as the suite."""

_FOUND_ENOUGH: Final = 3
_SHORT_ENOUGH: Final = 3
"""Steps of a fixture that is not worth a search for a shorter one."""
_CASES_MAX: Final = 48


class Specimen(Protocol):
    """A twin: a reference with one seeded bug.

    ``rule`` is the id of the rule of ``suite`` that must kill it; ``history`` the bug that it
    stands for; ``equivalent`` says why no rule of the suite can tell it from its original,
    and is empty for all others.
    """

    @property
    def name(self) -> str:
        """The twin's name, as it follows ``zoo:``."""
        ...

    @property
    def suite(self) -> str:
        """The suite that must kill it."""
        ...

    @property
    def rule(self) -> str:
        """The id of the rule that it breaks."""
        ...

    @property
    def bug(self) -> str:
        """What it does wrong, in one line."""
        ...

    @property
    def history(self) -> str:
        """The real bug that it stands for."""
        ...

    @property
    def equivalent(self) -> str:
        """Why no rule can tell it from the reference; empty if one can."""
        ...

    def adapter(self) -> Adapter:
        """A new adapter of the twin."""
        ...


@dataclass(frozen=True)
class Trophy:
    """What the hunt for one twin came to.

    ``fixture`` is the shortest failure of the twin's own rule that was found; ``others`` are
    the ids of further rules that were seen broken; ``cases`` is how many were run.
    """

    twin: Specimen
    fixture: Fixture | None
    others: tuple[str, ...]
    cases: int

    @property
    def verdict(self) -> str:
        """``killed`` by its own rule, ``survived``, or ``equivalent`` as it is argued to be."""
        if self.fixture is not None:
            return KILLED
        return EQUIVALENT if self.twin.equivalent and not self.others else SURVIVED

    @property
    def as_expected(self) -> bool:
        """Whether it was killed, or else argued equivalent; an equivalent one is not killed."""
        return self.verdict == (EQUIVALENT if self.twin.equivalent else KILLED)

    @property
    def size(self) -> str:
        """How short its fixture is, in words."""
        return "" if self.fixture is None else counted(self.fixture.length, "step")

    def story(self) -> list[str]:
        """How it was killed, step by step."""
        return [] if self.fixture is None else list(self.fixture.story())

    def to_json(self) -> dict[str, Any]:
        """The row of ``zoo --json``."""
        return {
            "suite": self.twin.suite, "twin": self.twin.name, "bug": self.twin.bug,
            "history": self.twin.history, "rule": self.twin.rule, "verdict": self.verdict,
            "steps": None if self.fixture is None else self.fixture.length,
            "also_broken": list(self.others), "cases": self.cases,
            "equivalent": self.twin.equivalent,
            "story": [] if self.fixture is None else self.fixture.story(),
        }


def zoos() -> Mapping[str, Specimen]:
    """All twins by name."""
    found: dict[str, Specimen] = {}
    for module in _MODULES:
        table: Mapping[str, Specimen] = import_module(
            f"..systems.{module}.twins", __package__).ZOO
        found.update(table)
    return found


def hunts(suites: Iterable[str] = (), seed: int = 0) -> Iterator[Trophy]:
    """The hunt for each twin of some suites (all if none are named), one by one.

    ``storm`` names every suite below it. Raises ``InputError`` for a name without twins.
    """
    for twin in twins(suites):
        yield hunt(twin, seed)


def twins(suites: Iterable[str] = ()) -> Iterator[Specimen]:
    """The twins of some suites (all if none are named), in the order of the tables."""
    wanted, every = list(suites), list(zoos().values())
    for name in wanted:
        if not any(_selects(name, twin.suite) for twin in every):
            known = dict.fromkeys(twin.suite for twin in every)
            raise InputError(
                f"no suite {name!r} has a zoo",
                next_step=f"Those that have are {', '.join(known)}.")
    for twin in every:
        if not wanted or any(_selects(name, twin.suite) for name in wanted):
            yield twin


def _selects(name: str, suite: str) -> bool:
    """By the suite's own name or that of its chapter, or as all that is below a name."""
    names = (suite, *_CHAPTERS.get(suite, ()))
    return any(each == name or each.startswith((f"{name}.", f"{name}_")) for each in names)


def hunt(twin: Specimen, seed: int = 0, enough: int = _FOUND_ENOUGH) -> Trophy:
    """Run the cases that look for the twin's rule, until ``enough`` of them have found it, or
    one has found a failure that is hardly longer than it must be.

    At most 48 cases; the result is a function of the twin and the seed.
    """
    from ..campaigns.case import RunSettings, plan, run_case
    from ..results import VIOLATED
    from ..suites.fixture import read_fixture
    from ..suites.run import capabilities
    from ..systems.catalogue import suite_named
    from ..targets import resolve_target

    suite, target = suite_named(twin.suite), resolve_target(f"zoo:{twin.name}")
    # Cases take in turn the rules that apply to the twin.
    rules = [rule.id for rule in suite.applicable(capabilities(suite, target, 1))]
    at, count = rules.index(twin.rule), len(rules)
    found: list[Fixture] = []
    others: set[str] = set()
    cases = 0
    for case in plan(twin.suite, cases=count * _CASES_MAX, seed=seed)[at::count]:
        row = run_case(twin.suite, f"zoo:{twin.name}", case, RunSettings())
        cases += 1
        if row.verdict == VIOLATED and row.rule == twin.rule:
            found.append(read_fixture(row.fixture, twin.name))
        elif row.verdict == VIOLATED:
            others.add(row.rule)
        if len(found) == enough or (found and found[-1].length <= _SHORT_ENOUGH):
            break
    shortest = min(found, key=lambda fixture: fixture.length, default=None)
    return Trophy(twin, shortest, tuple(sorted(others)), cases)
