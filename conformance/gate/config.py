"""Reading a checkvalve.toml: what is listed, or the one line that is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import brief, size_of

from .location import Location
from .patterns import matching
from .schema import keys_of

__all__ = ["FILE_NAME", "Designs", "GateConfig", "Limits", "Suite", "load"]

FILE_NAME = "checkvalve.toml"
LARGEST_FILE = 1 << 20
"""In bytes. A list of designs and targets is a few hundred."""
USUAL_SECONDS = 20.0
"""Seconds that a design may take where nothing else is said."""
USUAL_TIMEOUT = 5.0
"""Seconds that a target may take for one reply where nothing else is said."""

Table = Mapping[str, Any]


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
    """The contents of a checkvalve.toml: ``verify`` names the chapters whose expectations are
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
    text = _text(path)
    reader = _Reader(path, Location(text))
    return reader.config(_parsed(path, text))


def _text(path: Path) -> str:
    step = f"Give a {FILE_NAME}, or a folder that has one."
    try:
        if path.exists() and not path.is_file():
            raise InputError("this is not a regular file", str(path), step)
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror}", str(path), step) from error
    if len(content) > LARGEST_FILE:
        raise InputError(f"this file is larger than {LARGEST_FILE} bytes", str(path),
                         "List designs by pattern: files = [\"designs/*.yaml\"].")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError("this is not UTF-8", f"{path}:{line}", "Save it as UTF-8.") from error


