"""The wait-for graph of a cluster that makes no progress, as a cycle or as chains, in words.

A cluster reports its waits, each with its reason, before it reports its end. They are edges of a
graph. If there is a cycle, no process in it can continue, and the cycle is shown. Otherwise each
chain ends at a process that waits for no other, and could continue: the chain is shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from .port import REASONS

__all__ = ["CHAINS_MAX", "Wait", "cycle_in", "who_waits"]

CHAINS_MAX: Final = 3
"""The number of chains that are shown at most."""


class Wait(NamedTuple):
    """A process that waits for another, and the reason."""

    waiter: str
    on: str
    reason: str


def who_waits(waits: Sequence[Wait]) -> str:
    """A sentence about all waits of a cluster that stalls."""
    if not waits:
        return "the target does not report its waits"
    cycle = cycle_in(waits)
    if cycle:
        return f"the processes wait in a cycle: {_told(cycle)}"
    waited_for = {each.on for each in waits}
    first = [who for who in dict.fromkeys(each.waiter for each in waits) if who not in waited_for]
    chains = {chain[-1].on: chain for chain in (_chain(who, waits) for who in reversed(first))}
    told = [f"{_told(chain)}, which waits for no other process"
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
    """The shortest path from one process to another; None if there is none."""
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
    """The path from a process to the first that waits for no other, if there is no cycle."""
    waiters = {each.waiter for each in waits}
    ends = dict.fromkeys(each.on for each in waits if each.on not in waiters)
    ways = [way for way in (_way(who, end, waits) for end in ends) if way]
    return min(ways, key=len)


def _told(way: Sequence[Wait]) -> str:
    steps = [f"{_name(way[0].waiter)} waits for {_name(way[0].on)} ({REASONS[way[0].reason]})"]
    steps += [f"which waits for {_name(each.on)} ({REASONS[each.reason]})" for each in way[1:]]
    return ", ".join(steps)


def _name(process: str) -> str:
    """The words for a process in a chain."""
    who, _, number = process.partition("-")
    if who == "service":
        return "the coordination service"
    if who in ("producer", "consumer"):
        return f"the {who} of partition {number}"
    if who == "controller":
        return f"the controller on broker {number}"
    return f"broker {number}" if who == "broker" else "an operator"
