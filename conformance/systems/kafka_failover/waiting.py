"""Who waits for whom in a cluster that makes no progress, as a cycle or as chains, in words.

A cluster tells its waits, each with its reason, before it tells how it ends. They are edges of a
graph. If there is a cycle, nobody in it can go on, and that is told. Else each chain ends at
somebody who waits for nobody, and could go on: that one is told, with the way to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from .port import REASONS

__all__ = ["CHAINS_MAX", "Wait", "cycle_in", "who_waits"]

CHAINS_MAX: Final = 3
"""So many chains are told at most."""


class Wait(NamedTuple):
    """Who waits for whom, and why."""

    waiter: str
    on: str
    reason: str


def who_waits(waits: Sequence[Wait]) -> str:
    """A sentence about all waits of a cluster that stalls."""
    if not waits:
        return "the target does not tell who waits for whom"
    cycle = cycle_in(waits)
    if cycle:
        return f"they wait in a cycle: {_told(cycle)}"
    waited_for = {each.on for each in waits}
    first = [who for who in dict.fromkeys(each.waiter for each in waits) if who not in waited_for]
    chains = {chain[-1].on: chain for chain in (_chain(who, waits) for who in reversed(first))}
    told = [f"{_told(chain)}, which waits for nobody"
            for chain in list(chains.values())[:CHAINS_MAX]]
    return "there is no cycle of waits: " + "; and ".join(told)


def cycle_in(waits: Sequence[Wait]) -> list[Wait]:
    """The shortest cycle; empty if there is none."""
    found: list[Wait] = []
    for each in waits:
        way = _way(each.on, each.waiter, waits)
        if way is not None and (not found or len(way) + 1 < len(found)):
            found = [each, *way]
    return found


def _way(begin: str, end: str, waits: Sequence[Wait]) -> list[Wait] | None:
    """The shortest way from one to another; None if there is none."""
    ways: dict[str, list[Wait]] = {begin: []}
    queue = deque([begin])
    while queue:
        here = queue.popleft()
        if here == end:
            return ways[here]
        for each in waits:
            if each.waiter == here and each.on not in ways:
                ways[each.on] = [*ways[here], each]
                queue.append(each.on)
    return None


def _chain(who: str, waits: Sequence[Wait]) -> list[Wait]:
    """The way from somebody to the first who waits for nobody, where there is no cycle."""
    waiters = {each.waiter for each in waits}
    ends = dict.fromkeys(each.on for each in waits if each.on not in waiters)
    ways = [way for way in (_way(who, end, waits) for end in ends) if way]
    return min(ways, key=len)


def _told(way: Sequence[Wait]) -> str:
    steps = [f"{_name(way[0].waiter)} waits for {_name(way[0].on)} ({REASONS[way[0].reason]})"]
    steps += [f"which waits for {_name(each.on)} ({REASONS[each.reason]})" for each in way[1:]]
    return ", ".join(steps)


def _name(process: str) -> str:
    """The words for a process."""
    who, _, number = process.partition("-")
    if who == "service":
        return "the coordination service"
    if who in ("producer", "consumer"):
        return f"the {who} of partition {number}"
    if who == "controller":
        return f"the controller on broker {number}"
    return f"broker {number}" if who == "broker" else "an operator"
