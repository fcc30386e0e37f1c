"""Suites: machines to judge by, operations to try, and how to talk to a target.

There are two kinds. A ``Suite`` holds a conversation: machines watch each reply, and programs
are random sequences of operations. A ``HistorySuite`` (history.py) sets a scene and lets it
run: the events of its history are judged, each by a machine of the thing that it is about.
Both fit ``AnySuite``, which is all that cases, fixtures and replays know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import ClassVar, Protocol

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.machine import Machine
from ...spec.notation.rules import Rule, natural
from ..ports.base import ALWAYS, Session
from .breach import Breach
from .exchange import (
    PICKS, Act, Answer, Conversation, Course, Exchange, Fuller, Measure, Program, Watch,
)
from .lengthy import SHORT_ITEMS, Long, long_acts
from .needs import Groups, Needing
from .values import DRESSED, Payloads

__all__ = [
    "Act", "Answer", "AnyJudge", "AnySuite", "Conversation", "Course", "Exchange", "Fuller",
    "Long", "Measure", "Program", "Suite", "Watch", "by_number",
]


class AnyJudge(Protocol):
    """Watches one run; see ``judge.Judge``, which is that of a conversation."""

    @property
    def breaches(self) -> list[Breach]:
        """The breaches seen so far."""
        ...

    @property
    def exercised(self) -> Counter[str]:
        """By rule, the steps that could have broken it; if that is counted."""
        ...

    @property
    def unjudged(self) -> Collection[str]:
        """The ids of the rules with a machine that lost track: what followed was not judged by
        it."""
        ...

    @property
    def blind(self) -> bool:
        """True if no later step could show a breach that is looked for."""
        ...

    @property
    def wanted(self) -> frozenset[str] | None:
        """The actions that the other answers of an exchange may show, for what they could have
        broken to be counted; None: any."""
        ...

    def count_once(self, rules: Collection[str]) -> None:
        """Count these rules alone, by their ids, and each until a step could have broken it."""
        ...

    def see(self, exchange: Exchange, step: int) -> None:
        """Take what an exchange showed."""
        ...


class AnySuite(Protocol):
    """The interface of a suite of either kind, as the machinery uses it."""

    @property
    def name(self) -> str:
        """The name by which it is found."""
        ...

    @property
    def version(self) -> int:
        """The version of the suite: with another one, the same seed may mean other programs, or
        another verdict."""
        ...

    @property
    def port(self) -> str:
        """The name of the port that its requests are of."""
        ...

    @property
    def capacities(self) -> tuple[int, ...]:
        """The capacities, which cases take in turn."""
        ...

    @property
    def long(self) -> Long | None:
        """The form of its long programs; None if it has none."""
        ...

    @property
    def telling(self) -> Mapping[str, tuple[int, ...]]:
        """By rule, the capacities that give occasion to break it, for rules for which only some do.
        """
        ...

    @property
    def scene(self) -> str:
        """The settings in words, as a format."""
        ...

    @property
    def takes_more(self) -> Mapping[str, str]:
        """By rule, what an occasion to break it takes, for rules for which some targets give none.
        """
        ...

    @property
    def fuller(self) -> Mapping[str, tuple[Fuller, ...]]:
        """By rule, what makes its test whole, for rules that can also be tested in a weaker form.
        """
        ...

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The numbers that are taken of each run, besides its verdicts."""
        ...

    @property
    def settings(self) -> Callable[[int], Mapping[str, int]]:
        """The settings of ``hello`` that go with a capacity."""
        ...

    @property
    def converse(self) -> Callable[[Session, int, int], Conversation]:
        """Begin a conversation, by hello: from a session, a capacity, and the most items of a
        program."""
        ...

    def rules(self) -> tuple[Rule, ...]:
        """The suite's rules, each once, by number."""
        ...

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id, if it is one of the suite's."""
        ...

    def applicable(self, can: Collection[str]) -> tuple[Rule, ...]:
        """The rules that apply to a target that can do this much."""
        ...

    def missing(self, rule: Rule, can: Collection[str]) -> tuple[str, ...]:
        """The missing operations that make a rule not applicable, as ``put or offer``."""
        ...

    def groups(self, rule: Rule) -> Groups:
        """The groups of operations of which a rule needs one each."""
        ...

    def machines(self, rule: Rule) -> tuple[type[Machine], ...]:
        """The machines through which a breach of a rule is seen."""
        ...

    def judge(
        self, capacity: int, items_max: int, focus: Rule | None, counting: bool = False,
        candidates: int = STATES_MAX, every: bool = False,
    ) -> AnyJudge:
        """A judge for one run; ``focus`` is the rule that is looked for (None: any).

        ``counting``: what could have broken each rule. ``candidates`` bounds the states in which
        each of its machines may be at one time. ``every`` machine watches, as where it counts;
        else those do that can show a breach of ``focus``, or one that comes before it.
        """
        ...

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        """Call ``attempt`` with programs, a pure function of the other arguments."""
        ...

    def lengthy(self, can: Collection[str], seed: int, size: int) -> tuple[Program, Program]:
        """A long program for a capacity, and its epilogue: a pure function of the arguments."""
        ...

    def simpler(self, act: Act) -> Iterator[Act]:
        """The acts that could stand in the place of an act, the simplest first."""
        ...


