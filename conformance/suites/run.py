"""Running one program on a fresh instance of a target, under the eyes of the machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.errors import TargetError
from ...spec.notation.labels import counted
from ...spec.notation.rules import Rule
from ...spec.verdicts.deadline import Deadline
from ..ports.base import SettingsRefused, Target
from .breach import Breach
from .lengthy import SHORT_ITEMS
from .suite import Act, AnyJudge, AnySuite, Conversation, Exchange, Program

__all__ = ["ITEMS_MAX", "Run", "TargetFailed", "capabilities", "items_for", "run_before",
           "run_program"]

ITEMS_MAX = 18
"""Items that a program may name; no program that is generated has as many steps."""

_ROUND, _ROUND_OF_LONG = 8, 256
"""The bound is rounded up to a multiple of this, so that programs of different lengths are judged
by machines with the same constants, of which what was learnt once serves all."""


class TargetFailed(TargetError):
    """The target failed in the middle of a program; the message says after which steps."""


@dataclass
class Run:
    """One run of a program.

    ``acts`` are those that were requested: what made no sense where it stood is left out.
    ``exercised`` counts, by rule, the steps that could have broken it; ``unjudged`` are the ids of
    the rules with a machine that lost track on the way. ``measured`` has the largest value of each
    measure of the suite.
    """

    acts: list[Act] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    breaches: list[Breach] = field(default_factory=list)
    exercised: Counter[str] = field(default_factory=Counter)
    unjudged: Collection[str] = ()
    measured: dict[str, int] = field(default_factory=dict)

    def breach_of(self, rule: Rule) -> Breach | None:
        """The first breach of a rule."""
        return next((each for each in self.breaches if each.rule == rule), None)

    def root_of(self, breach: Breach) -> Breach:
        """The breach that another one follows from: the first of the run, which may be itself.

        After a breach nothing explains the run any more, and what is judged of the rest of it
        may be wrong for no other reason. One that ``is_added`` leaves that explanation, and one
        that ``is_apart`` has its own.
        """
        if breach.is_apart:
            return breach
        earlier = takewhile(lambda each: each is not breach, self.breaches)
        return next((each for each in earlier if each.leaves_nothing), breach)

    def rooted(self, rule: Rule) -> Breach | None:
        """The first breach of a rule, if it follows from no other."""
        breach = self.breach_of(rule)
        return breach if breach is not None and self.root_of(breach) is breach else None

    @property
    def kept_for(self) -> Breach:
        """The breach for which the run is kept: the first after which nothing explains the run.

        An earlier one may come in every run, and must not hide it. If all leave an explanation, it
        is the first of them.
        """
        return next((each for each in self.breaches if each.leaves_nothing), self.breaches[0])

    def up_to(self, breach: Breach) -> Program:
        """The program that ends with the step that broke the rule."""
        return tuple(self.acts[: breach.step + 1])


def capabilities(suite: AnySuite, target: Target, *capacities: int) -> Collection[str]:
    """The operations that a target offers, with the first of ``capacities`` that it supports.

    Raises ``SettingsRefused`` where it supports none, ``TargetError`` where it does not say.
    """
    for capacity in capacities:
        session = target.open()
        try:
            return suite.converse(session, capacity, ITEMS_MAX).can
        except SettingsRefused:
            if capacity == capacities[-1]:
                raise
        finally:
            session.close()
    raise AssertionError("no capacity was given")


def run_program(
    suite: AnySuite, target: Target, program: Sequence[Act], capacity: int, *,
    focus: Rule | None = None, count: bool = False, candidates: int = STATES_MAX,
    every: bool = False, epilogue: Sequence[Act] = (), most: int | None = None, items: int = 0,
    tells: bool = True, once: Collection[str] | None = None, deadline: Deadline | None = None,
) -> Run:
    """Run a program on a fresh instance, until it ends or no machine is left to judge.

    The ``epilogue`` follows it, once the program has made ``most`` requests, or has ended; such
    a program is long, and what else there could have been is not worked out for it. Nor is it
    unless the run ``tells``: its verdict alone is wanted then.

    ``focus`` is the rule that is looked for (None: any); ``count`` fills ``exercised``, at
    the price of half the speed. Of the rules that are to be counted ``once`` (None: all, each time)
    nothing more is worked out when a step could have broken them. ``candidates`` and ``every`` are
    as for ``AnySuite.judge``.
    ``items``: so many items may be named, as in the program of which this is what is left.
    A long program ends early when the ``deadline`` has passed; what it did until then counts.
    Raises ``TargetFailed`` when the target fails to answer.
    """
    items_max = items or items_for(program, most) + len(epilogue)
    judge = suite.judge(capacity, items_max, focus, count, candidates, every)
    if once is not None:
        judge.count_once(once)
    return run_before(
        judge, suite, target, program, capacity, epilogue, most, items, tells, deadline)


def items_for(program: Sequence[object], most: int | None = None) -> int:
    """The number of items that a program may name: this bounds the machines that judge it.

    ``most``: it makes so many requests at most.
    """
    requests = len(program) if most is None else min(most, len(program))
    wanted = -(-max(ITEMS_MAX, requests + 2) // _ROUND) * _ROUND
    return wanted if wanted <= SHORT_ITEMS else -(-wanted // _ROUND_OF_LONG) * _ROUND_OF_LONG


def run_before(
    judge: AnyJudge, suite: AnySuite, target: Target, program: Sequence[Act], capacity: int,
    epilogue: Sequence[Act] = (), most: int | None = None, items: int = 0, tells: bool = True,
    deadline: Deadline | None = None,
) -> Run:
    """Run a program as ``run_program`` does, before a judge that was made for it."""
    items_max = items or items_for(program, most) + len(epilogue)
    run = Run(breaches=judge.breaches, exercised=judge.exercised)
    session = target.open()
    try:
        conversation = suite.converse(session, capacity, items_max)
        conversation.tells = tells and most is None
        late = (deadline or Deadline()).passed
        if _goes_through(conversation, judge, run, program, most, late):
            _goes_through(conversation, judge, run, epilogue, None, late)
    except SettingsRefused:
        raise
    except TargetError as error:
        raise _after(run, error) from error
    finally:
        session.close()
    run.unjudged = judge.unjudged
    return run


_LOOKED: Final = 64
"""Requests after which a program looks at the clock before each: short ones end by themselves."""


def _goes_through(
    conversation: Conversation, judge: AnyJudge, run: Run, acts: Sequence[Act], most: int | None,
    late: Callable[[], bool],
) -> bool:
    """Request what makes sense of some acts, ``most`` of them; true if the run continues."""
    for act in acts:
        if judge.blind or (len(run.acts) >= _LOOKED and late()):
            return False
        if len(run.acts) == most:
            break
        if conversation.makes_sense(act) and not _step(conversation, judge, run, act):
            return False
    return True


def _step(conversation: Conversation, judge: AnyJudge, run: Run, act: Act) -> bool:
    """Request one act; true if the run continues."""
    conversation.wanted = judge.wanted
    exchange = conversation.say(act)
    run.acts.append(act)
    run.exchanges.append(exchange)
    for name, value in exchange.measured.items() if exchange.measured else ():
        run.measured[name] = max(value, run.measured.get(name, value))
    judge.see(exchange, len(run.acts) - 1)
    return exchange.judged


_TOLD: Final = 20
"""Requests before a failure that its message names: a program may have a thousand."""


def _after(run: Run, error: TargetError) -> TargetFailed:
    told = run.exchanges[-_TOLD:]
    left_out = len(run.exchanges) - len(told)
    before = f" {counted(left_out, 'request')} and then" if left_out else ""
    story = "; ".join(exchange.words for exchange in told)
    where = f" after{before}: {story}" if story else ""
    return TargetFailed(f"{error.what}{where}", error.where, error.next_step)
