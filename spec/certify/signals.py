"""Links with a reader that calls stop when they are nearly full, and go later (``flow: stop-go``).

A writer has leave to write. The write that finds ``stop`` elements makes the reader call stop: the
leave is gone, and ``lag`` more may come at most. When none is to come any more and ``go`` elements
are left, the reader calls go. Either call may be lost, as often as the link says. A writer that did
not hear a stop continues to write, until the reader would have called go; one that did not hear a
go never writes again.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..design.reading.language import Flow, Link
from .system import Counter, Transition

__all__ = ["calls_of", "counters_of", "stopped", "written"]


def _names(link: Link) -> tuple[str, str, str, str, str]:
    """Leave to write, what is still to come, stop was called, was lost, and a go was lost."""
    return (f"leave to write {link.name}", f"elements still to come on {link.name}",
            f"stop called on {link.name}", f"stop of {link.name} was lost",
            f"go of {link.name} was lost")


def counters_of(link: Link) -> dict[str, Counter]:
    """The counters besides those of the elements, and of what may be lost."""
    leave, coming, called, unheard, lost = _names(link)
    found = {leave: Counter(1, 1), coming: Counter(0, link.lag), called: Counter(0, 1)}
    return found | ({unheard: Counter(0, 1), lost: Counter(0, 1)} if link.lossy else {})


def stopped(link: Link, transition: Transition) -> Transition:
    """The same, where nothing can be written."""
    leave, coming, *_ = _names(link)
    return transition.fits(leave, 0).fits(coming, 0)


def written(link: Link, transition: Transition) -> Iterator[Transition]:
    """The same, and then one element is written, in each way that there is."""
    leave, coming, called, unheard, _ = _names(link)
    queue, budget = f"elements in {link.name}", f"possible losses on {link.name}"

    def heard() -> Transition:
        free = transition.copy().has(leave, 1)
        return free.fits(unheard, 0) if link.lossy else free

    yield heard().fits(queue, link.stop - 1).put(queue, 1).passes(queue, 1)
    calling = heard().has(queue, link.stop).put(leave, -1).put(called, 1)
    yield from _arrives(link, calling.put(coming, link.lag))
    if link.lag:
        yield from _arrives(link, transition.copy().take(coming, 1))
    if link.lossy:
        losing = heard().has(queue, link.stop).take(budget, 1).put(unheard, 1)
        losing.chance = True
        yield from _arrives(link, losing)
        yield from _arrives(link, transition.copy().has(leave, 1).has(unheard, 1))


def _arrives(link: Link, transition: Transition) -> Iterator[Transition]:
    """The element is there, or, where it may find no free slot, what the link says of that
    happens."""
    queue, most = f"elements in {link.name}", link.capacity
    assert most is not None
    yield transition.copy().fits(queue, most - 1).put(queue, 1).passes(queue, 1)
    if most > link.stop + link.lag and not link.lossy:
        return
    full = transition.copy().has(queue, most)
    full.over = transition.over | {queue}
    if link.full is Flow.FAIL:
        full.fails = True
    else:
        full.fits(queue, most).wastes = True
        if link.full is Flow.DROP_OLDEST:
            full.passes(queue, -1, lost=True).passes(queue, 1)
    yield full


def calls_of(link: Link) -> Iterator[Transition]:
    """The transitions that the link takes by itself."""
    leave, coming, called, unheard, lost = _names(link)
    queue, budget = f"elements in {link.name}", f"possible losses on {link.name}"
    if link.lag:
        yield Transition().take(coming, 1)
    calling = Transition().take(called, 1).fits(queue, link.go).fits(coming, 0)
    yield calling.copy().put(leave, 1)
    if link.lossy:
        losing = calling.take(budget, 1).put(lost, 1)
        losing.chance = True
        yield losing
        yield Transition().take(unheard, 1).fits(queue, link.go)
