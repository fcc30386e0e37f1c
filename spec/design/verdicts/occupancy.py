"""The largest number of elements that is ever in each link.

Where all states of a part were visited, it is the largest in any of them. Else it is a proved
bound: what a sum that no step raises allows (``bounds``), or what fits.
"""

from __future__ import annotations

from dataclasses import replace

from ...verdicts.deadline import OutOfTime
from ...verdicts.verdict import Outcome
from ..equations.bounds import bounds
from ..reading.language import Design, Flow
from ..why.findings import Finding
from .local import Spaces

__all__ = ["largest"]

MAX_SUMS = 24
"""Links of a part for which sums are looked for: each is a linear program."""


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
    """What sums allow, where that is less than fits."""
    links = [link for link in part.links.values() if link.name in known]
    if len(links) > MAX_SUMS or spaces.settings.engine not in ("auto", "structure"):
        return {}
    deadline = spaces.settings.budget.deadline
    try:
        found = bounds(part, links, deadline.watch("looking for sums that bound the links"))[1]
    except OutOfTime:
        return {}
    return {name: each.most for name, each in found.items() if each.most < known[name]}
