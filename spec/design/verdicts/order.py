"""Order: whether a receiver can read a later element of a sender before an earlier one.

Senders are sources and the scripts that write, receivers are sinks and the scripts that read; in
between, what a task reads continues in what it writes. Each link is first in, first out. So order
can only be lost where there are two ways from the sender to the receiver (a route and a merge,
copies, a loop), or on a path through a task with several threads in hand. For each such pair the
engines are asked whether it is lost, in the design with two marked elements (``tags``).

Where links are large, or have no end, the search would not come to its end. So it is asked first in
a smaller design, with no runs but the design's, and then where positions in those links are
forgotten, which has all the runs of the design (``large``, ``tags``): a violation of the first is
one, what holds in the second holds. As the second has no shorter violation than the design, a
violation of the first that is no longer is a shortest one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace

from ...verdicts.verdict import Outcome
from ..net.rows import Table
from ..net.builder import Aim
from ..net.translate import translate
from ..reading.language import Design, Kind, Link
from ..reading.properties import ORDERED
from ..search.large import cut, fitted, large
from ..search.searching import Settings, finding_of, search
from ..why.findings import Finding, worst_of
from .local import with_ends
from .steady import FOR_ALL
from .tags import NotTold, tagged

__all__ = ["ahead_of", "decide_order", "doubtful_pairs", "told_of_pair"]

RULE = "DESIGN-2"
"""No place passes its limit: that of a second element that was received first is 0."""


def decide_order(parts: list[Design], settings: Settings) -> Finding:
    """Decide whether each receiver reads the elements of each sender in their order."""
    pairs = [(part, *pair) for part in parts for pair in doubtful_pairs(part)]
    if not pairs:
        return Finding(ORDERED, Outcome.HOLDS,
                       "by construction: one way from each sender to each receiver")
    if settings.engine not in ("auto", "explorer"):
        return Finding(ORDERED, Outcome.UNKNOWN, settings.engine,
                       reason="only the engine `explorer` decides this property")
    holds = Finding(ORDERED, Outcome.HOLDS, "exhaustive, of two marked elements")
    return worst_of(holds, (_of_pair(*pair, settings) for pair in pairs))


def _of_pair(design: Design, sender: str, receiver: str, settings: Settings) -> Finding:
    watch = settings.budget.deadline.watch("telling two elements apart from all others")

    def ask(finite: Design, plain: Table, loose: Collection[str] = ()) -> Finding:
        table = tagged(finite, plain, sender, receiver, watch=watch, loose=loose)
        return finding_of(finite, table, RULE, search(table, RULE, settings))

    mixed = next((link.of for link in ahead_of(design, sender) if link.of and not link.in_line), "")
    hint = f"; any kind is taken from {mixed}, of which `take: head` would keep the order"
    return told_of_pair(
        ORDERED, design, sender, receiver, ask,
        f"{receiver} reads the second of two elements of {sender} before the first"
        f"{hint if mixed else ''}", settings, ask)


def told_of_pair(
    about: str, design: Design, sender: str, receiver: str,
    ask: Callable[[Design, Table], Finding], violated: str, settings: Settings,
    forgetting: Callable[[Design, Table, Collection[str]], Finding] | None = None,
) -> Finding:
    """The answer of a search with marked elements of a sender, ``about`` a property.

    ``ask`` is given the design without unbounded links, and its table without marks, and may raise
    NotTold; where it finds a run, ``violated`` says what that shows. ``forgetting`` does the same
    without the positions in some links.
    """
    def unknown(why: str) -> Finding:
        return Finding(about, Outcome.UNKNOWN, "search, not begun", reason=told + why)

    told = f"what {sender} sends to {receiver}"
    watch = settings.budget.deadline.watch("looking for an order that is lost")
    wide = [link.name for link in large(design)]
    finite = cut(design)
    found = _in_smaller(finite, wide, ask, forgetting, watch) if wide else None
    if found is None:
        ended = with_ends(design)
        if ended is None:
            return unknown(" passes an unbounded link")
        finite = fitted(ended, watch)
        try:
            found = ask(finite, translate(finite, Aim(), watch))
        except NotTold as why:
            return unknown(f": {why}")
    if found.outcome is Outcome.VIOLATED:
        counted = {place.name for place in translate(finite, Aim(), watch).places}
        changes = tuple({name: by for name, by in step.items() if name.split(" = ")[0] in counted}
                        for step in found.changes)
        return replace(found, contents=(), changes=changes, between=(sender, receiver),
                       reason=violated)
    if found.outcome is Outcome.UNKNOWN:
        return replace(found, reason=f"{told}: {found.reason}; next, give it more time or states, "
                                     "or ask about smaller capacities")
    return found


def _in_smaller(
    smaller: Design, wide: list[str], ask: Callable[[Design, Table], Finding],
    forgetting: Callable[[Design, Table, Collection[str]], Finding] | None,
    watch: Callable[[], None],
) -> Finding | None:
    """The answer with small capacities, or with none in particular; None where neither decides."""
    plain = translate(smaller, Aim(), watch)
    coarse = found = None
    with suppress(NotTold):
        found = ask(smaller, plain)
    is_lost = found is not None and found.outcome is Outcome.VIOLATED
    if forgetting is not None:
        with suppress(NotTold):
            coarse = forgetting(smaller, plain, wide)
    if found is not None and is_lost:
        return replace(found, is_shortest=coarse is not None and
                       coarse.outcome is Outcome.VIOLATED and
                       len(coarse.steps) == len(found.steps))
    if coarse is not None and coarse.outcome is Outcome.HOLDS:
        links = ", ".join(wide[:3]) + (f" and {len(wide) - 3:,} more" if len(wide) > 3 else "")
        return replace(coarse, method=f"exhaustive, of two marked elements, {FOR_ALL} of {links}")
    return None


# --- by construction --------------------------------------------------------------------------

def doubtful_pairs(design: Design) -> Iterator[tuple[str, str]]:
    """The senders and receivers between which order may be lost."""
    senders = [t.name for t in design.tasks.values()
               if t.kind in (Kind.SOURCE, Kind.SCRIPT) and design.outputs(t.name)]
    for sender in senders:
        ahead = ahead_of(design, sender)
        for task in dict.fromkeys(reader for link in ahead for reader in link.readers):
            if design.tasks[task].kind in (Kind.SINK, Kind.SCRIPT) and not _one_way(
                    design, sender, task, ahead):
                yield sender, task


def ahead_of(design: Design, sender: str) -> list[Link]:
    """The links that what a task sends may pass."""
    found: dict[str, Link] = {}
    waiting = design.outputs(sender)
    while waiting:
        link = waiting.pop()
        if link.name not in found:
            found[link.name] = link
            for reader in link.readers:
                if design.tasks[reader].kind not in (Kind.SINK, Kind.SCRIPT):
                    waiting += design.outputs(reader)
    return list(found.values())


def _one_way(design: Design, sender: str, receiver: str, ahead: list[Link]) -> bool:
    """True if all that goes from one to the other goes one way, one after another: backwards from
    the receiver each task has one link, and each link one writer, among those of the sender.
    """
    here, seen = receiver, {receiver}
    while True:
        links = [link for link in ahead if here in link.readers]
        if len({link.queue if link.in_line else link.name for link in links}) != 1:
            return False
        writers = {task for each in links for task in each.writers
                   if task == sender or any(task in link.readers for link in ahead)}
        if len(writers) != 1 or writers & seen:
            return False
        here, = writers
        seen.add(here)
        if here == sender:
            return True
        task = design.tasks[here]
        decides = any(link.in_line for link in design.outputs(here))  # about each kind by itself
        if task.kind in (Kind.SINK, Kind.SCRIPT) or ((task.pool or decides) and task.hand > 1):
            return False
