"""What a suite is: machines to judge by, operations to try, and how to talk to a target."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ...spec.engines.interpreter import Step
from ...spec.notation.machine import Machine
from ...spec.notation.rules import Rule
from ..ports.base import Message, Session

__all__ = ["Act", "Answer", "Conversation", "Exchange", "Program", "Suite", "Watch"]


class Act(NamedTuple):
    """One thing that a program does: an operation of the port.

    ``pick`` says which of the tickets that are out an operation on a ticket is about: it
    counts from the oldest, round and round.
    """

    do: str
    pick: int = 0


Program = tuple[Act, ...]


class Answer(NamedTuple):
    """An answer that an implementation may or may not be allowed to give.

    ``words`` tells a reader, ``step`` is the step of the machines that it would show (first).
    """

    words: str
    step: Step


@dataclass(frozen=True)
class Exchange:
    """One request with its reply, what the reply showed, and what it could have shown.

    ``outcome`` is what the reply itself shows (None: nothing happened), ``events`` what rode
    on it; the outcome comes first unless ``vouches``: then it says that all is over and
    told. ``possible`` are the outcomes that there could be in place of this one,
    ``completions`` the events in place of each event. ``judged`` is false where the target
    says that something may or may not have happened: nothing that follows can be judged.
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

    def observed(self) -> Iterator[tuple[Step, bool]]:
        """What was seen, in the order in which it is judged; and whether it is an event."""
        if self.outcome is not None and not self.vouches:
            yield self.outcome, False
        for event in self.events:
            yield event, True
        if self.outcome is not None and self.vouches:
            yield self.outcome, False


class Conversation(Protocol):
    """One session with a target, which remembers what items and tickets are about."""

    @property
    def can(self) -> Collection[str]:
        """The operations that the target says it can do."""
        ...

    def makes_sense(self, act: Act) -> bool:
        """Whether an act can be requested now, within the limits of the machines."""
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
    cases that look for the rule.
    """

    machine: type[Machine]
    adds: Rule | None = None
    base: type[Machine] | None = None

    def rules(self) -> tuple[Rule, ...]:
        """The rules that an implementation can be seen to break through this machine."""
        if self.adds is not None:
            return (self.adds,)
        return tuple(rule for rule in self.machine.rules_declared if rule.kind == "guard")


def _capacity_alone(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


@dataclass(frozen=True)
class Suite:
    """A suite. ``needs`` has, for each rule, groups of operations: the rule applies to a
    target that can do at least one operation of every group.

    Cases take the ``capacities`` in turn; ``settings`` are those of ``hello`` that go with a
    capacity, and ``scene`` puts them into words. ``favoured`` has, for rules that take a rare
    course of events to break, the operations that half of the programs consist of.
    """

    name: str
    version: int
    port: str
    watches: tuple[Watch, ...]
    weights: Mapping[str, int]
    needs: Mapping[str, tuple[tuple[str, ...], ...]]
    epilogue: Program
    constants: Callable[[int, int], Mapping[str, int]]
    converse: Callable[[Session, int, int], Conversation]
    settings: Callable[[int], Mapping[str, int]] = _capacity_alone
    capacities: tuple[int, ...] = (1, 2, 3)
    scene: str = "A queue of capacity {capacity}."
    favoured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def rules(self) -> tuple[Rule, ...]:
        """The suite's rules, each once, by number."""
        found = {rule.id: rule for watch in self.watches for rule in watch.rules()}
        return tuple(sorted(found.values(), key=_number))

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id, if it is one of the suite's."""
        return next((rule for rule in self.rules() if rule.id == rule_id), None)

    def applicable(self, can: Collection[str]) -> tuple[Rule, ...]:
        """The rules that apply to a target that can do this much."""
        return tuple(rule for rule in self.rules() if not self.missing(rule, can))

    def missing(self, rule: Rule, can: Collection[str]) -> tuple[str, ...]:
        """The operations whose lack makes a rule not applicable, as ``put or offer``."""
        return tuple(self._missing(rule, can))

    def _missing(self, rule: Rule, can: Collection[str]) -> Iterator[str]:
        for group in self.needs[rule.id]:
            if not any(name in can for name in group):
                yield " or ".join(group)


def _number(rule: Rule) -> tuple[str, int, str]:
    name, _, digits = rule.id.rpartition("-")
    return name, int(digits) if digits.isdecimal() else 0, rule.id


def show_json(value: Any) -> str:
    """A value as it stands in a message."""
    import json

    return json.dumps(value, ensure_ascii=False)
