"""A small change that makes a stuck design live, found by trying and checking it.

Only changes of one thing are tried: more room in a link, one more element in it at the
start, more threads in a pool, or dropping the oldest element. What is proposed has been
checked; that nothing smaller helps has not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..engines.verdict import Budget, Outcome
from .findings import Finding
from .language import Design, Flow, Link

__all__ = ["repair"]

MAX_SECONDS = 3.0
MAX_STATES = 20_000
MAX_PLACES_TRIED = 6

Change = Callable[[int], Design]


def repair(design: Design, finding: Finding) -> str:
    """A sentence that names a change with which the design is never stuck, or nothing."""
    deadline = time.monotonic() + MAX_SECONDS
    for describe, change, most in _candidates(design, finding):
        amount = _least(change, most, deadline)
        if amount:
            return describe(amount)
        if time.monotonic() > deadline:
            break
    return ""


def _least(change: Change, most: int, deadline: float) -> int:
    """The least amount that helps, if growing amounts help ever more; 0 if none was found."""
    good, bad, amount = 0, 0, 1
    while amount <= most and not good:
        if time.monotonic() > deadline:
            return 0
        if _is_live(change(amount)):
            good = amount
        else:
            bad, amount = amount, amount * 2
    while good - bad > 1 and time.monotonic() < deadline:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if _is_live(change(middle)) else (good, middle)
    return good


def _is_live(design: Design) -> bool:
    from .check import Part, Settings, decide_deadlock, parts
    settings = Settings(budget=Budget(max_seconds=MAX_SECONDS / 2, max_states=MAX_STATES))
    return all(
        decide_deadlock(Part.of(part), settings).outcome is Outcome.HOLDS
        for part in parts(design)
    )


def _candidates(
    design: Design, finding: Finding
) -> Iterator[tuple[Callable[[int], str], Change, int]]:
    """What to try, the least invasive first: (how to say it, how to do it, up to how much)."""
    waits = list(dict.fromkeys((*finding.cycle, *finding.waits)))
    links = _named(design, [w.where for w in waits if w.what == "room"])
    for link in links:
        if link.capacity is not None and link.flow is not Flow.STOP_AND_WAIT:
            yield _more_room(design, link)
    for name in dict.fromkeys(w.where for w in waits if w.what == "a thread"):
        yield _more_threads(design, name)
    for link in _named(design, [w.where for w in waits if w.what == "data"]):
        if link.capacity is None or link.initial < link.capacity:
            yield _more_at_the_start(design, link)
    for link in links:
        if link.flow is Flow.BLOCKING and not link.lossy and link.gives <= link.takes:
            yield _dropping(design, link)


def _named(design: Design, names: list[str]) -> list[Link]:
    return [design.links[name] for name in dict.fromkeys(names)][:MAX_PLACES_TRIED]


def _with_link(design: Design, link: Link) -> Design:
    return replace(design, links={**design.links, link.name: link})


def _more_room(design: Design, link: Link) -> tuple[Callable[[int], str], Change, int]:
    old = link.capacity or 0
    return (
        lambda n: f"give {link.name} a capacity of {old + n} (it has {old})",
        lambda n: _with_link(design, replace(link, capacity=old + n)),
        max(8, 2 * old),
    )


def _more_threads(design: Design, name: str) -> tuple[Callable[[int], str], Change, int]:
    pool = design.pools[name]
    return (
        lambda n: f"give the pool {name} {pool.threads + n} threads (it has {pool.threads})",
        lambda n: replace(
            design, pools={**design.pools, name: replace(pool, threads=pool.threads + n)}),
        max(8, 2 * pool.threads),
    )


def _more_at_the_start(design: Design, link: Link) -> tuple[Callable[[int], str], Change, int]:
    room = 8 if link.capacity is None else link.capacity - link.initial
    return (
        lambda n: f"let {link.name} start with {link.initial + n} "
                  f"element{'s' if link.initial + n > 1 else ''} (it starts with {link.initial})",
        lambda n: _with_link(design, replace(link, initial=link.initial + n)),
        min(room, 8),
    )


def _dropping(design: Design, link: Link) -> tuple[Callable[[int], str], Change, int]:
    return (
        lambda _: f"let {link.name} drop its oldest element when it is full "
                  "(`flow: drop-oldest`), if elements may be lost",
        lambda _: _with_link(design, replace(link, flow=Flow.DROP_OLDEST)),
        1,
    )
