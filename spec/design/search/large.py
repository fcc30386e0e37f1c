"""Large capacities: what is decided with smaller ones, and why that is right for all.

A search visits as many states as a link has capacity, to the power of the number of links. Three
things make it small. None of them is about links with free slots counted elsewhere (credit, slots
that kinds share), nor about those that do something else when they are full (drop, fail, stop), nor
about those that a script looks at to see whether they are full.

**Fitting** (exact). Let sums that no step raises show that a link never holds more than m elements,
and let g be the most that is written at once. Then with capacity m + g instead of C > m + g exactly
the same states are reached: in none of them is a write of up to g refused, or the link found full,
with either capacity; so each step is possible with both or with neither.

**Cutting** (a violation holds for larger capacities). Capacities are only asked about by *there is
a free slot*, so a step that is possible with a smaller one is with the larger one: a run of the
smaller design is a run of the larger one, and what it breaks, an order for example, is broken there
as well. Of a lasso this says that it can be made, not that it is fair: with more room, more steps
stay possible. So a lasso is replayed in the design itself, by the interpreter, which looks at that.

**Forgetting positions** (what holds, holds for all capacities) is about order alone; see ``tags``.

That no steps are missing or added for a reason of numbers is tested against the plain search, on
random small designs with capacities that are cut, fitted or forgotten (tests/test_design_large.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...notation.errors import InternalError
from ...verdicts.deadline import Deadline
from ...verdicts.verdict import Trace
from ..equations.bounds import bounds
from ..net.rows import Table
from ..reading.language import Design, Flow, Link, StepKind

__all__ = ["CUT", "LARGE", "cut", "fitted", "is_wide", "large", "replayed_in"]

LARGE = 16
"""The most that a link may hold which is searched as it is, before anything else is tried."""
CUT = 3
"""The capacity of a link that was cut, unless more is moved at once."""


def is_wide(design: Design) -> bool:
    """True if a link holds more than is searched before anything else, or any number."""
    return any(link.capacity is None or link.capacity > LARGE for link in design.links.values())


def large(design: Design) -> list[Link]:
    """The links that hold more than is searched before anything else, or any number, and of which
    the room alone is asked about."""
    watched = {step.target for task in design.tasks.values() if task.chooses
               for step in task.actions if step.kind is StepKind.WRITE}
    return [link for link in design.links.values()
            if (link.flow is Flow.UNBOUNDED
                or (link.flow is Flow.BLOCKING and (link.capacity or 0) > LARGE))
            and not (link.room or link.in_line or link.lossy) and link.name not in watched]


def _moved(design: Design, link: Link) -> int:
    """The most elements that are written to a link, or read, at once."""
    return max((*design.given(link), *design.taken(link), 1))


def cut(design: Design) -> Design:
    """The design with smaller capacities where they are large: all its runs are the design's."""
    links = dict(design.links)
    for link in large(design):
        room = max(link.initial, CUT, 2 * _moved(design, link))
        if link.capacity is None or room < link.capacity:
            links[link.name] = replace(link, flow=Flow.BLOCKING, capacity=room)
    return replace(design, links=links)


def fitted(design: Design, watch: Callable[[], object] = lambda: None) -> Design:
    """The design with capacities that are no larger than what sums let a link hold: with the same
    states. ``watch`` is called for each link, and may raise."""
    wide = [link for link in large(design) if link.capacity is not None]
    if not wide:
        return design
    known = bounds(design, wide, watch)[1]
    links = dict(design.links)
    for link in wide:
        if link.name in known:
            room = known[link.name].most + _moved(design, link)
            if link.capacity is not None and room < link.capacity:
                links[link.name] = replace(link, capacity=room)
    return replace(design, links=links)


def replayed_in(
    table: Table, smaller: Table, trace: Trace, rule: str, deadline: Deadline
) -> Trace | None:
    """The run of a smaller design, made in the one that ``table`` is of; None where that has other
    rows, or where it breaks the rule no more."""
    from ...engines.replay import trace_of
    from ...engines.search import instances
    from ...notation import bind
    from ..net.net import Net
    if [row.label for row in table.rows] != [row.label for row in smaller.rows]:
        return None
    bound = bind(Net, **table.constants())
    number = {step: n for n, step in enumerate(bound.interpreter.steps())}
    path = [number[step.action, step.args] for step in trace.steps]
    for item in instances(bound, rule):
        try:
            return trace_of(bound.interpreter, path, item, trace.loop, deadline)
        except InternalError:  # not of this instance, or no longer fair with more room
            continue
    return None
