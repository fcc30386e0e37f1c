"""Can a place of a net hold ever more tokens?

A net is *bounded* iff no reachable marking can grow into one that holds at least as much in each
place and more in some (Karp and Miller 1969): the steps between the two can be repeated forever. So

- *holds* is shown by a sum that no transition raises and that has every place (``bounds``), or by
  all markings;
- *violated* by a run with such a repetition, which is replayed.
"""

from __future__ import annotations

from random import Random

from ..notation.labels import counted
from ..verdicts.deadline import Spent
from ..verdicts.verdict import Outcome
from .answer import Answer, Limits
from .bounds import bounding_sums, growing_counts
from .net import Net
from .search import glance, run_to, visit
from .token_game import Game

__all__ = ["decide_bounded", "grows"]

TRIES = 2_000
STEPS = 400
"""Runs that look for a repetition, and the steps of each before it is tried."""


def decide_bounded(net: Net, limits: Limits) -> Answer:
    """Decide whether all places of the net are bounded; *unknown*, with the reason, where the
    limits do not allow it."""
    try:
        return _decided(net, limits)
    except Spent as late:
        return Answer(Outcome.UNKNOWN, "search, incomplete", str(late))


def _decided(net: Net, limits: Limits) -> Answer:
    """Bounded by sums that no transition raises; else by a search for a run that repeats and
    grows."""
    weights = bounding_sums(net, limits.deadline)
    total = sum(weight * net.initial[place] for place, weight in weights.items())
    bounds = tuple((place, total // weight) for place, weight in weights.items())
    open_ones = [place for place in range(len(net.places)) if place not in weights
                 and net.producers[place]]
    if not open_ones:
        most = max((number for _, number in bounds), default=max(net.initial, default=0))
        return Answer(Outcome.HOLDS, "a sum that no transition raises has every place: "
                      f"at most {most:,} tokens in one", bounds=bounds)
    why = (f"no sum that no transition raises has {net.places[open_ones[0]][:60]!r}"
           + (f" and {counted(len(open_ones) - 1, 'more place')}" if len(open_ones) > 1 else ""))
    found = _tried(net, open_ones, limits)
    if found is not None:
        return found
    seen = _visited(net, limits)
    return seen or Answer(
        Outcome.UNKNOWN, "structure and runs", f"{why}, and no run was found that repeats and "
        "grows; next, give it more time (--max-seconds)", bounds=bounds)


def grows(net: Net, run: list[int], loop: int) -> bool:
    """True if the run is enabled and its steps from ``loop`` on leave nothing with less and some
    place with more: the replay of a counterexample."""
    before = net.replay(run[:loop])
    after = net.replay(run)
    return after != before and all(a >= b for a, b in zip(after, before, strict=True))


def _violated(net: Net, run: list[int], loop: int, method: str, shortest: bool = False) -> Answer:
    assert grows(net, run, loop)
    return Answer(Outcome.VIOLATED, method, run=tuple(run), loop=loop, depth=len(run),
                  is_shortest=shortest,
                  reason="the repeated steps leave no place with less, and some with more")


def _tried(net: Net, open_ones: list[int], limits: Limits) -> Answer | None:
    """Runs at random, after which the firings of a growing repetition are tried in any order."""
    share = limits.deadline.share(2)
    counts = growing_counts(net, open_ones, share)
    if not counts or sum(counts.values()) > 1_000_000:
        return None
    game, random = Game(net), Random("growth")
    for turn in range(TRIES):
        if share.passed():
            return None
        game.restart()
        for _ in range(0 if turn == 0 else random.randint(1, STEPS)):
            if not game.enabled:
                break
            game.fire(random.choice(game.enabled))
        loop = len(game.run)
        if _repeated(game, dict(counts), random):
            return _violated(net, game.run, loop, "found by runs that the inequalities of growth "
                             "led")
    return None


def _repeated(game: Game, left: dict[int, int], random: Random) -> bool:
    """Fire all that is left to fire, in some order; false where none of it is enabled."""
    ready = [each for each in left if not game.lacking[each]]
    while ready:
        each = ready.pop(random.randrange(len(ready)))
        if game.lacking[each] or each not in left:
            continue
        game.fire(each)
        left[each] -= 1
        if not left[each]:
            del left[each]
        elif not game.lacking[each]:
            ready.append(each)
        if not ready:
            ready = [other for other in left if not game.lacking[other]]
    return not left


def _visited(net: Net, limits: Limits) -> Answer | None:
    """The answer of all markings of a small net, each compared with those on the way to it."""
    found = visit(net, limits, glance(net, limits), stop_at_dead=False)
    for at, marking in enumerate(found.markings):
        if at % 64 == 0:
            limits.deadline.check("comparing markings")
        earlier = found.before[at]
        while earlier >= 0:
            before = found.markings[earlier]
            if all(a >= b for a, b in zip(marking, before, strict=True)) and marking != before:
                run = run_to(found, at)
                return _violated(net, run, len(run_to(found, earlier)), "search")
            earlier = found.before[earlier]
    if found.whole:
        return Answer(Outcome.HOLDS, "exhaustive", states=len(found.markings),
                      transitions=found.steps)
    return None
