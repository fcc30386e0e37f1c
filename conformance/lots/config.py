"""Reading the file of a campaign: its units, or the one line that is wrong."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any, Final

from checkvalve.spec.engines.monitor import STATES_MAX
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import brief, counted

from ..campaigns.case import RunSettings, suite_version
from ..campaigns.summary import known_rules
from ..engines.conduct import Order
from ..gate.location import Location
from ..gate.tables import Table, Tables, parsed, text_of
from ..systems.catalogue import suite_named
from ..systems.targets import check_name, rehearsal_of

__all__ = ["Campaign", "Unit", "load"]

_KEYS: Final = ("suites", "targets", "seeds", "cases", "capacities", "programs", "timeout",
                "max_states", "known")
_UNITS_MAX: Final = 100_000
_CASES_MAX: Final = 1_000_000
_SLUG: Final = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True)
class Unit:
    """One suite on one target, with one seed and one choice of settings: so many ``cases``."""

    suite: str
    target: str
    seed: int
    settings: RunSettings
    cases: int
    known: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The unit in words."""
        capacity = f", capacity {self.settings.capacity}" if self.settings.capacity else ""
        return f"{self.suite} on {self.target}, seed {self.seed}{capacity}"

    @cached_property
    def id(self) -> str:
        """The name of its folder: readable, and another for other rows."""
        digest = hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()
        slug = _SLUG.sub("-", f"{self.suite}-{self.target}")[:60].strip("-")
        return f"{slug}-{self.seed}-{digest[:10]}"

    def to_json(self) -> dict[str, Any]:
        """All that its rows depend on."""
        return {"suite": self.suite, "suite_version": suite_version(suite_named(self.suite)),
                "target": self.target, "seed": self.seed, "cases": self.cases,
                "settings": asdict(self.settings)}


@dataclass(frozen=True)
class Campaign:
    """The units of a campaign, in the order of its file."""

    path: Path
    units: tuple[Unit, ...]

    @property
    def cases(self) -> int:
        """The number of cases in all."""
        return sum(unit.cases for unit in self.units)


def load(path: Path) -> Campaign:
    """Read the file of a campaign.

    Raises InputError, with the file and the line, if it cannot be used.
    """
    text = text_of(path, "Give the file of a campaign; docs/campaigns.md says what is in it.")
    reader = _Reader(path, Location(text))
    units = tuple(reader.units(parsed(path, text)))
    if not units:
        raise InputError("nothing is listed here", str(path),
                         "Begin with a line [[runs]], and list suites and targets below it.")
    if len(units) > _UNITS_MAX:
        raise InputError(f"this is a grid of {counted(len(units), 'unit')}", str(path),
                         f"At most {_UNITS_MAX:,} fit into one campaign: make several of it.")
    _check_once(path, units)
    return Campaign(path, units)


def _check_once(path: Path, units: Sequence[Unit]) -> None:
    ids: dict[str, Unit] = {}
    for unit in units:
        if unit.id in ids:
            raise InputError(f"{unit.name} is listed twice", str(path), "Leave one of them out.")
        ids[unit.id] = unit


class _Reader(Tables):
    """Turns each table ``[[runs]]`` into its units."""

    def units(self, top: Table) -> Iterator[Unit]:
        """The units of all tables."""
        self.known_keys(top, "", 0, ("runs",))
        for at, table in self.tables(top, "runs"):
            self.known_keys(table, "runs", at, _KEYS)
            yield from self._units(table, at)

    def _units(self, table: Table, at: int) -> Iterator[Unit]:
        """The units of an entry of [[runs]]: suites times targets times seeds times capacities,
        each checked."""
        suites = self.texts(table, "runs", at, "suites", None)
        targets = self.texts(table, "runs", at, "targets", None)
        seeds = self._numbers(table, at, "seeds", (0,), least=0)
        capacities = self._numbers(table, at, "capacities", ())
        cases = int(self.positive(table, "runs", at, "cases", 40, whole=True))
        if cases > _CASES_MAX:
            raise self.wrong("runs", at, "cases", f"`cases` is {cases:,}, and one unit has at most "
                             f"{_CASES_MAX:,}", "Give more seeds: seeds = [0, 1, 2].")
        known = self._known(table, at, targets)
        for suite, target, seed, capacity in product(suites, targets, seeds, capacities or (None,)):
            self.look_up("runs", at, "suites", suite, suite_named)
            self.look_up("runs", at, "targets", target, partial(check_name, suite=suite))
            settings = self._settings(table, at, capacity)
            if rehearsal := rehearsal_of(target):
                settings = Order(suite, settings=settings).in_real_time(rehearsal).settings
            rules = [rule.id for rule in suite_named(suite).rules()]
            listed = frozenset(rule for rule in known.get(target, ()) if rule in rules)
            yield Unit(suite, target, seed, settings, cases, listed)

    def _settings(self, table: Table, at: int, capacity: int | None) -> RunSettings:
        programs = int(self.positive(table, "runs", at, "programs", 20, whole=True))
        timeout = self.positive(table, "runs", at, "timeout", 5.0)
        states = int(self.positive(table, "runs", at, "max_states", STATES_MAX, whole=True))
        try:
            return RunSettings(capacity=capacity, programs=programs, timeout_seconds=timeout,
                               candidates=states)
        except InputError as error:
            words = {"capacities": "capacit", "programs": "program", "max_states": "candidates"}
            key = next((key for key, word in words.items() if error.what.startswith(word)),
                       "timeout")
            what = error.what.replace("candidates", "`max_states`")
            raise self.wrong("runs", at, key, what, "Give one that fits.") from None

    def _numbers(
        self, table: Table, at: int, key: str, default: tuple[int, ...], least: int = 1
    ) -> tuple[int, ...]:
        """A list of whole numbers; of ``seeds`` a number stands for as many, from 0."""
        value = table.get(key, list(default))
        if key == "seeds" and isinstance(value, int) and not isinstance(value, bool) and (
                1 <= value <= _UNITS_MAX):
            return tuple(range(value))
        if not isinstance(value, list) or (key in table and not value) or not all(
                isinstance(one, int) and not isinstance(one, bool) and least <= one < 2**53
                for one in value):
            raise self.wrong("runs", at, key, f"`{key}` must be a list of whole numbers of at "
                             f"least {least}, and it is {brief(value)}", f"Write {key} = [1, 4].")
        return tuple(value)

    def _known(
        self, table: Table, at: int, targets: Sequence[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """By target the ids of the rules that it is known to break; each is of one of the suites.
        """
        listed = table.get("known", {})
        if not isinstance(listed, dict):
            raise self.wrong("runs", at, "known", "`known` must be a table",
                             "Write [runs.known] and below it: deque = [\"QUEUE-4\"].")
        suites = self.texts(table, "runs", at, "suites", None)
        for target in listed:
            if target not in targets:
                raise self.wrong("runs", at, "known", f"`known` names {brief(target)!r}, which is "
                                 "not among the targets here", self.meant(target, targets))
            for rule in self.texts(listed, "runs.known", at, target, None):
                if not any(rule in [each.id for each in suite_named(suite).rules()]
                           for suite in suites):
                    self.look_up("runs.known", at, target, rule,
                                 lambda name: known_rules(suites[0], [name]))
        return {target: tuple(rules) for target, rules in listed.items()}
