"""The record of how a system's logs are judged: operations, settings, and the judge of one key.

A folder of ``systems`` with a suite that can be judged on logs has a module ``logs`` with ``LOGS``.
Nothing lists these: they are found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ...spec.notation.errors import InputError
from ...spec.notation.machine import Machine
from ...spec.notation.rules import Rule
from .events import Event
from .notes import Notes

__all__ = ["STATES", "Asks", "Call", "KeyJudge", "Logs", "Terms"]


@dataclass(frozen=True)
class Call:
    """An operation in a log: its meaning in words, the ``phases`` that it has, and what it must
    ``need`` of an event's fields; of one that is judged ``by_end``, the begin only says since when
    it may have had its effect."""

    meaning: str
    phases: tuple[str, ...] = ("begin", "end", "point")
    needs: tuple[str, ...] = ()
    sends: bool = False
    receives: bool = False
    by_end: bool = False


@dataclass(frozen=True)
class Asks:
    """The request by which a suite makes an operation of a log: the first of the operations ``do``
    that a target has, and the fields of it that have the event's item, process and value, or a list
    of as ``many`` as the value. Those in ``new`` are of something that was not there before. It is
    made where the call begins, or ``at_end``."""

    do: tuple[str, ...]
    item: str = ""
    process: str = ""
    value: str = ""
    many: str = ""
    new: tuple[str, ...] = ()
    at_end: bool = False


STATES: Final = 2_000
"""States of a short history that are tried; beyond, its rules are unknown."""


@dataclass(frozen=True)
class Terms:
    """On what terms a log is judged: the ``settings`` of the system, whether the log begins with
    it, whether nothing was left at its end (``drained``), how many texts that ended are remembered,
    by how many nanoseconds clocks may differ, in how many ``states`` a machine may be at one time
    where all orders of some calls are tried, and after how many nanoseconds without an event a key
    rests (``patience``; 0: that is not known)."""

    settings: Mapping[str, int] = field(default_factory=dict)
    from_start: bool = True
    drained: bool = False
    remember: int = 1_000_000
    tolerance: int = 0
    states: int = STATES
    patience: int = 0


class KeyJudge(Protocol):
    """Judges the events of one key, in their order."""

    def take(self, event: Event) -> None:
        """Take the next event."""
        ...

    def end(self) -> None:
        """The log is over."""
        ...

    @property
    def is_over(self) -> bool:
        """True if nothing more can be found at this key, whatever comes."""
        ...


@dataclass(frozen=True)
class Logs:
    """How the logs of a system are judged.

    ``settings`` are its settings with what each means; those in ``required`` must be given.
    ``rules`` are judged on any log, ``with_rest`` only where the log says that nothing was left;
    ``never`` has the others that the suite judges, with the reason. ``judge`` makes the judge of a
    key. ``common`` makes what all keys of a run share; it is given to ``judge``. ``whole`` makes
    what judges all keys together, of terms, notes, names and what is common; None where that cannot
    be. It ``has_wide_values`` where it adds up no values, which may have 64 bits then. On terms on
    which it ``is_cut``, pieces of a log can be judged apart, and composed. On terms on which things
    are judged ``by_item``, each item of a key by itself, what begins and ends within a piece of a
    log is judged there, and ``whole`` makes a ``Divided``.

    ``asks`` has, by operation and result, the request that makes it on an implementation; None for
    one that the implementation does by itself. If there are none, ``no_asks`` says why.
    ``capacity`` is the setting that is the suite's capacity.
    """

    machines: tuple[type[Machine], ...]
    operations: Mapping[str, Call]
    settings: Mapping[str, str]
    rules: tuple[Rule, ...]
    judge: Callable[[str, Terms, Notes, Any], KeyJudge]
    required: tuple[str, ...] = ()
    with_rest: Mapping[str, str] = field(default_factory=dict)
    common: Callable[[Terms, Notes], Any] = lambda terms, notes: None
    whole: Callable[[Terms, Notes, Any, Any], Any] | None = None
    has_wide_values: bool = False
    asks: Mapping[tuple[str, str], Asks | None] = field(default_factory=dict)
    no_asks: str = ""
    capacity: str = "capacity"
    is_cut: Callable[[Terms], bool] = lambda terms: False
    by_item: Callable[[Terms], bool] = lambda terms: False

    def check(self, settings: Mapping[str, int], where: str, whole: bool = True) -> None:
        """Raise ``InputError`` for settings that the system has not, or, of the ``whole``, that
        are missing."""
        listed = "; ".join(f"{name}: {meaning}" for name, meaning in self.settings.items())
        for name in settings:
            if name not in self.settings:
                raise InputError(f"there is no setting {name!r}", where,
                                 f"It has {listed}." if listed else "It has none.")
        for name in self.required:
            if whole and name not in settings:
                raise InputError(
                    f"the setting {name!r} is missing: {self.settings[name]}", where,
                    f"Give --set {name}=NUMBER, or write it under \"settings\" in the mapping.")

    def named(self, kind: str) -> Sequence[str]:
        """The operations that are of a kind: ``sends`` or ``receives``."""
        return [name for name, call in self.operations.items() if getattr(call, kind)]
