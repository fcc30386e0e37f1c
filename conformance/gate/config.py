"""Reading a checkvalve.toml: what is listed, or the one line that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import brief, size_of

from .location import Location
from .patterns import matching
from .schema import keys_of
from .tables import Table, Tables, parsed, text_of

__all__ = ["FILE_NAME", "Designs", "GateConfig", "Limits", "Suite", "load"]

FILE_NAME = "checkvalve.toml"
USUAL_SECONDS = 20.0
"""Seconds that a design may take where nothing else is said."""
USUAL_TIMEOUT = 5.0
"""Seconds that a target may take for one reply where nothing else is said."""


@dataclass(frozen=True)
class Limits:
    """The limits of one design, of one search of a chapter, or of a suite on one target: seconds,
    bytes, states; None: no limit of ours (for memory: what fits the machine)."""

    max_seconds: float | None = None
    max_memory: int | None = None
    max_states: int | None = None


@dataclass(frozen=True)
class Designs:
    """Designs to check: the files in order, and what each may take."""

    files: tuple[Path, ...]
    limits: Limits


@dataclass(frozen=True)
class Suite:
    """A suite to run on ``targets``.

    ``known`` lists, for a target, the ids of the rules that it is known to fail: they are
    expected to be violated. The targets in ``optional`` may be unavailable on a machine
    without making the verdict *unknown*. ``timeout`` is what one request may take, in seconds.
    ``cases`` None: as many as the rules take; ``quick``: beginning with few. Of ``limits``, the
    seconds are those of a target, after which no case begins, and the states are those in which
    a machine that judges may be at one time. ``not_shown`` lists, for a target, the ids of the
    rules of which it may show nothing, or not all.
    """

    suite: str
    targets: tuple[str, ...]
    cases: int | None
    seed: int
    timeout: float
    limits: Limits
    known: Mapping[str, tuple[str, ...]]
    optional: frozenset[str]
    not_shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    quick: bool = False


@dataclass(frozen=True)
class GateConfig:
    """The contents of a checkvalve.toml: ``verify`` names the chapters with expectations that are
    verified, each search within ``limits``. ``lines`` has, by section and subject, the line that
    lists it."""

    path: Path
    designs: tuple[Designs, ...]
    suites: tuple[Suite, ...]
    verify: tuple[str, ...]
    limits: Limits = Limits()
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)


def load(place: Path) -> GateConfig:
    """Read the configuration at ``place``, a file or the folder that has one.

    Raises InputError, with the file and the line, if it cannot be used.
    """
    path = place / FILE_NAME if place.is_dir() else place
    text = text_of(path, f"Give a {FILE_NAME}, or a folder that has one.")
    return _Reader(path, Location(text)).config(parsed(path, text))


def _rule_of(suite: str, rule: str) -> None:
    from ..campaigns.summary import known_rules

    known_rules(suite, [rule])


def _pairs(listed: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    return ((target, rule) for target, rules in listed.items() for rule in rules)


class _Reader(Tables):
    """Turns tables into the dataclasses above, and knows where each key stands."""

    def config(self, top: Table) -> GateConfig:
        """The designs, suites and limits of a file, each key checked."""
        self.known_keys(top, "", 0, keys_of())
        limits = self._limits_of_all(top)
        config = GateConfig(
            self.path,
            tuple(self._designs(table, at, limits) for at, table in self.tables(top, "designs")),
            tuple(self._suite(table, at, limits) for at, table in self.tables(top, "suites")),
            self.texts(top, "", 0, "verify", ()), limits,
        )
        if not (config.designs or config.suites or config.verify):
            raise InputError("nothing is listed here", str(self.path),
                             "List designs ([[designs]]), suites ([[suites]]) or chapters "
                             "(verify = [\"flow\"]).")
        self._check_names(config)
        return replace(config, lines=dict(self._lines(config)))

    def _lines(self, config: GateConfig) -> Iterator[tuple[tuple[str, str], int]]:
        """The line of each target and chapter, by its section and subject."""
        for at, suite in enumerate(config.suites):
            for target in suite.targets:
                line = self.location.line_of_name("suites", at, "targets", target)
                yield ("suites", f"{suite.suite} on {target}"), line
        for name in config.verify:
            yield ("chapters", name), self.location.line_of_name("", 0, "verify", name)

    def _check_names(self, config: GateConfig) -> None:
        """Look up the suites, rules, targets and chapters, each where its catalogue is."""
        if config.verify:
            from checkvalve.spec.chapters import chapters

            for name in config.verify:
                self.look_up("", 0, "verify", name, lambda name: next(chapters([name])))
        if config.suites:
            from ..systems.catalogue import suite_named
            from ..systems.targets import check_name

            for at, suite in enumerate(config.suites):
                self.look_up("suites", at, "suite", suite.suite, suite_named)
                for target in suite.targets:
                    self.look_up("suites", at, "targets", target,
                                 partial(check_name, suite=suite.suite))
                for key, listed in (("known", suite.known), ("not_shown", suite.not_shown)):
                    for target, rule in _pairs(listed):
                        self.look_up(f"suites.{key}", at, target, rule,
                                     partial(_rule_of, suite.suite))

    def _limits_of_all(self, top: Table) -> Limits:
        """The table [limits]; nothing is limited where there is none."""
        table = top.get("limits", {})
        if not isinstance(table, dict):
            raise self.wrong("", 0, "limits", "`limits` must be a table",
                             "Begin it with a line [limits].")
        self.known_keys(table, "limits", 0, keys_of("limits"))
        return self._limits(table, "limits", 0, Limits())

    def _limits(self, table: Table, name: str, at: int, default: Limits) -> Limits:
        """The limits that a table names, and the default's in place of others."""
        memory = default.max_memory
        if "max_memory" in table:
            written = table["max_memory"]
            memory = size_of(written) if isinstance(written, str) else None
            if memory is None:
                raise self.wrong(name, at, "max_memory", "`max_memory` must be a size, and it is "
                                 f"{brief(written)}", 'Write max_memory = "2G", for example.')
        seconds, states = default.max_seconds, default.max_states
        if "max_seconds" in table:
            seconds = self.positive(table, name, at, "max_seconds", USUAL_SECONDS)
        if "max_states" in table:
            states = int(self.positive(table, name, at, "max_states", 1e6, whole=True))
        return Limits(seconds, memory, states)

    def _designs(self, table: Table, at: int, limits: Limits) -> Designs:
        self.known_keys(table, "designs", at, keys_of("designs"))
        patterns = self.texts(table, "designs", at, "files", None)
        files = [file for pattern in patterns for file in self._matching(pattern, at)]
        usual = limits if limits.max_seconds else replace(limits, max_seconds=USUAL_SECONDS)
        return Designs(tuple(dict.fromkeys(files)), self._limits(table, "designs", at, usual))

    def _matching(self, pattern: str, at: int) -> list[Path]:
        """The files that ``pattern`` names, from the folder of the configuration."""
        base = self.path.parent
        try:
            found = matching(pattern, base)
        except InputError as error:
            raise self.wrong("designs", at, "files", error.what, error.next_step) from None
        if not found:
            raise self.wrong("designs", at, "files", f"no file matches {brief(pattern)!r}",
                             f"Paths begin in the folder of this file, {base.resolve()}.")
        return found

    def _suite(self, table: Table, at: int, limits: Limits) -> Suite:
        """An entry of [[suites]]; each key is checked. Raises ``InputError`` with its line."""
        self.known_keys(table, "suites", at, keys_of("suites"))
        targets = self.texts(table, "suites", at, "targets", None)
        optional = self.texts(table, "suites", at, "optional", ())
        self._among_targets(at, "optional", optional, targets)
        quick = self.flag(table, "suites", at, "quick")
        if quick and "cases" in table:
            raise self.wrong("suites", at, "quick", "`quick` and `cases` both say how many cases "
                             "there are", "Leave one of them out.")
        return Suite(
            suite=self.text(table, "suites", at, "suite"),
            targets=targets,
            cases=int(self.positive(table, "suites", at, "cases", 40, whole=True))
            if "cases" in table else None,
            seed=int(self.positive(table, "suites", at, "seed", 0, whole=True, least=0)),
            timeout=self.positive(table, "suites", at, "timeout", USUAL_TIMEOUT),
            limits=self._limits(table, "suites", at, limits),
            known=self._rules_by_target(table, at, "known", targets),
            optional=frozenset(optional),
            not_shown=self._rules_by_target(table, at, "not_shown", targets),
            quick=quick,
        )

    def _rules_by_target(
        self, table: Table, at: int, key: str, targets: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        listed = table.get(key, {})
        if not isinstance(listed, dict):
            raise self.wrong("suites", at, key, f"`{key}` must be a table",
                             f"Write [suites.{key}] and below it: deque = [\"QUEUE-4\"].")
        self._among_targets(at, key, listed, targets)
        return {target: self.texts(listed, f"suites.{key}", at, target, None)
                for target in listed}

    def _among_targets(
        self, at: int, key: str, names: Sequence[str] | Table, targets: Sequence[str]
    ) -> None:
        for name in names:
            if name not in targets:
                what = (f"`{key}` names {brief(name)!r}, which is not among the targets of this "
                        "suite")
                raise self.wrong("suites", at, key, what, self.meant(name, targets))
