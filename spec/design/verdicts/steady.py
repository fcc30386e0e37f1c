"""Liveness by structure: parts without cycles in which nothing has to meet, for all capacities.

**Which parts.** The links lead from task to task without a cycle. Each has one writer, one
reader, elements of one kind, moved one at a time, room for one at least, and flow control by room
or by credit, or none; nothing is lost. Tasks are sources, sinks, maps, filters, broadcasts,
routes and merges that take their inputs in turn. They have threads of their own and never cease
to run. A task that decides where an element goes writes it to one link.

**Claim.** In every weakly fair run, what is in a link is read again, what a task holds is
written, and a source writes again until it is done; whatever the capacities are.

**Why.** By induction from the last tasks to the first. Let it be so of all links that a task
writes. *A full one gets a free slot:* it holds an element, or all its freed slots are unannounced.
In the first case it is read, and again, as long as it is full; with credit that ends in the second
case, in which a batch can be announced, and stays so until it is. And room stays, as the task is
the only writer. *So a write that the task holds an element for becomes possible and stays so,*
until it, or another that is for the same element, is made. *So a read becomes possible and stays
so:* the hand gets free, the element is there, and the task is the only reader. A merge in turn
reads the first input from its turn on that has something; while it does not read, inputs only
gain elements, so which one that is changes at most as often as it has inputs; and each read of
another input brings the turn nearer to this one. *A source's write* is possible when all its
links have a free slot, and stays so.

A task *starves* unless it is fed. A source without a count is; what is written at each step of a
fed task is a fed link; a task is fed that reads a fed link. Were it to read only finitely often,
its link would hold an element after the last time, and what is in a link is read again.
"""

from __future__ import annotations

from ..reading.language import Design, Flow, Kind, Link, Merging, Mortality, Routing, Task

__all__ = ["FOR_ALL", "PROOF", "goes_on", "is_fed"]

FOR_ALL = "for all capacities"
PROOF = (f"{FOR_ALL}: no cycle of tasks, each link has one writer and one reader, and "
         "nothing waits for two at once")

_KINDS = {Kind.SOURCE, Kind.SINK, Kind.MAP, Kind.FILTER, Kind.BROADCAST, Kind.ROUTE, Kind.MERGE}
_FLOWS = {Flow.BLOCKING, Flow.UNBOUNDED, Flow.CREDIT, Flow.STOP_AND_WAIT}
_GIVE_ALL = {Kind.SOURCE, Kind.MAP, Kind.BROADCAST, Kind.MERGE}


def goes_on(part: Design) -> bool:
    """True if the claim is about this part: every source and every element continues."""
    return (all(_is_plain(link) for link in part.links.values())
            and all(_is_steady(part, task) for task in part.tasks.values())
            and _in_order(part) is not None)


def is_fed(part: Design, task: str) -> bool:
    """True if the task takes steps forever, in a part that the claim is about."""
    order = _in_order(part) if goes_on(part) else None
    if order is None:
        return False
    fed: set[str] = set()  # tasks, each after those that it reads from
    for name in order:
        here = part.tasks[name]
        if here.kind is Kind.SOURCE:
            if here.count is None:
                fed.add(name)
        elif any(_gives(part, link, fed) for link in part.inputs(name)):
            fed.add(name)
    return task in fed


def _gives(part: Design, link: Link, fed: set[str]) -> bool:
    """True if a fed task writes the link at each of its steps."""
    writer, = link.writers
    return writer in fed and part.tasks[writer].kind in _GIVE_ALL and (link,) in [
        tuple(choice) for choice in part.choices(writer)]


def _is_plain(link: Link) -> bool:
    return (len(link.writers) == len(link.readers) == 1 and link.flow in _FLOWS
            and link.capacity != 0 and link.gives == link.takes == 1 and not link.lossy
            and not (link.kind or link.kinds or link.of or link.room)
            and (link.capacity is None or link.batch <= link.capacity))


def _is_steady(part: Design, task: Task) -> bool:
    choices = part.choices(task.name)
    decides = task.kind is Kind.ROUTE or any(len(choice) > 1 for choice in choices)
    return (task.kind in _KINDS and not task.pool and task.may is Mortality.GOES_ON
            and not task.takes and not task.gives
            and (task.kind is not Kind.MERGE or task.merging is Merging.FAIR)
            and (not decides or task.kind is Kind.ROUTE or len(choices) == 1)
            and (task.routing is Routing.CONTENT or task.kind is Kind.ROUTE)
            and (task.kind is Kind.SINK) is (not choices)
            and (task.kind is Kind.SOURCE) is (not part.inputs(task.name)))


def _in_order(part: Design) -> list[str] | None:
    """The tasks, each after those that it reads from; None where there is a cycle."""
    left = {name: len(part.inputs(name)) for name in part.tasks}
    ready = [name for name, count in left.items() if not count]
    found = []
    while ready:
        found.append(ready.pop())
        for link in part.outputs(found[-1]):
            for reader in link.readers:
                left[reader] -= 1
                if not left[reader]:
                    ready.append(reader)
    return found if len(found) == len(part.tasks) else None
