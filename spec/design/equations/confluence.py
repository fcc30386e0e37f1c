"""Designs without choice: one run decides them.

Where no transition ever takes away what another one needs, transitions that are possible stay so
until they are made, and all runs do the same in some order (Keller 1975; Landweber and Robertson
1978, of persistent nets). So if one run can continue forever, none deadlocks; and if one ends, all
end, in the same state. That is so of tasks that each read links of their own: of pipelines, joins,
meshes and programs, but not of merges, routes, or a pool that is shared.

A run that comes back to where it began can continue forever. How often it makes each transition is
known beforehand: so that every counter is what it was (the balance equations of a fixed-rate graph;
Lee and Messerschmitt 1987).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from ..net.counters import AIM, Counters, Transition
from ..net.invariants import kernel
from ..net.translate import translate
from ..reading.language import Design
from .legs import Leg
from .pursuit import MAX_AMOUNT, pursue

__all__ = ["Only", "goes_round", "has_choice", "only_run"]

ROUNDS = (1, 8)
"""Numbers of rounds that are tried in one run: the first round may not yet come back."""
ENDLESS = 2**40
"""As good as any amount of a transition where a run is to end by itself."""


@dataclass(frozen=True)
class Only:
    """The run that decides: it comes back to its start (``returns``), or ends, in a deadlock
    (``is_deadlocked``) or with all work done.
    """

    legs: tuple[Leg, ...]
    returns: bool
    is_deadlocked: bool


def has_choice(net: Counters, watch: Callable[[], object] = lambda: None) -> bool:
    """True if some transition may take away what another needs at the same time: elements, or room.

    """
    asks: dict[tuple[int, bool], list[int]] = {}
    watch()
    for number, transition in enumerate(net.transitions):
        for side, guards in ((True, transition.least), (False, transition.most)):
            for counter in guards:
                asks.setdefault((counter, side), []).append(number)
    watch()
    return any(
        transition.fails or any(
            other != number and not _exclude(net, transition, net.transitions[other])
            for counter, by in transition.change.items() for other in asks.get((counter, by < 0),
                                                                               ()))
        for number, transition in enumerate(net.transitions))


def _exclude(net: Counters, one: Transition, other: Transition) -> bool:
    """True if two transitions are never possible at once: by what a counter holds, or because they
    are of different positions of one program."""
    if any(transition.least[n] > most for transition, off in ((one, other), (other, one))
           for n, most in off.most.items() if n in transition.least):
        return True
    here = {(net.counters[n].place, net.counters[n].value) for n in one.least}
    there = {(net.counters[n].place, net.counters[n].value) for n in other.least}
    return any(value is not None and place == where and value != at
               for place, value in here for where, at in there)


def only_run(net: Counters, watch: Callable[[], object] = lambda: None) -> Only | None:
    """The run that decides a design without choice; None where it has one, or none was found."""
    if not net.transitions or has_choice(net, watch):
        return None
    watch()
    turn = _turn(net, watch)
    watch()
    for rounds in ROUNDS if turn is not None and max(turn) * max(ROUNDS) < MAX_AMOUNT else ():
        assert turn is not None
        found = pursue(net, [rounds * amount for amount in turn], watch)
        if found.is_complete:
            return Only(found.legs, returns=True, is_deadlocked=False)
        if found.nothing_moves:
            return _ended(net, found.legs, found.end)
    if turn is None:
        found = pursue(net, [ENDLESS] * len(net.transitions), watch)
        if found.nothing_moves:
            return _ended(net, found.legs, found.end)
    return None


def goes_round(design: Design, watch: Callable[[], object] = lambda: None) -> bool:
    """True if a design without choice has a run that comes back and makes every transition: then
    every move stays ahead, wherever a run has come to, so that no task ever stops for good."""
    net = Counters.of(translate(design, AIM, watch), watch)
    found = only_run(net, watch)
    return found is not None and found.returns and {
        number for leg in found.legs for number in leg.then} == set(range(len(net.transitions)))


def _ended(net: Counters, legs: tuple[Leg, ...], end: list[int]) -> Only:
    return Only(legs, returns=False, is_deadlocked=net.is_work_left(end))


def _turn(net: Counters, watch: Callable[[], object]) -> list[int] | None:
    """Times that each transition is made until all counters are what they were; None if no such run
    makes a transition."""
    balance: list[dict[int, int]] = [{} for _ in net.counters]
    for number, transition in enumerate(net.transitions):
        for counter, by in transition.change.items():
            balance[counter][number] = by
    found = [0] * len(net.transitions)
    for weights in kernel(balance, len(net.transitions), watch):
        signs = {weight > 0 for weight in weights.values()}
        if len(signs) == 1:
            common = gcd(*weights.values())
            for number, weight in weights.items():
                found[number] += abs(weight) // common
    return found if any(found) else None