def _capacity_alone(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


@dataclass(frozen=True)
class Suite(Needing):
    """A suite that holds a conversation; see ``AnySuite``.

    ``conversation`` makes one of a session, the port's name, the settings of hello, and the
    observer's constants.
    A rule applies to a target that can do at least one operation of each of some groups. Which
    these are ``make needs`` has found out (``needs_of``), but for the rules in ``needs``.

    Cases take the ``capacities`` in turn; ``settings`` are those of ``hello`` that go with a
    capacity, and ``scene`` puts them into words; cases that look for a rule of ``telling`` take
    only the capacities that it names. ``favoured`` has, for rules that take a rare course of
    events to break, the operations that half of the programs consist of, the more often the
    more often it is named; and ``favoured_picks``, for some of these rules, the only values
    that those programs pick, by operation. ``courses`` has, for some rules, the rare courses
    themselves: half of the programs that are not drawn from all operations go along one.
    ``picks`` is how many values there are to pick from; 0: any three neighbours will do; and
    ``own_picks`` has the values for operations that need others.
    ``plainer`` has, for some operations, one that may stand in their place and does less.
    ``takes_more`` says, of rules that some targets give no occasion to break, what that takes;
    ``fuller``, of rules that can also be tested in a weaker form, what makes the test whole.
    ``measures`` are numbers that its conversations take besides. ``long`` says what its long
    programs are like, and ``payloads`` which items may have any value: some programs choose it.
    """

    one_by_one: ClassVar[bool] = True
    """True if acts can be drawn one by one; else a program is drawn as a whole."""

    name: str
    version: int
    port: str
    watches: tuple[Watch, ...]
    weights: Mapping[str, int]
    epilogue: Program
    constants: Callable[[int, int], Mapping[str, int]]
    conversation: Callable[
        [Session, str, Mapping[str, int], Mapping[str, int]], Conversation]
    scene: str
    settings: Callable[[int], Mapping[str, int]] = _capacity_alone
    needs: Mapping[str, Groups] = field(default_factory=dict)
    capacities: tuple[int, ...] = (1, 2, 3)
    telling: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    plainer: Mapping[str, str] = field(default_factory=dict)
    favoured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    favoured_picks: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    courses: Mapping[str, tuple[Course, ...]] = field(default_factory=dict)
    picks: int = 0
    own_picks: Mapping[str, Sequence[int]] = field(default_factory=dict)
    takes_more: Mapping[str, str] = field(default_factory=dict)
    fuller: Mapping[str, tuple[Fuller, ...]] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    long: Long | None = Long()
    payloads: Payloads | None = None

    def converse(self, session: Session, capacity: int, items_max: int) -> Conversation:
        """Begin a conversation with the settings and constants of this capacity."""
        return self.conversation(session, self.port, self.settings(capacity),
                                 self.constants(capacity, items_max))

    @cached_property
    def _by_number(self) -> tuple[Rule, ...]:
        return by_number(rule for watch in self.watches for rule in watch.rules())

    def rules(self) -> tuple[Rule, ...]:
        return self._by_number

    def machines(self, rule: Rule) -> tuple[type[Machine], ...]:
        return tuple(watch.machine for watch in self.watches if rule in watch.rules())

    # The two parts that a suite of this kind has in common with all others of it, imported when
    # they are used: the engines behind them take longer to load than most commands.

    def judge(
        self, capacity: int, items_max: int, focus: Rule | None, counting: bool = False,
        candidates: int = STATES_MAX, every: bool = False,
    ) -> AnyJudge:
        from .judge import Judge

        return Judge(self.watches, self.constants(capacity, items_max), focus, counting,
                     candidates, every, long=items_max > SHORT_ITEMS)

    def explore(
        self, can: Collection[str], focus: Rule, seed: int, examples: int,
        attempt: Callable[[Program], None],
    ) -> None:
        from .generate import explore

        explore(self, can, focus, seed, examples, attempt)

    def lengthy(self, can: Collection[str], seed: int, size: int) -> tuple[Program, Program]:
        assert self.long is not None, "a suite without long programs is not asked for one"
        random = Random(f"{self.name} long {seed}")
        acts = long_acts(random, self.long, self.weights, can, size, range(self.picks or PICKS),
                         self.own_picks)
        if self.payloads and random.random() < DRESSED:
            acts = self.payloads.dressed(acts, random, long=True)
        return acts, tuple(act for act in self.epilogue if act.do in ALWAYS or act.do in can)

    def simpler(self, act: Act) -> Iterator[Act]:
        if act.about and self.payloads is not None and act.do in self.payloads.fields:
            yield act._replace(about=())
        if act.do in self.plainer:
            yield Act(self.plainer[act.do])
        if act.pick:
            yield act._replace(pick=0)
        if self.picks or act.do in self.own_picks:
            yield from (act._replace(pick=act.pick - less) for less in _LESS if less < act.pick)


_LESS = (32, 16, 8, 4, 3, 2, 1)


def by_number(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Some rules, each once, in the order of their ids: STORM-I2 comes before STORM-I10."""
    return tuple(sorted({rule.id: rule for rule in rules}.values(),
                        key=lambda rule: natural(rule.id)))
