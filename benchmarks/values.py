"""``make values``: references that change a value on its way in, and who notices.

Theory of operation. A thing that holds what it is given must not look at it. For each kind of value
there is a change that a careless implementation makes: it cuts long texts, loses the sign, keeps 16
bits. Here every value of a program is changed before a reference gets it, and the default run of
the suite has to find that. Nothing here knows a system. The items, names and keys of a program are
those that the program itself names (``Act.about``); amounts are all integers of a request, and ids
its texts of sixteen hexadecimal digits. A change that changes nothing in a whole default run is no
column of that suite: it has no such values. Exit codes: 0 each is found; 1 not so; 64 bad usage.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import click

from checkvalve.conformance.campaigns.case import row_of
from checkvalve.conformance.cli.outcome import EXPECTED, VIOLATED as EXIT_VIOLATED, run
from checkvalve.conformance.engines.conduct import Order, next_cases
from checkvalve.conformance.ports.base import (
    Argument, Kind, Message, Port, Session, Target,
)
from checkvalve.conformance.suites.history import HistorySuite
from checkvalve.conformance.suites.results import PASSED, VIOLATED, CaseRow
from checkvalve.conformance.suites.suite import Act, AnySuite, Conversation, Exchange
from checkvalve.conformance.systems.catalogue import selected, system_of
from checkvalve.conformance.systems.targets import resolve_target

from .published import machine, publish, table

__all__ = ["CHANGES", "FOUND", "PASSES", "Change", "Found", "command", "found", "main",
           "occasions", "rows_of"]

PROGRAM: Final = "python -m benchmarks.values"
_PAGE: Final = "sabotage.md"

FOUND, PASSES = "found", "passes"

_KEPT: Final = 8
"""The characters of a text that is cut."""
_DIGITS: Final = 16
"""Those of an id."""
_SMALL: Final = 2**15
"""Numbers below it mean something else than an amount: a place, a number of steps."""


@dataclass(frozen=True)
class Change:
    """What becomes of a value. ``of_all``: of every amount and id of a request, and not only of
    items, names and keys."""

    about: str
    made: Callable[[Any], Any]
    of_all: bool = False


def _of_texts(made: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda value: made(value) if isinstance(value, str) else value


def _of_numbers(made: Callable[[int], Any]) -> Callable[[Any], Any]:
    return lambda value: made(value) if type(value) is int else value


def _read(text: str) -> Any:
    """A text that looks like a number, read as one."""
    try:
        return str(int(text))
    except ValueError:
        return text


def _in_bits(bits: int) -> Callable[[Any], Any]:
    def made(value: Any) -> Any:
        if isinstance(value, str) and _is_id(value):
            return f"{int(value, 16) % 2**bits:0{_DIGITS}x}"
        if type(value) is int and value > _SMALL:
            return value % 2**bits or 1
        return value

    return made


def _as_double(value: Any) -> Any:
    """An id, or an amount, as the even number below it, as a double of half the size has it."""
    if isinstance(value, str) and _is_id(value):
        return f"{min(int(float(int(value, 16))), 2**64 - 1):0{_DIGITS}x}"
    return value // 2 * 2 if type(value) is int and value > 2**52 else value


def _is_id(text: str) -> bool:
    return len(text) == _DIGITS and all(each in "0123456789abcdef" for each in text)


CHANGES: Final[Mapping[str, Change]] = {
    "cut": Change("texts are cut to eight characters", _of_texts(lambda text: text[:_KEPT])),
    "ASCII": Change("letters beyond ASCII become question marks", _of_texts(
        lambda text: text.encode("ascii", "replace").decode())),
    "quotes": Change("quotes, backslashes and line breaks are lost", _of_texts(
        lambda text: "".join(each for each in text if each not in "\"\\\n\t'"))),
    "numerals": Change("a text that looks like a number is one: 007 is 7", _of_texts(_read)),
    "case": Change("capital letters become small ones", _of_texts(str.lower)),
    "0": Change("0 becomes 1", _of_numbers(lambda number: number or 1)),
    "sign": Change("the sign of a number is lost", _of_numbers(abs), of_all=True),
    "as text": Change("a number becomes a text", _of_numbers(str)),
    "16 bits": Change("amounts and ids are kept in 16 bits", _in_bits(16), of_all=True),
    "31 bits": Change("amounts and ids are kept in 31 bits", _in_bits(31), of_all=True),
    "32 bits": Change("amounts and ids are kept in 32 bits", _in_bits(32), of_all=True),
    "double": Change("amounts and ids are kept as floating-point numbers", _as_double, of_all=True),
}
"""By the heading of its column."""


@dataclass
class _Values:
    """The values that the program under way has named, and how often a change changed one."""

    change: Change | None
    named: set[tuple[type, Any]] = field(default_factory=set)
    changed: dict[str, int] = field(default_factory=dict)

    def through(self, value: Any, kind: Kind) -> Any:
        """What a reference gets in the place of an argument of a kind; nothing that its port does
        not have."""
        for name, change in CHANGES.items():
            made = self._made(change, value)
            if made != value and kind.accepts(made):
                self.changed[name] = self.changed.get(name, 0) + 1
        made = value if self.change is None else self._made(self.change, value)
        return made if kind.accepts(made) else value

    def _made(self, change: Change, value: Any) -> Any:
        if isinstance(value, list):
            return [self._made(change, each) for each in value]
        if isinstance(value, dict):
            return {name: self._made(change, each) for name, each in value.items()}
        is_about = change.of_all or (type(value), value) in self.named
        return change.made(value) if is_about else value


class _Changing:
    """A session that gets values changed; what it answers stays as it is."""

    def __init__(self, session: Session, values: _Values, port: Port) -> None:
        self._session, self._values, self._port = session, values, port
        self.close = session.close

    def request(self, message: Message) -> Message:
        told = self._changed(message, self._port.operations[message["do"]].arguments)
        if message["do"] == "hello":
            told |= {"protocol": message["protocol"],
                     "settings": self._changed(message["settings"], self._port.settings)}
        return self._session.request(told)

    def _changed(self, fields: Message, arguments: Sequence[Argument]) -> Message:
        return {**fields, **{each.name: self._values.through(fields[each.name], each.kind)
                             for each in arguments if each.name in fields}}


class _ChangingTarget:
    """A target each instance of which gets values changed."""

    def __init__(self, target: Target, values: _Values, port: Port) -> None:
        self._target, self._values, self._port = target, values, port
        self.name, self.renew = target.name, target.renew

    def open(self) -> Session:
        return _Changing(self._target.open(), self._values, self._port)


class _Naming:
    """A conversation that notes which values its program names."""

    def __init__(self, conversation: Conversation, values: _Values, has_items: bool) -> None:
        self._conversation, self._values = conversation, values
        self._has_items = has_items     # else what it names are words of its port, or places

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conversation, name)

    def makes_sense(self, act: Act) -> bool:
        return self._conversation.makes_sense(act)

    def say(self, act: Act) -> Exchange:
        if self._has_items:
            self._values.named |= {(type(value), value) for _, value in act.about}
        return self._conversation.say(act)


class _NamingSuite:
    """A suite with conversations that do so; else it is that suite."""

    def __init__(self, suite: AnySuite, values: _Values) -> None:
        self._suite, self._values = suite, values

    def __getattr__(self, name: str) -> Any:
        return getattr(self._suite, name)

    def converse(self, session: Session, capacity: int, items_max: int) -> Conversation:
        self._values.named.clear()
        return _Naming(self._suite.converse(session, capacity, items_max), self._values,
                       bool(getattr(self._suite, "payloads", None)))


ARGUED: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "marks": (("16 bits", "31 bits", "32 bits", "double"),
              "`take` has an upper bound on how many are given, and its amounts exceed what there "
              "is. A reference that reads a smaller amount gives fewer, and keeps all rules. The "
              "twins marks-asks-in-16-bits and -32-bits read it as nothing, give none, and are "
              "found."),
    "rate": (("double",),
             "`ask` has the one amount that a double does not hold, 2^53 - 1, which is refused, "
             "and 2^53 - 2 is refused as well."),
    "reactive.publisher": (("double",),
                           "`request` has the one amount that a double does not hold, 2^53 - 1, "
                           "and no stream has so many elements, nor one less."),
    "timer": (("double",),
              "`add` has the one amount that such a number does not hold, a delay of 285,000 "
              "years, and no run reaches its end."),
}
"""By suite, the changes of its amounts that break nothing, and why."""


@dataclass(frozen=True)
class Found:
    """What the default run says of a reference that gets values changed."""

    suite: str
    change: str
    verdict: str
    rule: str = ""
    cases: int = 0
    message: str = ""


def occasions(suite: str, seed: int = 0) -> frozenset[str]:
    """The changes that would change something in the first cases of a default run."""
    if isinstance(system_of(suite).suite, HistorySuite):
        return frozenset()
    values = _Values(None)
    for _ in _rows(suite, values, seed):
        pass
    return frozenset(values.changed)


def found(suite: str, change: str, seed: int = 0) -> Found:
    """What the default run says, up to the first breach. A pure function of its arguments."""
    rows = [*_rows(suite, _Values(CHANGES[change]), seed)]
    last = rows[-1]
    verdict = FOUND if last.verdict == VIOLATED else next(
        (row.verdict for row in rows if row.verdict != PASSED), PASSES)
    if verdict == PASSES and _is_argued(suite, change):
        return Found(suite, change, "argued", cases=len(rows))
    return Found(suite, change, verdict, last.rule if last.verdict == VIOLATED else "", len(rows),
                 last.message)


def _is_argued(suite: str, change: str) -> bool:
    changes, _ = ARGUED.get(suite, ((), ""))
    return change in changes


def _rows(suite: str, values: _Values, seed: int) -> Iterator[CaseRow]:
    system = system_of(suite)
    order = Order(suite, seed=seed)
    settings = replace(order.settings, shrinks=0, counting=False)
    naming: Any = _NamingSuite(system.suite, values)
    target: Target = _ChangingTarget(
        resolve_target(system.reference.name), values, system.port)
    for case in next_cases(order, []):
        row: CaseRow = row_of(naming, target, case, settings)
        yield row
        if row.verdict == VIOLATED:
            return


def rows_of(outcomes: Sequence[Found]) -> Iterator[tuple[str, ...]]:
    """A row for each suite that has such values, a column for each change."""
    cells = {(each.suite, each.change): _cell(each) for each in outcomes}
    yield ("suite", *CHANGES)
    for suite in dict.fromkeys(each.suite for each in outcomes):
        yield (suite, *(cells.get((suite, name), "-") for name in CHANGES))


def _cell(each: Found) -> str:
    return each.rule or (each.verdict if _is_argued(each.suite, each.change)
                         else each.verdict.upper())


@click.command(context_settings={"show_default": True})
@click.option("--only", "suites", multiple=True, metavar="SUITE",
              help="Only this suite, or those below it; repeatable.")
@click.option("--seed", type=click.IntRange(0), default=0, help="The seed of the default runs.")
@click.option("--publish", "docs", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help=f"Put the table into {_PAGE} of this folder.")
def command(suites: tuple[str, ...], seed: int, docs: Path | None) -> int:
    """Change the values that references get, and ask each suite's default run."""
    outcomes: list[Found] = []
    for system in selected(suites):
        there = occasions(system.name, seed)
        for name in CHANGES:
            if name in there:
                outcomes.append(found(system.name, name, seed))
                _tell(outcomes[-1])
    rows, missed = [*rows_of(outcomes)], [
        each for each in outcomes if each.verdict not in (FOUND, "argued")]
    seen = sum(each.verdict == FOUND for each in outcomes)
    argued = {each.suite: ARGUED[each.suite][1] for each in outcomes if each.verdict == "argued"}
    closing = [f"{seen} of {len(outcomes)} are found.", *(
        f"{suite}: {why}" for suite, why in argued.items()), *(
        f"{each.suite}, {CHANGES[each.change].about}: {each.verdict}, {each.cases} cases"
        f"{each.message and ': '}{each.message}" for each in missed)]
    for line in ("", *table(rows), "", *closing):
        click.echo(line)
    if docs is not None:
        asked = f' ARGS="{shlex.join(sys.argv[1:])}"' if sys.argv[1:] else ""
        publish(docs / _PAGE, "make values", [
            *table(rows), "", *(f"- {line}" for line in closing), "",
            f"Made by `make values{asked}`, on {machine()}."])
    return EXIT_VIOLATED if missed else EXPECTED


def _tell(each: Found) -> None:
    """One line; what is not found is red."""
    said = f"found by {each.rule}" if each.verdict == FOUND else each.verdict.upper()
    click.secho(f"{each.suite}, {CHANGES[each.change].about}: {said}",
                fg=None if each.verdict == FOUND else "red")


def main() -> int:
    """The program, with this process's arguments."""
    return run(command, sys.argv[1:], PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
