"""What real systems do in the scenarios of an election: a row for each target."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from checkvalve.conformance.ports.base import Message, Session, Target
from checkvalve.conformance.suites.results import Case
from checkvalve.conformance.suites.fixture import Fixture, fixture_of
from checkvalve.conformance.suites.breach import Breach
from checkvalve.conformance.suites.run import Run, run_program
from checkvalve.conformance.systems.catalogue import system_of
from checkvalve.conformance.systems.election.scenarios import SCENARIOS
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation.errors import CheckvalveError, InputError

__all__ = ["Broken", "Row", "fill_all"]

CANDIDATES: Final = 2


@dataclass(frozen=True)
class Broken:
    """A scenario that broke a rule: the run, when each of its steps ended, and the fixture."""

    scenario: str
    run: Run
    breach: Breach
    seconds: Sequence[float]
    fixture: Fixture


@dataclass
class Row:
    """What one target did in all scenarios.

    ``broken`` has of each rule the first scenario that broke it, and ``also`` the others.
    ``exercised`` counts by rule the steps that could have broken it; ``failed`` are the scenarios
    that came to no end, with the reason; ``undecided`` those that the machine was too busy for.
    """

    target: str
    exercised: Counter[str] = field(default_factory=Counter)
    broken: dict[str, Broken] = field(default_factory=dict)
    also: dict[str, list[Broken]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    undecided: list[str] = field(default_factory=list)

    def cell(self, rule: str) -> str:
        """What the matrix says of a rule."""
        if rule in self.broken:
            return "**broken**"
        return f"kept ({self.exercised[rule]})" if self.exercised[rule] else "not shown"


class _Timed:
    """A target with sessions that note when each request was answered."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.name = target.name
        self.seconds: list[float] = []

    def open(self) -> Session:
        """A session that keeps time; the clock begins with its greeting."""
        return _TimedSession(self._target.open(), self.seconds)

    def renew(self) -> bool:
        """As the target's own."""
        return self._target.renew()


class _TimedSession:
    def __init__(self, session: Session, seconds: list[float]) -> None:
        self._session = session
        self._seconds = seconds
        self._began = 0.0

    def request(self, message: Message) -> Message:
        """As the session's; the seconds since the greeting are noted."""
        reply = self._session.request(message)
        if message["do"] == "hello":
            self._began = time.monotonic()
        else:
            self._seconds.append(time.monotonic() - self._began)
        return reply

    def close(self) -> None:
        """As the session's own."""
        self._session.close()


def fill_all(rows: Sequence[Row], scenarios: Sequence[str] = tuple(SCENARIOS)) -> None:
    """Put the target of each row through some scenarios, one after the other.

    Raises ``InputError`` where a program or a library is missing.
    """
    for row in rows:
        for name in scenarios:
            _fill(row, name)


def _fill(row: Row, scenario: str) -> None:
    """Run a scenario on the row's target, and note what it showed."""
    suite = system_of("election").suite
    target = _Timed(resolve_target(row.target))
    try:
        run = run_program(suite, target, SCENARIOS[scenario], CANDIDATES, count=True)
    except InputError:
        raise
    except CheckvalveError as error:
        row.failed[scenario] = str(error)
        return
    finally:
        print(f"{row.target}: {scenario}", file=sys.stderr, flush=True)
    row.exercised.update(run.exercised)
    if not all(exchange.judged for exchange in run.exchanges):
        row.undecided.append(scenario)
    for breach in run.breaches:
        # What breaks after the first breach of a run may do so only because of that.
        if run.root_of(breach) is breach:
            fixture = fixture_of(suite, CANDIDATES, run, breach, row.target, Case(0, 0))
            found = Broken(scenario, run, breach, target.seconds, fixture)
            if row.broken.setdefault(breach.rule.id, found) is not found:
                row.also.setdefault(breach.rule.id, []).append(found)
