"""Links with a reader that calls "stop" when it is nearly full, and "go" later on.

FLOW-40 in numbers of elements instead of ticks (see ``spec/flow/squelch.py``): once there are more
than ``stop`` elements, at most ``lag`` more are written before the call works: what is under way,
and what the writer sends until it hears. In R * (F + B) ticks at R elements a tick the one that
passed the mark is the first of those, so the lag is one less. A writer that writes less than that
while the call is under way has heard it before: then the rest of the lag runs out by itself. When
it has run out and there are ``go`` elements or fewer, the reader calls go. A lost stop is made good
when the link is empty enough to call go; a lost go by nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..reading.language import Flow
from .places import LinkPlaces
from .rows import FAILED, Effect, Invariant, Place, Row

__all__ = ["invariant", "is_stopped", "lost_go", "own_rows", "places", "writes"]


def _leave(of: LinkPlaces) -> str:
    """1 while the writer may write."""
    return f"leave to write {of.link.name}"


def _late(of: LinkPlaces) -> str:
    """The place for the elements that may still come, though stop was called."""
    return f"elements still to come on {of.link.name}"


def _called(of: LinkPlaces) -> str:
    """1 from the call of stop to that of go."""
    return f"stop called on {of.link.name}"


def _unheard(of: LinkPlaces) -> str:
    """1 while the reader takes it that a stop works which was lost."""
    return f"stop of {of.link.name} was lost"


def lost_go(link: str) -> str:
    """The place that is 1 once a go was lost: no task ever says it again."""
    return f"go of {link} was lost"


def places(of: LinkPlaces) -> Iterator[Place]:
    """The places besides those of the elements, and of what may be lost."""
    name, lag = of.link.name, of.link.lag
    yield Place(_leave(of), "permits", name, 1, 1, 1, 1)
    yield Place(_late(of), "permits", name, 0, lag, lag, lag)
    yield Place(_called(of), "freed", name, 0, 1, 1, 1)
    if of.link.lossy:
        yield Place(_unheard(of), "freed", name, 0, 1, 1, 1)
        yield Place(lost_go(of.link.name), "freed", name, 0, 1, 1, 1)


def invariant(of: LinkPlaces) -> Invariant:
    """The writer may write, or was stopped, or will never hear that it may."""
    weights = {_leave(of): 1, _called(of): 1}
    return Invariant(weights | {lost_go(of.link.name): 1} if of.link.lossy else weights, 1)


def is_stopped(of: LinkPlaces) -> Effect:
    """Nothing can be written."""
    return Effect(at_most={_leave(of): 0, _late(of): 0})


def writes(of: LinkPlaces) -> Iterator[Effect]:
    """Every way to write one element."""
    link, words = of.link, f"writes to {of.link.name}"
    lossy = link.lossy > 0
    heard = {_unheard(of): 0} if lossy else {}
    yield Effect({_leave(of): 1}, {of.queue: link.stop - 1, **heard}, {of.queue: 1}, (words,))
    call = {_leave(of): -1, _called(of): 1} | ({_late(of): link.lag} if link.lag else {})
    yield from _put(of, Effect({_leave(of): 1, of.queue: link.stop}, heard, call,
                               (f"{words}, which calls stop",)))
    if link.lag:
        yield from _put(of, Effect({_late(of): 1}, {}, {_late(of): -1},
                                   (f"{words}, which has called stop",)))
    if lossy:
        loss = {of.budget: -1, _unheard(of): 1}
        lost = Effect({_leave(of): 1, of.queue: link.stop, of.budget: 1}, heard, loss,
                      (f"{words}, which calls stop, but that is lost",), fair=False)
        yield from _put(of, lost)
        yield from _put(of, Effect({_leave(of): 1, _unheard(of): 1}, words=(words,)))


def _put(of: LinkPlaces, way: Effect) -> Iterator[Effect]:
    """The way with its element, if there is a free slot, and with what happens to it if there is
    none."""
    link, room = of.link, of.capacity
    yield way.then(Effect({}, {of.queue: room - 1}, {of.queue: 1}))
    if room > link.stop + link.lag and not link.lossy:
        return
    full, here = {of.queue: room}, frozenset({of.queue})
    if link.full is Flow.FAIL:
        yield way.then(Effect(full, {}, {FAILED: 1}, (f"overflows {link.name}, which fails",),
                              overflows=here))
    else:
        dropped = "its oldest" if link.full is Flow.DROP_OLDEST else "the"
        yield way.then(Effect(full, full, {}, (f"is full and drops {dropped} element",),
                              loses=True, overflows=here))


def own_rows(of: LinkPlaces) -> Iterator[Row]:
    """The rows of the link itself."""
    link = of.link
    reader, writer = link.readers[0], link.writers[0]
    if link.lag:
        yield Row(writer, Effect({_late(of): 1}, {}, {_late(of): -1}, (
            f"hears that it is to stop writing to {link.name}",)), own=False)
    low = {of.queue: link.go, _late(of): 0}
    words = f"calls go on {link.name}"
    yield Row(reader, Effect({_called(of): 1}, low, {_called(of): -1, _leave(of): 1}, (words,)),
              own=False)
    if link.lossy:
        yield Row(reader, Effect({_called(of): 1, of.budget: 1}, low,
                                 {_called(of): -1, of.budget: -1, lost_go(of.link.name): 1},
                                 (f"{words}, which is lost",), fair=False), own=False)
        yield Row(reader, Effect({_unheard(of): 1}, {of.queue: link.go}, {_unheard(of): -1},
                                 (f"{words}, although no writer was stopped",)), own=False)
