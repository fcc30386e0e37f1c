"""The hunt for the twins of every suite: which rule kills which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.labels import counted
from ...spec.verdicts.deadline import Deadline
from ...spec.verdicts.memory import meter
from ..campaigns.places import LONG_EVERY, is_long, place_of
from ..suites.twin import Twin
from ..systems.catalogue import selected, suite_named

if TYPE_CHECKING:
    from ..suites.fixture import Fixture

__all__ = [
    "EQUIVALENT", "KILLED", "SURVIVED", "UNKNOWN", "Trophy", "hunt", "hunts", "spent_budget",
    "twins",
]

KILLED, SURVIVED, EQUIVALENT, UNKNOWN = "killed", "survived", "equivalent", "unknown"

_FOUND_ENOUGH: Final = 3
_SHORT_ENOUGH: Final = 3
"""Steps of a fixture that is not worth a search for a shorter one."""
_CASES_MAX: Final = 48
_LONG_AFTER, _LONG_AT_ONCE = 18, 2
"""After so many cases with short programs come so many with a long one."""

_SHRINKS_OF_LONG: Final = 30
"""Runs for a shorter failure of a long program: one that shows late does not become much shorter,
and one that does not comes in short programs, too."""


@dataclass(frozen=True)
class Trophy:
    """The result of the hunt for one twin.

    ``fixture`` is the shortest failure of the twin's own rule that was found; ``others`` are
    the ids of further rules that were seen broken; ``cases`` is how many were run, ``cut`` the
    budget that ended them before their time.
    """

    twin: Twin
    fixture: Fixture | None
    others: tuple[str, ...]
    cases: int
    cut: str = ""

    @property
    def verdict(self) -> str:
        """``killed`` by its own rule, ``survived``, ``equivalent`` as it is argued to be, or
        ``unknown`` where a budget was spent."""
        if self.fixture is not None:
            return KILLED
        if self.cut:
            return UNKNOWN
        return EQUIVALENT if self.twin.equivalent and not self.others else SURVIVED

    @property
    def as_expected(self) -> bool:
        """True if it was killed, or is argued to be equivalent; an equivalent one is not killed."""
        return self.verdict == (EQUIVALENT if self.twin.equivalent else KILLED)

    @property
    def is_unknown(self) -> bool:
        """True if a budget was spent before it was known."""
        return self.verdict == UNKNOWN

    @property
    def size(self) -> str:
        """The length of its fixture, in words."""
        return "" if self.fixture is None else counted(self.fixture.length, "step")

    def story(self) -> list[str]:
        """The failure that killed it, step by step."""
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


def hunts(
    suites: Iterable[str] = (), seed: int = 0, states: int = STATES_MAX,
    deadline: Deadline | None = None,
) -> Iterator[Trophy]:
    """The hunt for each twin of some suites (all if none are named), one by one.

    ``storm`` names every suite below it. Machines that judge may be in so many ``states``. No case
    begins after the ``deadline``, or when the memory is spent: a twin that is not killed by then is
    *not hunted down*. Raises ``InputError`` for a name without twins.
    """
    for twin in twins(suites):
        yield hunt(twin, seed, states=states, deadline=deadline)


def twins(suites: Iterable[str] = ()) -> Iterator[Twin]:
    """The twins of some suites (all if none are named), in the order of the systems."""
    for system in selected(suites):
        yield from system.twins.values()


def hunt(
    twin: Twin, seed: int = 0, enough: int = _FOUND_ENOUGH, states: int = STATES_MAX,
    deadline: Deadline | None = None,
) -> Trophy:
    """Run the cases that look for the twin's rule, until ``enough`` of them have found it, or
    one has found a failure that is hardly longer than it must be.

    At most 48 cases; the result is a function of the twin and the seed, unless the ``deadline``
    passes.
    """
    from ..campaigns.case import RunSettings, case_at, run_case
    from ..suites.results import VIOLATED
    from ..suites.fixture import read_fixture
    from ..suites.run import capabilities
    from ..systems.targets import resolve_target

    suite, target = suite_named(twin.suite), resolve_target(f"zoo:{twin.name}")
    # Cases take in turn the rules that apply to the twin.
    rules = [rule.id for rule in suite.applicable(capabilities(suite, target, 1))]
    at, count = rules.index(twin.rule), len(rules)
    found: list[Fixture] = []
    others: set[str] = set()
    cases = 0
    settings = RunSettings(counting=False, candidates=states)
    cut = ""
    places = _places(at, count)
    if twin.after or twin.in_long:
        enough, places = 1, _long_places()
    for place in places:
        cut = spent_budget(deadline)
        if cut:
            break
        chosen = replace(settings, shrinks=_SHRINKS_OF_LONG) if is_long(place) else settings
        row = run_case(twin.suite, f"zoo:{twin.name}", case_at(twin.suite, place, seed), chosen)
        cases += 1
        if row.verdict == VIOLATED and row.rule == twin.rule:
            found.append(read_fixture(row.fixture, twin.name))
        elif row.verdict == VIOLATED:
            others.add(row.rule)
        if len(found) == enough or (found and found[-1].length <= _SHORT_ENOUGH):
            break
    shortest = min(found, key=lambda fixture: fixture.length, default=None)
    return Trophy(twin, shortest, tuple(sorted(others)), cases, cut)


def spent_budget(deadline: Deadline | None) -> str:
    """The budget that is spent, "time" or "memory"; empty while none is."""
    if deadline is not None and deadline.passed():
        return "time"
    return "memory" if meter().is_over() else ""


def _places(at: int, rules: int) -> Iterator[int]:
    """The places where a rule is in focus, and now and then a place with a long program."""
    for number in range(_CASES_MAX):
        yield place_of(at + number * rules)
        if number % _LONG_AFTER == _LONG_AFTER - 1:
            done = number // _LONG_AFTER * _LONG_AT_ONCE
            yield from islice(_long_places(), done, done + _LONG_AT_ONCE)


def _long_places() -> Iterator[int]:
    """The places of the cases with a long program."""
    return (number * LONG_EVERY - 1 for number in range(1, _CASES_MAX + 1))
