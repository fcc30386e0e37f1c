"""Suites that are judged by histories: a scene is set, it runs, and its events are judged.

What such a suite asks is planned as a whole: the first requests say what is to run and what
goes wrong, the last one lets it run and is answered with a history. So its programs are drawn
as a whole too, and not act by act; and where the shrinker of a conversation leaves out
requests, it also makes smaller what the first of them set up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.machine import Action, Machine
from ...spec.notation.rules import Rule
from ..ports.base import Session
from .needs import Groups, Needing
from .suite import Act, AnyJudge, Conversation, Fuller, Long, Measure, Program, by_number

__all__ = ["PROGRAMS_AT_ONCE", "HistorySuite", "rules_of"]

PROGRAMS_AT_ONCE = 4
"""A run has hundreds of events, so a case tries one where one of a conversation tries four."""


@dataclass(frozen=True)
class HistorySuite(Needing):
    """A suite that is judged by histories; see ``AnySuite``.

    ``draw`` makes a program from chance, what the target can do, the rule in focus, and how many
    programs of the case come before it.
    ``judging`` makes the judge of a run from the arguments of ``judge``, except the items.
    ``make needs`` has found out which operations a rule needs, but for the rules in
    ``needs``, as for a ``Suite``. If it is ``long``, ``draw_long`` draws its long programs, each
    with its epilogue.
    """

    name: str
    version: int
    port: str
    watching: tuple[type[Machine], ...]
    draw: Callable[[Random, Collection[str], Rule, int], Program]
    converse: Callable[[Session, int, int], Conversation]
    judging: Callable[[int, Rule | None, bool, int], AnyJudge]
    easier: Callable[[Act], Iterator[Act]]
    settings: Callable[[int], Mapping[str, int]]
    capacities: tuple[int, ...]
    scene: str
    needs: Mapping[str, Groups] = field(default_factory=dict)
    takes_more: Mapping[str, str] = field(default_factory=dict)
    telling: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    fuller: Mapping[str, tuple[Fuller, ...]] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    long: Long | None = None
    draw_long: Callable[[Random, Collection[str]], tuple[Program, Program]] | None = None

    def rules(self) -> tuple[Rule, ...]:
        return by_number(
            rule for machine in self.watching for rule in machine.rules_declared
            if rule.kind == "guard")

    def machines(self, rule: Rule) -> tuple[type[Machine], ...]:
        return tuple(machine for machine in self.watching if rule in machine.rules_declared)

    def judge(
        self, capacity: int, items_max: int, focus: Rule | None, counting: bool = False,
        candidates: int = STATES_MAX, every: bool = False,
    ) -> AnyJudge:
        return self.judging(capacity, focus, counting or every, candidates)

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        for number in range(-(-examples // PROGRAMS_AT_ONCE)):
            attempt(self.draw(Random(f"{self.name} {seed} {number}"), can, focus, number))

    def lengthy(self, can: Collection[str], seed: int, size: int) -> tuple[Program, Program]:
        assert self.draw_long is not None, "a suite without long programs is not asked for one"
        return self.draw_long(Random(f"{self.name} long {seed}"), can)

    def simpler(self, act: Act) -> Iterator[Act]:
        return self.easier(act)


def rules_of(action: Action) -> tuple[Rule, ...]:
    """The rules that the guards of an action name: those that a step of it could break."""
    function = action.function
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    return tuple(rule for rule in named if isinstance(rule, Rule))
