"""Can some transitions of a net be dead forever while others continue forever?

A transition is *blocked forever* in a marking if it is enabled in no marking that can be reached
from there. A *local deadlock* is a reachable marking in which some transition is blocked forever
and from which some run never ends.

In a bounded net, what follows from a blocked transition can be read off the arcs (``stops_all``):
what takes as much as it or more is blocked; what gives to a place from which no other transition
takes fires but finitely often; so does what takes from a place to which no other gives. If
all transitions follow from each one, a run from there ends in a dead marking. A net
that is bounded and has no dead marking then has no local deadlock. Nor has one that siphons and
traps show to be live (``siphons``). Otherwise all markings of a small net are visited, and their
strongly connected components answer; of a larger one it may be shown that each run ends, or
that each one that does not leads back to the first marking, from which all can fire (``home``).
"""

from __future__ import annotations

from ..verdicts.deadline import Spent
from ..verdicts.verdict import Outcome
from .answer import Answer, Limits
from .home import all_fire, every_run_ends, leads_home
from .net import Net
from .siphons import has_asymmetric_choice, marked_traps, takes_ones
from .search import Visit, counting, glance, run_to, visit

__all__ = ["ENDS", "HOME", "LIVE", "decide_local", "excluded", "is_live", "stops_all"]

ALL_STOP = ("a single transition cannot be blocked forever unless the whole net deadlocks, "
            "and it does not")
LIVE = ("each transition can fire again after every run: the net has asymmetric choice, and each "
        "siphon contains a marked trap")
HOME = ("from each run that never ends a way leads back to the first marking, and from there "
        "a run fires each transition")
ENDS = "each run ends, as each transition lowers one weighted sum of the tokens"


def decide_local(net: Net, limits: Limits, deadlock: Answer, bounded: Answer) -> Answer:
    """Decide whether a local deadlock can be reached, given the answers on deadlock and growth."""
    try:
        if Outcome.HOLDS is deadlock.outcome is bounded.outcome and stops_all(net, limits):
            return Answer(Outcome.HOLDS, ALL_STOP)
        if deadlock.outcome is not Outcome.VIOLATED and is_live(net, limits):
            return Answer(Outcome.HOLDS, LIVE)
        most = glance(net, limits)
        found = visit(net, limits, most, edges=True, stop_at_dead=False)
    except Spent as late:
        return Answer(Outcome.UNKNOWN, "search, incomplete", str(late))
    if found.whole:
        return _by_components(net, found)
    try:
        shown = _by_weights(net, limits)
    except Spent:
        shown = ""
    return counting(found, Answer(Outcome.HOLDS, shown) if shown else Answer(
        Outcome.UNKNOWN, "search, incomplete", f"more than {most:,} markings, and neither do the "
        "arcs show that all stops where one transition is blocked forever, nor weights and "
        "equations that each run ends or can be led back"))


def excluded(net: Net, limits: Limits) -> str:
    """Why the net has no local deadlock, by its structure; empty if it is not shown."""
    return LIVE if is_live(net, limits) else _by_weights(net, limits)


def _by_weights(net: Net, limits: Limits) -> str:
    share = limits.deadline.share(2)
    if every_run_ends(net, share):
        return ENDS
    return HOME if all_fire(net, limits.deadline.share(4)) and leads_home(net, share) else ""


def is_live(net: Net, limits: Limits) -> bool:
    """True if siphons and traps show that each transition can fire again after every run."""
    deadline = limits.deadline.share(3)
    return (takes_ones(net) and has_asymmetric_choice(net, deadline)
            and marked_traps(net, deadline) is not None)


def stops_all(net: Net, limits: Limits) -> bool:
    """True if in a bounded net a run with one transition blocked forever ends, whichever it is."""
    every = len(net.transitions)
    arcs = _Ends(net)
    good: set[int] = set()
    """Transitions such that all fire but finitely often if they do."""
    for first in range(every):
        limits.deadline.check("following a blocked transition")
        if len(arcs.closure({first}, good)) == every:
            good.add(first)
        elif len(arcs.closure({first, *_need_more(net, first)}, good)) < every:
            return False
    return every > 0


