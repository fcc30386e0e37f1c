"""Can a net reach a marking in which no transition is enabled? Engines, the cheapest first.

| engine | answers | what it does |
|---|---|---|
| visit | either | all markings of a small net: the shortest run |
| reduce | either | rules that keep dead markings; a transition that is always enabled ends it |
| walks | violated | short runs of the reduced net, at random |
| siphons | holds | each siphon of the reduced net has a marked trap |
| equations | holds | state equation and traps, in whole numbers; else they lead a run |
| stubborn sets | either | the markings of the reduced net that a dead one needs |
| walks | violated | longer runs, in what is left of the time |

A run of the reduced net is led back to the first net and replayed there before it is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

from ..notation.labels import counted
from ..verdicts.deadline import Spent
from ..verdicts.verdict import Outcome
from .answer import Answer, Limits
from .bounds import without_rounds
from .equations import Candidate, Equations
from .net import Net
from .reduce import Reduced, reduce
from .siphons import marked_traps, takes_ones
from .search import counting, glance, run_to, stubborn_search, visit
from .token_game import Game
from .walks import Walks

__all__ = ["NotDead", "Stage", "decide_deadlock", "lifted", "stages"]

SHORT = 30
"""Short walks before any equation is made."""
MOST_MARKINGS = 4_000_000
"""Markings that a search keeps if nothing else is said."""
MOST_BYTES, BYTES_EACH = 2_000_000_000, 400
"""Bytes that they may take, and bytes of each beside nine for each place."""
LED = 200
"""Walks that each candidate of the equations leads."""
ORDERS = 10
"""Orders in which the steps of a shortened run are tried."""
COMPLETED = 1_000_000
"""Steps that may have been put off."""
SEED = "nets"

Stage = tuple[str, Callable[[], Answer]]


class NotDead(Exception):
    """An error of ours: a run of a reduced net did not lead the net into a dead marking."""


def decide_deadlock(net: Net, limits: Limits) -> Answer:
    """Decide whether a dead marking of the net is reachable; *unknown*, with the reasons, where the
    limits do not allow it."""
    told: list[str] = []
    states = 0
    for _, ask in stages(net, limits):
        try:
            answer = ask()
        except Spent as late:
            answer = Answer(Outcome.UNKNOWN, "", str(late))
        if answer.outcome is not Outcome.UNKNOWN:
            return answer
        states = max(states, answer.states)
        told.append(answer.reason)
    return Answer(Outcome.UNKNOWN, "search, incomplete", "; ".join(dict.fromkeys(
        [*filter(None, told), "next, give it more time (--max-seconds)"])), states=states)


def stages(net: Net, limits: Limits, *, glance: bool = True) -> Iterator[Stage]:
    """The engines in their order, each with its name; they share what the reductions found."""
    if glance:
        yield "visit", lambda: _visited(net, limits)
    kept: list[Reduced] = []

    def reduced() -> Answer:
        kept.append(reduce(net, limits.deadline.watch("reducing the net")))
        return _by_rules(net, kept[0])

    yield "reduce", reduced
    if not kept:
        return
    small, deadline = kept[0], limits.deadline
    walks = Walks(small.net, Random(SEED), deadline)
    yield "walks", lambda: _walked(net, small, walks, SHORT, 10 * len(small.net.transitions) + 100)
    yield "siphons", lambda: _controlled(small, limits)
    yield "equations", lambda: _solved(net, small, walks, limits)
    yield "stubborn sets", lambda: _searched(net, small, limits)
    yield "walks", lambda: _walked(net, small, walks, None, 100_000)


def _visited(net: Net, limits: Limits) -> Answer:
    most = glance(net, limits)
    found = visit(net, replace(limits, deadline=limits.deadline.share(4)), most)
    if found.dead is not None:
        run = run_to(found, found.dead)
        assert net.dead(net.replay(run))
        return counting(found, Answer(
            Outcome.VIOLATED, "exhaustive up to the violation", run=tuple(run), is_shortest=True,
            depth=len(run)))
    return counting(found, Answer(Outcome.HOLDS, "exhaustive") if found.whole else Answer(
        Outcome.UNKNOWN, "search, incomplete", f"more than {most:,} markings"))


def _by_rules(net: Net, small: Reduced) -> Answer:
    rules = sum(small.rules.values())
    by = f"{counted(rules, 'reduction')} that keep every dead marking" if rules else "by structure"
    for at, takes in enumerate(small.net.takes):
        if not takes:
            name = small.net.transitions[at][:60]
            return Answer(Outcome.HOLDS, f"{by}: in each marking {name!r} can fire, at once or "
                          "after others")
    if not small.net.transitions:
        return _violated(net, small, (), f"{by}: after them, no transition is left")
    left = small.net
    return Answer(Outcome.UNKNOWN, "", f"reductions leave {counted(len(left.places), 'place')} and "
                  f"{counted(len(left.transitions), 'transition')}")


def _violated(net: Net, small: Reduced, run: Sequence[int], method: str) -> Answer:
    whole = lifted(net, small, run)
    return Answer(Outcome.VIOLATED, method, run=tuple(whole), depth=len(whole))


def lifted(net: Net, small: Reduced, run: Sequence[int]) -> list[int]:
    """The run of the first net into a dead marking that a run of the reduced one stands for.

    Raises NotDead where it is none, which no rule allows.
    """
    game = Game(net)
    if not game.play(small.lift(list(run))):
        raise NotDead("a step of the reduced net is not enabled in the net")
    for _ in range(COMPLETED):
        if not game.enabled:
            return game.run
        game.fire(game.enabled[0])
    raise NotDead("what was put off does not end")


def _walked(net: Net, small: Reduced, walks: Walks, most: int | None, steps: int) -> Answer:
    try:
        while most is None or walks.runs < most:
            run = walks.at_random(steps)
            if run is not None:
                told = f"{counted(walks.runs, 'run')} of {counted(walks.steps, 'step')} in all"
                return _violated(net, small, _shortened(small.net, walks, run), f"found by {told}")
    except Spent:
        pass  # what was tried is the answer
    return Answer(Outcome.UNKNOWN, "", f"{counted(walks.runs, 'run')} of "
                  f"{counted(walks.steps, 'step')} in all did not deadlock")


def _shortened(net: Net, walks: Walks, run: list[int]) -> list[int]:
    """A run to the same marking without firings that leave everything as it was, if the steps that
    remain can be brought into an order."""
    try:
        counts = without_rounds(net, run, walks.deadline.share(4))
        found = None
        for _ in range(ORDERS if sum(counts.values()) < len(run) else 0):
            found = found or walks.led(counts, 0)
    except Spent:
        return run
    return run if found is None else found


def _controlled(small: Reduced, limits: Limits) -> Answer:
    """Exclude dead markings by siphons and traps."""
    if takes_ones(small.net):
        traps = marked_traps(small.net, limits.deadline.share(4))
        if traps is not None:
            return Answer(Outcome.HOLDS, "each siphon contains one of "
                          f"{counted(traps, 'marked trap')} of the net after "
                          f"{counted(sum(small.rules.values()), 'reduction')}")
    return Answer(Outcome.UNKNOWN, "", "")


def _solved(net: Net, small: Reduced, walks: Walks, limits: Limits) -> Answer:
    """Exclude dead markings by the state equation; a solution of it leads a run instead."""
    share = limits.deadline.share(2)
    equations = Equations(small.net, share)
    found = equations.solve(share)
    used = "the state equation" + (f" and {counted(equations.traps, 'trap')}"
                                   if equations.traps else "")
    if found is False:
        return Answer(Outcome.HOLDS, f"no dead marking satisfies {used} of the net after "
                      f"{counted(sum(small.rules.values()), 'reduction')}")
    if isinstance(found, Candidate):
        for _ in range(LED):
            run = walks.led(found.firings, 10)
            if run is not None:
                return _violated(net, small, run, f"found by a run that {used} led")
            if share.passed():
                break
        return Answer(Outcome.UNKNOWN, "", f"{used} does not exclude every dead marking")
    return Answer(Outcome.UNKNOWN, "", f"{used} could not be solved in the time")


def _searched(net: Net, small: Reduced, limits: Limits) -> Answer:
    size = MOST_BYTES if limits.memory is None else min(MOST_BYTES, limits.memory // 2)
    most = min(limits.markings or MOST_MARKINGS, size // (BYTES_EACH + 9 * len(small.net.places)))
    found = stubborn_search(small.net, replace(limits, deadline=limits.deadline.share(1.5)), most)
    if found.outcome is Outcome.VIOLATED:
        return replace(_violated(net, small, found.run, found.method), states=found.states,
                       transitions=found.transitions)
    return found
