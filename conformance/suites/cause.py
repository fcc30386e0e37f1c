"""The cause of a failure: the reply that would have had to be another one, for nothing to be
broken.

A breach is where a run can no longer be explained, and that may be later than what went wrong. A
queue that loses an item with a take that is cancelled has answered the cancellation wrongly; that
shows when it takes in one item too many (QUEUE-1), gives another one (QUEUE-3), or answers its size
(QUEUE-11). So of each failure it is asked: is there an earlier reply in whose place another one,
with all that came after it, would have been accepted by every machine? That one is a *culprit*;
there may be several, and what a run says together decides which is the cause
(campaigns/causes.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...spec.engines.monitor import STATES_MAX
from ...spec.notation.interpreter import Step
from .exchange import Answer, Exchange
from .breach import Breach
from .run import ITEMS_MAX, Run
from .standing import Watchers, watchers_of
from .suite import AnySuite, Suite

__all__ = ["Culprit", "culprits_of"]

_STEPS_MAX = 24
"""Steps of a run in which it is looked for; one that is not shrunk has none."""


class Culprit(NamedTuple):
    """The reply to a step (from 0) that showed an ``action``, and the words of what would do."""

    step: int
    action: str
    instead: str


class _Seen(NamedTuple):
    """One thing that a reply showed, and what it could have shown instead."""

    at: int
    step: Step
    answers: Sequence[Answer]


def culprits_of(
    suite: AnySuite, capacity: int, run: Run, breach: Breach, items: int = 0
) -> Iterator[Culprit]:
    """The replies before a breach that explain it, each with what would have done in its place;
    none if the breach is what came first, or the suite judges no replies one by one. The run
    could name ``items``, where these are more than a short one can."""
    if not isinstance(suite, Suite) or breach.step >= _STEPS_MAX:
        return
    seen = [each for at, exchange in enumerate(run.exchanges[:breach.step + 1])
            for each in _shown(at, exchange)]
    own = next((place for place, each in enumerate(seen)
                if each.at == breach.step and _is_of(each, breach)), len(seen))
    constants = tuple(suite.constants(capacity, max(items, ITEMS_MAX)).items())
    watchers = watchers_of(suite.watches, constants, STATES_MAX)
    for place, each in enumerate(seen[:own]):
        for answer in _others(each):
            steps = [*(one.step for one in seen[:place]), answer.step, *answer.then,
                     *(one.step for one in seen[place + 1:])]
            if _explain(watchers, steps):
                yield Culprit(each.at, each.step[0], answer.words)
                break


def _shown(at: int, exchange: Exchange) -> Iterator[_Seen]:
    for step, is_event in exchange.observed():
        yield _Seen(at, step, exchange.completions if is_event else exchange.possible)


def _is_of(each: _Seen, breach: Breach) -> bool:
    return breach.observation.startswith(each.step[0])


def _others(each: _Seen) -> Iterator[Answer]:
    """The answers that could stand in the place of what was seen."""
    for answer in each.answers:
        if answer.step != each.step and (
                not answer.instead_of or each.step[0] in answer.instead_of):
            yield answer


def _explain(watchers: Watchers, steps: Sequence[Step]) -> bool:
    """True if every machine explains the steps."""
    here = watchers.initial()
    for step in steps:
        if here is None:
            return False
        here = watchers.after(here, step)
    return here is not None