def _need_more(net: Net, transition: int) -> list[int]:
    """The transitions that are enabled only where this one is."""
    takes = net.takes[transition]
    return [other for other in (net.consumers[takes[0][0]] if takes else ())
            if all(dict(net.takes[other]).get(place, 0) >= weight for place, weight in takes)]


class _Ends:
    """The transitions that add to each place, and that remove from it."""

    def __init__(self, net: Net) -> None:
        self.changes = net.changes
        self.adders: list[list[int]] = [[] for _ in net.places]
        self.removers: list[list[int]] = [[] for _ in net.places]
        for each, change in enumerate(net.changes):
            for place, number in change:
                (self.adders if number > 0 else self.removers)[place].append(each)

    def closure(self, ceased: set[int], good: set[int]) -> set[int]:
        """The transitions that fire but finitely often if those do that have ceased; all, as soon
        as one of ``good`` is among them.

        If all that remove from a bounded place cease, so do all that add to it; and the other way.
        """
        found, todo = set(ceased), list(ceased)
        while todo:
            each = todo.pop()
            if each in good:
                return set(range(len(self.changes)))
            for place, number in self.changes[each]:
                same, other = ((self.removers, self.adders) if number < 0
                               else (self.adders, self.removers))
                if all(one in found for one in same[place]):
                    more = [one for one in other[place] if one not in found]
                    found.update(more)
                    todo += more
        return found


def _by_components(net: Net, found: Visit) -> Answer:
    """The answer of all markings: backwards from where each transition is enabled, and from where
    a run never ends."""
    assert found.edges is not None
    number = len(found.markings)
    back: list[list[int]] = [[] for _ in range(number)]
    enabled: list[list[int]] = [[] for _ in net.transitions]
    for at, out in enumerate(found.edges):
        for each, target in out:
            back[target].append(at)
            enabled[each].append(at)
    endless = _endless(found.edges, back)
    best: tuple[int, int] | None = None
    for each, where in enumerate(enabled):
        live = _backwards(back, where)
        bad = next((at for at in range(number) if at not in live and at in endless), None)
        if bad is not None and (best is None or bad < best[0]):
            best = bad, each
    if best is None:
        return counting(found, Answer(Outcome.HOLDS, "exhaustive"))
    run = run_to(found, best[0])
    tail, loop = _forever(found.edges, endless, best[0])
    reason = (f"from step {len(run)} on {net.transitions[best[1]][:60]!r} can never fire again, "
              "while these steps repeat forever")
    return counting(found, Answer(
        Outcome.VIOLATED, "exhaustive", reason, tuple(run + tail), len(run) + loop, True,
        depth=len(run), blocked=(best[1],)))


def _backwards(back: list[list[int]], start: list[int]) -> set[int]:
    found, todo = set(start), list(start)
    while todo:
        for before in back[todo.pop()]:
            if before not in found:
                found.add(before)
                todo.append(before)
    return found


def _endless(edges: list[list[tuple[int, int]]], back: list[list[int]]) -> set[int]:
    """The markings from which some run never ends: what is left when ends are taken away."""
    ahead = [len(out) for out in edges]
    todo = [at for at, number in enumerate(ahead) if not number]
    gone = set(todo)
    while todo:
        for before in back[todo.pop()]:
            ahead[before] -= 1
            if not ahead[before]:
                gone.add(before)
                todo.append(before)
    return set(range(len(edges))) - gone


def _forever(
    edges: list[list[tuple[int, int]]], endless: set[int], start: int
) -> tuple[list[int], int]:
    """Steps from a marking that end in a repetition, and the index at which that begins."""
    seen: dict[int, int] = {}
    steps: list[int] = []
    here = start
    while here not in seen:
        seen[here] = len(steps)
        each, here = next((each, target) for each, target in edges[here] if target in endless)
        steps.append(each)
    return steps, seen[here]
