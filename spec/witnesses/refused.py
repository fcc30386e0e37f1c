"""The table of machines that break a rule of a mechanism, and by what an observer refuses them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

from ..notation.machine import Machine

__all__ = ["TABLE", "Breaker", "Judging", "known_breakers", "to_json"]

Judging = Mapping[type[Machine], Collection[str]]
"""The machines by which suites judge, each with the ids of the rules that they name by it."""

TABLE = "breakers.json"
"""The file beside this module, made by ``make breakers``."""


@dataclass(frozen=True)
class Breaker:
    """A machine that breaks a rule.

    ``machine`` is a full name such as ``flow.credit.Link``; ``method`` and ``words`` name its
    mutant, and are empty for the book's own. It breaks the rule with ``constants``. ``refused``
    says by which rule of which observer some run of it is refused (``FLOW-6 of ObservedLink``),
    and is empty where all its runs are accepted. ``like`` is the machine as which it is seen.
    ``equivalent`` says of a mutant that all it shows the right machine shows, too (``outside``).
    """

    rule: str
    like: str
    machine: str
    method: str
    words: str
    constants: Mapping[str, Any]
    refused: str
    equivalent: bool = False

    @property
    def which(self) -> tuple[str, ...]:
        """The machine itself, however it is seen."""
        return (self.machine, self.method, self.words) if self.words else (self.machine,)

    def __str__(self) -> str:
        name = self.machine.rpartition(".")[2]
        told = ", ".join(f"{each} = {value}" for each, value in self.constants.items())
        text = f"{name} ({self.method}: {self.words})" if self.words else name
        return f"{text} at {told}" if told else text


@cache
def known_breakers() -> dict[str, list[Breaker]]:
    """The table, by rule."""
    text = resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8")
    found: dict[str, list[Breaker]] = {}
    for row in json.loads(text):
        constants = {name: _frozen(value) for name, value in row["constants"].items()}
        breaker = Breaker(**{**row, "constants": constants})
        found.setdefault(breaker.rule, []).append(breaker)
    return found


def to_json(found: Iterable[Breaker]) -> str:
    """The text of the table: a row a line, so that a change shows what changed."""
    rows = [json.dumps(_told(breaker), ensure_ascii=False) for breaker in found]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _told(breaker: Breaker) -> dict[str, Any]:
    """A row: that a mutant is equivalent stands only where it is."""
    found = asdict(breaker)
    return found if breaker.equivalent else {
        name: value for name, value in found.items() if name != "equivalent"}


def _frozen(value: Any) -> Any:
    """A constant as chapters have it: tables are tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
