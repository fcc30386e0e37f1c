"""What a twin is: an adapter of a reference with one seeded bug."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..ports.base import Adapter

__all__ = ["Twin", "Twins"]

Core = TypeVar("Core", bound=type[Any])


@dataclass(frozen=True)
class Twin:
    """A reference with one bug: what it does, what it stands for, and which rule it breaks.

    ``rule`` is the id of the rule of ``suite`` that must kill it; ``bug`` says in a line what it
    does wrong, ``history`` the real bug that it stands for. ``of`` makes the reference's adapter,
    on which ``parts`` are set. ``equivalent`` says why no rule of the suite can tell it from its
    original, which is ``original``, and is empty for all others.
    """

    name: str
    suite: str
    rule: str
    bug: str
    history: str
    of: Callable[[], Any]
    parts: Mapping[str, Any] = field(default_factory=dict)
    equivalent: str = ""
    original: str = ""

    def adapter(self) -> Adapter:
        """A new adapter of this twin."""
        adapter = self.of()
        # On the instance: the bug is a value here, not one more class.
        for name, part in self.parts.items():
            setattr(adapter, name, part)
        adapter.name = f"zoo:{self.name}"
        made: Adapter = adapter
        return made


class Twins(dict[str, Twin]):
    """The twins of a suite by name: each says what it is where its bug is written.

    ``of`` makes the adapter of the reference, and ``part`` is the attribute of it that a bug most
    often takes the place of.
    """

    def __init__(self, suite: str, of: Callable[[], Any], original: str, part: str = "core") -> None:
        super().__init__()
        self._suite = suite
        self._of = of
        self._original = original
        self._part = part
