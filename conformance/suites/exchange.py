"""Acts, answers, and the exchanges between a suite and a target."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

from ...spec.notation.interpreter import Step
from ...spec.notation.machine import Machine
from ...spec.notation.rules import Rule
from ..ports.base import STEPPED_WAKES, Message

__all__ = [
    "NOTHING", "PICKS", "Act", "Answer", "Conversation", "Course", "Exchange", "Fuller", "Measure",
    "Program", "Watch",
]

PICKS: Final = 3
"""Values to pick from, where a suite does not say how many there are."""


class Act(NamedTuple):
    """One thing that a program does: an operation of the port.

    ``pick`` says which of the tickets that are out an operation on a ticket is about: it
    counts from the oldest, round and round. ``about`` are the fields of its request where
    the program itself sets them.
    """

    do: str
    pick: int = 0
    about: tuple[tuple[str, int | str], ...] = ()


Program = tuple[Act, ...]

Course = tuple[str | tuple[Act, ...], ...]
"""A course of events: in this order, an operation that picks at random, or one of some acts."""


class Fuller(NamedTuple):
    """The operations that make the test of a rule whole, beyond those that the rule needs.

    A target that offers none of ``takes`` is tested by the rule in a weaker form: then
    ``finds``, a noun phrase, is not looked for. Among ``takes`` is more than operations: that
    wakes are stepped (``STEPPED_WAKES``).
    """

    takes: tuple[str, ...]
    finds: str

    @property
    def is_technique(self) -> bool:
        """True if it takes another technique of the adapter, and not an operation."""
        return STEPPED_WAKES in self.takes

    def in_words(self) -> str:
        """The failure that was not looked for, and the operation that would allow it, in words."""
        return f"{self.finds}: that takes {' or '.join(self.takes)}"


class Measure(NamedTuple):
    """A number that a suite takes of each run, whatever becomes of its rules; the largest counts.

    ``name`` is what exchanges call it, and ``words`` what is counted, a noun phrase. ``takes`` is
    what an adapter has to do for it, if not all of them do.
    """

    name: str
    words: str
    takes: str = ""


class Answer(NamedTuple):
    """An answer that an implementation may or may not be allowed to give.

    ``words`` are for a reader, ``step`` is the step of the machines that it would show (first),
    ``then`` are those that it could not but show after that. ``instead_of`` are the actions that
    it may stand for, where one reply shows steps of several kinds; empty: any.
    """

    words: str
    step: Step
    then: tuple[Step, ...] = ()
    instead_of: tuple[str, ...] = ()


NOTHING: Final[Mapping[str, int]] = MappingProxyType({})
"""No measures."""


class Exchange(NamedTuple):
    """One request with its reply, what the reply showed, and what it could have shown.

    ``outcome`` is what the reply itself shows (None: nothing happened), ``events`` what came
    with it; the outcome comes first unless ``vouches``: then it says that all is over and
    reported. ``possible`` are the outcomes that there could be in place of this one,
    ``completions`` the events in place of each event. ``judged`` is false where the target
    says that something may or may not have happened: nothing that follows can be judged.
    ``measured`` has the suite's measures by name, as they stand after it.
    """

    request: Message
    reply: Message
    words: str
    outcome: Step | None = None
    events: tuple[Step, ...] = ()
    vouches: bool = False
    possible: tuple[Answer, ...] = ()
    completions: tuple[Answer, ...] = ()
    judged: bool = True
    measured: Mapping[str, int] = NOTHING

    def observed(self) -> Sequence[tuple[Step, bool]]:
        """The steps that were seen, in the order in which they are judged; each with whether it is
        an event."""
        outcome = [] if self.outcome is None else [(self.outcome, False)]
        if not self.events:
            return outcome
        events = [(event, True) for event in self.events]
        return events + outcome if self.vouches else outcome + events


class Conversation(Protocol):
    """One session with a target, which remembers what items and tickets are about."""

    tells: bool
    """True if exchanges list what there could have been in place of a reply: that may be much."""

    wanted: frozenset[str] | None
    """The actions that what is listed may show; None: any."""

    @property
    def can(self) -> Collection[str]:
        """The operations that the target says it can do."""
        ...

    def makes_sense(self, act: Act) -> bool:
        """True if an act can be requested now, within the limits of the machines."""
        ...

    def say(self, act: Act) -> Exchange:
        """Request an act. Raises ``TargetError`` when the target fails to answer."""
        ...

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The act that makes a fixture's request; None if its ticket is no longer out.

        Raises ``InputError`` for a request that this suite would never have made here.
        """
        ...


@dataclass(frozen=True)
class Watch:
    """A machine to judge by.

    A variant that adds one rule to another machine names it in ``adds``: whatever it
    refuses while ``base`` explains the run breaks that rule. It is watched only in the
    cases that look for the rule. A machine that stands ``apart`` allows what the others
    forbid, and holds a target to its own promises: neither follows from the other.
    """

    machine: type[Machine]
    adds: Rule | None = None
    base: type[Machine] | None = None
    apart: bool = False

    def rules(self) -> tuple[Rule, ...]:
        """The rules that an implementation can be seen to break through this machine."""
        if self.adds is not None:
            return (self.adds,)
        return tuple(rule for rule in self.machine.rules_declared if rule.kind == "guard")
