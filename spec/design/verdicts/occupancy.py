"""The largest number of elements that is ever in each link.

Where all states of a part were visited, it is the largest in any of them. Else it is a proved
bound: what a sum that no step raises allows (``bounds``), or what fits. A few runs are cheaper than
a sum, and no sum is looked for of a link that they fill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...verdicts.deadline import Spent
from ...verdicts.verdict import Outcome
from ..equations.bounds import bounds
from ..net.builder import Aim
from ..net.translate import translate
from ..reading.language import Design, Flow
from ..search.runs import Runs
from ..why.findings import Finding
from .local import Spaces

__all__ = ["largest"]

MAX_SUMS = 24
"""Links of a part for which sums are looked for: each is a linear program."""
FILLING = 3_000
"""Steps of the runs that may fill a link: they take less than a linear program."""


def largest(finding: Finding, design: Design, spaces: Spaces) -> Finding:
    """The finding on boundedness, with how full each link of the design gets."""
    most = {link.name: link.capacity for link in design.links.values()
            if link.capacity and link.flow is not Flow.UNBOUNDED}
    most |= dict(finding.bounds)
    reached: set[str] = set()
    for place, section in enumerate(spaces.sections):
        exact = _exact(spaces, place)
        if exact is not None:
            most |= exact
            reached |= exact.keys()
        elif finding.outcome is not Outcome.VIOLATED:
            most |= _by_sums(section.design, spaces, most)
    order = [name for name in design.links if name in most]
    return replace(finding, bounds=tuple((name, most[name]) for name in order),
                   reached=frozenset(reached))


def _exact(spaces: Spaces, place: int) -> dict[str, int] | None:
    """The largest numbers in any state of a part; None where not all states are known."""
    space = spaces.of(place)
    if isinstance(space, str):
        return None
    tops = space.markings.max(axis=0)
    return {each.of: int(top) for each, top in zip(space.table.places, tops, strict=True)
            if each.role == "queue"}


def _by_sums(part: Design, spaces: Spaces, known: dict[str, int]) -> dict[str, int]:
    """The bounds that sums give, where these are less than what fits."""
    links = [link for link in part.links.values() if link.name in known]
    if len(links) > MAX_SUMS or spaces.settings.engine not in ("auto", "structure"):
        return {}
    deadline = spaces.settings.budget.deadline
    try:
        filled = _filled(part, deadline.watch("filling the links by a few runs"))
        links = [link for link in links if link.capacity is None or filled.get(
            link.name, 0) < min(link.capacity, known[link.name])]
        found = bounds(part, links, deadline.watch("looking for sums that bound the links"))[1]
    except Spent:
        return {}
    return {name: each.most for name, each in found.items() if each.most < known[name]}


def _filled(part: Design, watch: Callable[[], object]) -> dict[str, int]:
    """The largest number of elements that a few runs bring into each link, where all are bounded.
    ``watch`` is called now and then, and may raise.
    """
    if any(link.flow is Flow.UNBOUNDED for link in part.links.values()):
        return {}
    table = translate(part, Aim(), watch)
    queues = [(n, place.of) for n, place in enumerate(table.places) if place.role == "queue"]
    runs = Runs(table, watch, FILLING // 4)
    most = dict.fromkeys((link for _, link in queues), 0)
    for rows in runs.drawn(FILLING):
        marking = runs.start()
        for row in rows:
            runs.change(marking, row)
            for n, link in queues:
                most[link] = max(most[link], marking[n])
    return most