def _parsed(path: Path, text: str) -> Table:
    _check_dots(path, text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, line = Location.of_syntax_error(str(error), text)
        where = f"{path}:{line}"
        raise InputError(f"this is not TOML: {what}", where, "Fix that line.") from error
    except RecursionError as error:
        raise InputError("this nests too deeply", str(path), "Use plain lists.") from error
    except ValueError as error:  # of Python's own, which has a limit for the digits of a number
        where = f"{path}:{_line_of(_LONG_NUMBER, text)}"
        raise InputError("a number has more digits than can be read", where,
                         "Write a smaller number.") from error


_STRING = re.compile(r""""(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_LONG_NUMBER = re.compile(r"[0-9_]{1000}")
_MOST_DOTS = 30


def _check_dots(path: Path, text: str) -> None:
    """Refuse a dotted key of many parts: reading one takes the square of their number."""
    for number, line in enumerate(_STRING.sub("", text).split("\n"), 1):
        if line.count(".") > _MOST_DOTS and line.partition("#")[0].count(".") > _MOST_DOTS:
            raise InputError(f"this line has more than {_MOST_DOTS} dots", f"{path}:{number}",
                             "Write the keys that docs/gate.md lists.")


def _line_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1


def _rule_of(suite: str, rule: str) -> None:
    from ..campaigns.summary import known_rules

    known_rules(suite, [rule])


def _pairs(listed: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    return ((target, rule) for target, rules in listed.items() for rule in rules)


class _Reader:
    """Turns tables into the dataclasses above, and knows where each key stands."""

    def __init__(self, path: Path, location: Location) -> None:
        self._path = path
        self._location = location

    def config(self, top: Table) -> GateConfig:
        self._known_keys(top, "", 0, keys_of())
        limits = self._limits_of_all(top)
        config = GateConfig(
            self._path,
            tuple(self._designs(table, at, limits) for at, table in self._tables(top, "designs")),
            tuple(self._suite(table, at, limits) for at, table in self._tables(top, "suites")),
            self._texts(top, "", 0, "verify", ()), limits,
        )
        if not (config.designs or config.suites or config.verify):
            raise InputError("nothing is listed here", str(self._path),
                             "List designs ([[designs]]), suites ([[suites]]) or chapters "
                             "(verify = [\"flow\"]).")
        self._check_names(config)
        return replace(config, lines=dict(self._lines(config)))

    def _lines(self, config: GateConfig) -> Iterator[tuple[tuple[str, str], int]]:
        """The line of each target and chapter, by its section and subject."""
        for at, suite in enumerate(config.suites):
            for target in suite.targets:
                line = self._location.line_of_name("suites", at, "targets", target)
                yield ("suites", f"{suite.suite} on {target}"), line
        for name in config.verify:
            yield ("chapters", name), self._location.line_of_name("", 0, "verify", name)

    def _check_names(self, config: GateConfig) -> None:
        """Look up the suites, rules, targets and chapters, each where its catalogue is."""
        if config.verify:
            from checkvalve.spec.chapters import chapters

            for name in config.verify:
                self._look_up("", 0, "verify", name, lambda name: next(chapters([name])))
        if config.suites:
            from ..systems.catalogue import suite_named
            from ..systems.targets import check_name

            for at, suite in enumerate(config.suites):
                self._look_up("suites", at, "suite", suite.suite, suite_named)
                for target in suite.targets:
                    self._look_up("suites", at, "targets", target,
                                  partial(check_name, suite=suite.suite))
                for key, listed in (("known", suite.known), ("not_shown", suite.not_shown)):
                    for target, rule in _pairs(listed):
                        self._look_up(f"suites.{key}", at, target, rule,
                                      partial(_rule_of, suite.suite))

    def _look_up(
        self, table: str, at: int, key: str, name: str, look_up: Callable[[str], object]
    ) -> None:
        """Look a name up, and add to an InputError of that where ``name`` stands in this file."""
        try:
            look_up(name)
        except InputError as error:
            line = self._location.line_of_name(table, at, key, name)
            raise InputError(error.what, f"{self._path}:{line}", error.next_step) from error

    def _limits_of_all(self, top: Table) -> Limits:
        """The table [limits]; nothing is limited where there is none."""
        table = top.get("limits", {})
        if not isinstance(table, dict):
            raise self._wrong("", 0, "limits", "`limits` must be a table",
                              "Begin it with a line [limits].")
        self._known_keys(table, "limits", 0, keys_of("limits"))
        return self._limits(table, "limits", 0, Limits())

    def _limits(self, table: Table, name: str, at: int, default: Limits) -> Limits:
        """The limits that a table names, and the default's in place of others."""
        memory = default.max_memory
        if "max_memory" in table:
            written = table["max_memory"]
            memory = size_of(written) if isinstance(written, str) else None
            if memory is None:
                raise self._wrong(name, at, "max_memory", "`max_memory` must be a size, and it is "
                                  f"{brief(written)}", 'Write max_memory = "2G", for example.')
        seconds, states = default.max_seconds, default.max_states
        if "max_seconds" in table:
            seconds = self._positive(table, name, at, "max_seconds", USUAL_SECONDS)
        if "max_states" in table:
            states = int(self._positive(table, name, at, "max_states", 1e6, whole=True))
        return Limits(seconds, memory, states)

    def _designs(self, table: Table, at: int, limits: Limits) -> Designs:
        self._known_keys(table, "designs", at, keys_of("designs"))
        patterns = self._texts(table, "designs", at, "files", None)
        files = [file for pattern in patterns for file in self._matching(pattern, at)]
        usual = limits if limits.max_seconds else replace(limits, max_seconds=USUAL_SECONDS)
        return Designs(tuple(dict.fromkeys(files)), self._limits(table, "designs", at, usual))

    def _matching(self, pattern: str, at: int) -> list[Path]:
        """The files that ``pattern`` names, from the folder of the configuration."""
        base = self._path.parent
        try:
            found = matching(pattern, base)
        except InputError as error:
            raise self._wrong("designs", at, "files", error.what, error.next_step) from None
        if not found:
            raise self._wrong("designs", at, "files", f"no file matches {brief(pattern)!r}",
                              f"Paths begin in the folder of this file, {base.resolve()}.")
        return found

    def _suite(self, table: Table, at: int, limits: Limits) -> Suite:
        self._known_keys(table, "suites", at, keys_of("suites"))
        targets = self._texts(table, "suites", at, "targets", None)
        optional = self._texts(table, "suites", at, "optional", ())
        self._among_targets(at, "optional", optional, targets)
        quick = self._flag(table, "suites", at, "quick")
        if quick and "cases" in table:
            raise self._wrong("suites", at, "quick", "`quick` and `cases` both say how many cases "
                              "there are", "Leave one of them out.")
        return Suite(
            suite=self._text(table, "suites", at, "suite"),
            targets=targets,
            cases=int(self._positive(table, "suites", at, "cases", 40, whole=True))
            if "cases" in table else None,
            seed=int(self._positive(table, "suites", at, "seed", 0, whole=True, least=0)),
            timeout=self._positive(table, "suites", at, "timeout", USUAL_TIMEOUT),
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
            raise self._wrong("suites", at, key, f"`{key}` must be a table",
                              f"Write [suites.{key}] and below it: deque = [\"QUEUE-4\"].")
        self._among_targets(at, key, listed, targets)
        return {target: self._texts(listed, f"suites.{key}", at, target, None)
                for target in listed}

    def _among_targets(
        self, at: int, key: str, names: Sequence[str] | Table, targets: Sequence[str]
    ) -> None:
        for name in names:
            if name not in targets:
                what = (f"`{key}` names {brief(name)!r}, which is not among the targets of this "
                        "suite")
                raise self._wrong("suites", at, key, what, self._meant(name, targets))

    def _tables(self, top: Table, name: str) -> Iterator[tuple[int, Table]]:
        """The tables of the array ``name``, numbered from 0."""
        tables = top.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            raise self._wrong("", 0, name, f"`{name}` must be an array of tables",
                              f"Begin each with a line [[{name}]].")
        yield from enumerate(tables)

    def _known_keys(self, table: Table, name: str, at: int, keys: Sequence[str]) -> None:
        for key in table:
            if key not in keys:
                raise self._wrong(name, at, key, f"there is no key `{brief(key)}` here",
                                  self._meant(key, keys))

    def _text(self, table: Table, name: str, at: int, key: str) -> str:
        value = self._there(table, name, at, key)
        if not isinstance(value, str) or not value:
            raise self._wrong(name, at, key, f"`{key}` must be a text", f"Write {key} = \"…\".")
        return value

    def _texts(
        self, table: Table, name: str, at: int, key: str, default: tuple[str, ...] | None
    ) -> tuple[str, ...]:
        """A list of texts that is not empty; it may be left out if there is a ``default``."""
        if default is not None and key not in table:
            return default
        value = self._there(table, name, at, key)
        if not isinstance(value, list) or not value or not all(
            isinstance(one, str) and one for one in value
        ):
            raise self._wrong(name, at, key, f"`{key}` must be a list of texts that is not empty",
                              f"Write {key} = [\"…\", \"…\"].")
        return tuple(value)

    def _flag(self, table: Table, name: str, at: int, key: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(name, at, key, f"`{key}` must be true or false",
                              f"Write {key} = true, or leave it out.")
        return value

    def _positive(
        self, table: Table, name: str, at: int, key: str, default: float, *,
        whole: bool = False, least: float = 1e-3,
    ) -> float:
        value = table.get(key, default)
        kinds = (int,) if whole else (int, float)
        least = max(least, 1) if whole and least else least
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < 1e9:
            kind = "whole number" if whole else "number of seconds"
            raise self._wrong(name, at, key, f"`{key}` must be a {kind} of at least {least:g}, and "
                              f"it is {brief(value)}", f"Write {key} = {default:g}, for example.")
        return value

    def _there(self, table: Table, name: str, at: int, key: str) -> Any:
        if key not in table:
            raise self._wrong(name, at, key, f"`{key}` is missing", f"Add {key} = … here.")
        return table[key]

    def _wrong(self, name: str, at: int, key: str, what: str, next_step: str) -> InputError:
        line = self._location.line(name, at, key)
        return InputError(what, f"{self._path}:{line}", next_step)

    @staticmethod
    def _meant(name: str, names: Sequence[str]) -> str:
        close = get_close_matches(brief(name), names, 1)
        return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(names)}."
