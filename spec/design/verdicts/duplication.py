"""Duplication: whether a receiver can read an element of a sender more than once.

An element is copied where a task writes it to several links: a source, a broadcast, a zip. That is
no duplicate where each copy goes to a receiver of its own, or where they are joined again. So only
senders with somebody who copies on the ways to a receiver, of which there are several, are asked
about: by a search with one marked element, all copies of which are followed (``tags``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...verdicts.verdict import Outcome
from ..net.translate import Aim, translate
from ..reading.language import Design, Kind
from ..search.searching import Settings, finding_of, search
from ..why.findings import Finding
from .local import with_ends
from .order import ahead_of, counted_changes, doubtful_pairs
from .tags import MERGED, TWICE, NotTold, tagged

__all__ = ["DUPLICATION", "decide_duplication"]

DUPLICATION = "duplication"
"""The name of the property."""
RULE = "DESIGN-2"


def decide_duplication(parts: list[Design], settings: Settings) -> Finding:
    """Whether each receiver reads each element of each sender at most once."""
    asked = [(part, *pair, who) for part in parts for pair in doubtful_pairs(part)
             if (who := tuple(_copying(part, pair[0])))]
    if not asked:
        return Finding(DUPLICATION, Outcome.HOLDS,
                       "by construction: no copies of an element go to the same receiver")
    if settings.engine not in ("auto", "explorer"):
        return Finding(DUPLICATION, Outcome.UNKNOWN, settings.engine,
                       reason="only the engine `explorer` decides this property")
    worst = Finding(DUPLICATION, Outcome.HOLDS, "exhaustive, of all copies of one element")
    states = transitions = depth = 0
    for part, sender, receiver, who in asked:
        found = _of_pair(part, sender, receiver, who, settings)
        states, transitions = states + found.states, transitions + found.transitions
        depth = max(depth, found.depth)
        if found.outcome is not Outcome.HOLDS:
            worst = found
        if found.outcome is Outcome.VIOLATED:
            break
    return replace(worst, states=states, transitions=transitions, depth=depth)


def _copying(design: Design, sender: str) -> Iterator[str]:
    """Who writes one element to several links, on the ways of what a task sends."""
    passed = {writer for link in ahead_of(design, sender) for writer in link.writers}
    for name, task in design.tasks.items():
        if name in passed and task.kind not in (Kind.SCRIPT, Kind.ROUTE) and len(
                design.choices(name)) > 1:
            yield name


def _of_pair(
    design: Design, sender: str, receiver: str, who: tuple[str, ...], settings: Settings
) -> Finding:
    told = f"what {sender} sends to {receiver}"
    mixed = next((link.of for link in ahead_of(design, sender) if link.of), "")
    if mixed:
        return _unknown(f"{told} may pass {mixed}, whose elements are counted kind by kind, and "
                        "are not told apart; next, ask it of one kind")
    finite = with_ends(design)
    if finite is None:
        return _unknown(f"{told} passes an unbounded link")
    plain = translate(finite, Aim())
    try:
        table = tagged(finite, plain, sender, receiver, TWICE)
        found = finding_of(finite, table, RULE, search(table, RULE, settings))
        if found.outcome is Outcome.HOLDS:
            merged = search(tagged(finite, plain, sender, receiver, MERGED), RULE, settings)
            if merged.outcome is not Outcome.HOLDS:
                return _unknown(f"{told}: two copies may be in one queue or hand at once, and only "
                                "one of them is followed")
    except NotTold as why:
        return _unknown(f"{told}: {why}")
    if found.outcome is Outcome.VIOLATED:
        return replace(found, contents=(), changes=counted_changes(found, plain),
                       between=(sender, receiver), reason=(
            f"{receiver} reads an element of {sender} again, which {' or '.join(who)} copied"))
    if found.outcome is Outcome.UNKNOWN:
        return replace(found, reason=f"{told}: {found.reason}; next, give it more time or states, "
                                     "or ask about smaller capacities")
    return found


def _unknown(why: str) -> Finding:
    return Finding(DUPLICATION, Outcome.UNKNOWN, "search, not begun", reason=why)
