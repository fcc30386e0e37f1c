"""Duplicates: whether a receiver can read an element of a sender more than once.

An element is copied where a task writes it to several links: a source, a broadcast, a zip. That is
no duplicate where each copy goes to a receiver of its own, or where they are joined again. So only
senders with a copying task on the ways to a receiver, of which there are several, are asked
about: by a search with one marked element, all copies of which are followed (``tags``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...verdicts.verdict import Outcome
from ..net.rows import Table
from ..reading.language import Design, Kind
from ..reading.properties import NO_DUPLICATES
from ..search.searching import Settings, finding_of, search
from ..why.findings import Finding, worst_of
from .order import ahead_of, doubtful_pairs, told_of_pair
from .tags import MERGED, TWICE, NotTold, tagged

__all__ = ["decide_duplication"]

RULE = "DESIGN-2"


def decide_duplication(parts: list[Design], settings: Settings) -> Finding:
    """Decide whether each receiver reads each element of each sender at most once."""
    asked = [(part, *pair, who) for part in parts for pair in doubtful_pairs(part)
             if (who := tuple(_copying(part, pair[0])))]
    if not asked:
        return Finding(NO_DUPLICATES, Outcome.HOLDS,
                       "by construction: no copies of an element go to the same receiver")
    if settings.engine not in ("auto", "explorer"):
        return Finding(NO_DUPLICATES, Outcome.UNKNOWN, settings.engine,
                       reason="only the engine `explorer` decides this property")
    holds = Finding(NO_DUPLICATES, Outcome.HOLDS, "exhaustive, of all copies of one element")
    return worst_of(holds, (_of_pair(*each, settings) for each in asked))


def _copying(design: Design, sender: str) -> Iterator[str]:
    """The tasks that write one element to several links, on the ways of what a task sends."""
    passed = {writer for link in ahead_of(design, sender) for writer in link.writers}
    for name, task in design.tasks.items():
        if name in passed and task.kind not in (Kind.SCRIPT, Kind.ROUTE) and len(
                design.choices(name)) > 1:
            yield name


def _of_pair(
    design: Design, sender: str, receiver: str, who: tuple[str, ...], settings: Settings
) -> Finding:
    """Decide whether a receiver may read an element of a sender twice, by following two marked
    copies."""
    def ask(finite: Design, plain: Table) -> Finding:
        table = tagged(finite, plain, sender, receiver, TWICE)
        found = finding_of(finite, table, RULE, search(table, RULE, settings))
        if found.outcome is Outcome.HOLDS:
            merged = search(tagged(finite, plain, sender, receiver, MERGED), RULE, settings)
            if merged.outcome is not Outcome.HOLDS:
                raise NotTold("two copies may be in one queue or hand at once, and only one of "
                              "them is followed")
        return found

    return told_of_pair(
        NO_DUPLICATES, design, sender, receiver, ask,
        f"{receiver} reads an element of {sender} again, which {' or '.join(who)} copied",
        settings)
