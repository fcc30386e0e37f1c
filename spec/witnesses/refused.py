"""The table of machines that break a rule of a mechanism, and by what an observer refuses them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

from ..notation.machine import Machine

__all__ = [
    "ENOUGH", "TABLE", "Breaker", "Judging", "Table", "distinct", "known_breakers", "table",
    "to_json", "tried",
]

Judging = Mapping[type[Machine], Collection[str]]
"""The machines by which suites judge, each with the ids of the rules that they name by it."""

TABLE = "breakers.json"
"""The file beside this module, made by ``make breakers``."""
ENOUGH = 3
"""Machines that break a rule and are refused, for it to be tested through an observer."""
ALWAYS = ("rule", "like", "machine", "method", "words", "constants", "refused")
"""The fields of each row; the rest stands only where there is something to say."""


@dataclass(frozen=True)
class Breaker:
    """A machine that breaks a rule.

    ``machine`` is a full name such as ``flow.credit.Link``; ``method`` and ``words`` name its
    mutant, and are empty for the book's own. It breaks the rule with ``constants``. ``refused``
    says by which rule of which observer some run of it is refused (``FLOW-6 of ObservedLink``),
    and is empty where all its runs are accepted. ``like`` is the machine as which it is seen.
    ``equivalent`` says of a mutant that all it shows the right machine shows, too (``outside``).
    ``graph`` is the digest of what it can do (``graphs``). A mutant of two changes has the second
    in ``also_method`` and ``also_words``. ``within``: its steps out of the declared ranges are
    not taken; it breaks the rule, and is refused, without them.
    """

    rule: str
    like: str
    machine: str
    method: str
    words: str
    constants: Mapping[str, Any]
    refused: str
    equivalent: bool = False
    graph: str = ""
    also_method: str = ""
    also_words: str = ""
    within: bool = False

    @property
    def which(self) -> tuple[str, ...]:
        """The machine itself, however it is seen."""
        return tuple(filter(None, (
            self.machine, self.method, self.words, self.also_method, self.also_words)))

    def __str__(self) -> str:
        name = self.machine.rpartition(".")[2]
        told = ", ".join(f"{each} = {value}" for each, value in self.constants.items())
        text = f"{name} ({self.method}: {self.words})" if self.words else name
        if self.also_words:
            text = f"{text[:-1]}; {self.also_method}: {self.also_words})"
        return f"{text} at {told}" if told else text


@dataclass(frozen=True)
class Table:
    """The finds of ``make breakers``: rows in the order of the file, and of each machine, for rules
    that fewer than three machines break, how many mutants were tried."""

    rows: tuple[Breaker, ...]
    tried: Mapping[str, Mapping[str, int]]


@cache
def table() -> Table:
    """The table as it stands in the file."""
    document = json.loads(
        resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8"))
    return Table(tuple(Breaker(**{**row, "constants": {
        name: _frozen(value) for name, value in row["constants"].items()}})
        for row in document["breakers"]), document["tried"])


def known_breakers() -> dict[str, list[Breaker]]:
    """The rows of the table, by rule."""
    found: dict[str, list[Breaker]] = {}
    for row in table().rows:
        found.setdefault(row.rule, []).append(row)
    return found


def tried() -> dict[str, int]:
    """For each rule that fewer than three machines break, how many mutants were tried."""
    found: Counter[str] = Counter()
    for rules in table().tried.values():
        found.update(rules)
    return dict(found)


def distinct(breakers: Iterable[Breaker]) -> int:
    """How many machines these are: two texts of one graph are one, and so is a machine that is
    seen in two ways."""
    known: set[tuple[str, ...]] = set()
    number = 0
    for each in breakers:
        names = {each.which, *([("graph", each.like, each.graph)] if each.graph else ())}
        number += not names & known
        known |= names
    return number


def to_json(found: Iterable[Breaker], tried: Mapping[str, Mapping[str, int]]) -> str:
    """The text of the table: a row a line, so that a change shows what changed."""
    rows = [json.dumps(_told(breaker), ensure_ascii=False) for breaker in found]
    numbers = [f"{json.dumps(name)}: {json.dumps(tried[name])}" for name in tried if tried[name]]
    return ('{"breakers": [\n' + ",\n".join(rows) + '\n],\n"tried": {\n'
            + ",\n".join(numbers) + "\n}}\n")


def _told(breaker: Breaker) -> dict[str, Any]:
    """A row, without what it does not have."""
    found = asdict(breaker)
    return {name: value for name, value in found.items() if value or name in ALWAYS}


def _frozen(value: Any) -> Any:
    """A constant as chapters have it: tables are tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
