"""Designs with known verdicts, as machines: what ``checkvalve verify design`` decides.

Akka's documentation on graph cycles (A1 to A6) has one loop, in which a broadcast feeds back
what a merge or a zip has passed on; what differs is the feedback. In the ring, each of three
tasks passes on what it takes, so its tokens are conserved: it is deadlocked exactly when it has
none, or no slot is free (Commoner 1971). They are written as designs, and translated as
every design is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import cast

from ...expectations import Expectation, expect
from ...notation import Machine, const, table
from ...notation.labels import counted
from ..reading.language import Design, Flow, Kind, Link, Merging, Task
from .places import Unbounded
from .builder import Aim
from .translate import translate

__all__ = ["expectations"]

SLOTS = (2, 2, 1)
"""The capacities of the ring's links: five slots for its elements."""


def _design(tasks: list[Task], links: list[Link]) -> Design:
    return Design("known", "", {t.name: t for t in tasks}, {k.name: k for k in links}, {})


def _loop(entry: Task, feedback: Link) -> Design:
    """A source, an entry that takes from it and from the feedback, a broadcast, a sink."""
    return _design(
        [Task("source", Kind.SOURCE), entry, Task("broadcast", Kind.BROADCAST),
         Task("sink", Kind.SINK)],
        [Link("in", ("source",), ("entry",)), Link("through", ("entry",), ("broadcast",)),
         feedback, Link("out", ("broadcast",), ("sink",))],
    )


FEEDBACK = Link("feedback", ("broadcast",), ("entry",))
MERGE = Task("entry", Kind.MERGE)
PREFERRING = replace(MERGE, merging=Merging.PREFERRED, prefers="feedback")
ZIP = Task("entry", Kind.ZIP)


def _ring(held: int, flow: Flow = Flow.BLOCKING) -> Design:
    """Three tasks in a ring that holds so many elements at the start, the first links full."""
    names = ("a", "b", "c")
    links = []
    for here, there, room in zip(names, ("b", "c", "a"), SLOTS, strict=True):
        links.append(Link(f"{here}->{there}", (here,), (there,), capacity=room,
                          initial=min(held, room), flow=flow))
        held -= min(held, room)
    return _design([Task(name, Kind.MAP) for name in names], links)


def _constant(value: int | tuple[object, ...]) -> object:
    return const(value) if isinstance(value, int) else table(value)


def _machine(net: type[Machine], name: str, design: Design, aim: Aim) -> type[Machine]:
    """The net of a design as a machine of its own; its constants are the design's table."""
    constants = translate(design, aim).constants()
    found = type(name, (net,), {
        "__module__": net.__module__, "__doc__": f"The design {name} as a net.",
        **{key: _constant(value) for key, value in constants.items()},
    })
    return cast("type[Machine]", found)


def _loops(net: type[Machine]) -> Iterator[Expectation]:
    """The rows of a merge or zip with a feedback, one for each policy that the documentation of
    streams proposes for its full loop."""
    dropping, failing = (replace(FEEDBACK, flow=f) for f in (Flow.DROP_OLDEST, Flow.FAIL))
    unbounded = replace(FEEDBACK, flow=Flow.UNBOUNDED, capacity=None)
    growing = Aim(Unbounded(8, abstract=False))
    rows: list[tuple[str, str, str, str, Task, Link, Aim]] = [
        ("A1Blocking", "DESIGN-1", "violated", "the feedback waits for a slot", MERGE, FEEDBACK,
         Aim()),
        ("A2Preferred", "DESIGN-1", "holds", "the merge prefers the feedback", PREFERRING,
         FEEDBACK, Aim()),
        ("A2Watched", "DESIGN-3", "violated", "the preferred merge starves its source", PREFERRING,
         FEEDBACK, Aim(watch="source")),
        ("A3Dropping", "DESIGN-1", "holds", "the feedback drops its oldest", MERGE, dropping,
         Aim()),
        ("A3Losing", "DESIGN-2", "violated", "the dropping feedback loses elements", MERGE,
         dropping, Aim(losses=True)),
        ("A4Failing", "DESIGN-1", "holds", "the feedback fails when full: never deadlocked", MERGE,
         failing, Aim()),
        ("A4Failed", "DESIGN-2", "violated", "the failing feedback does fail", MERGE, failing,
         Aim(failures=True)),
        ("A4Unbounded", "DESIGN-1", "holds", "the feedback is unbounded", MERGE, unbounded,
         Aim()),
        ("A4Growing", "DESIGN-2", "violated", "the unbounded feedback grows", MERGE, unbounded,
         growing),
        ("A5Zip", "DESIGN-1", "violated", "a zip with an empty loop never starts", ZIP,
         FEEDBACK, Aim()),
        ("A6Zip", "DESIGN-1", "holds", "with one element in the loop it continues forever", ZIP,
         replace(FEEDBACK, capacity=2, initial=1), Aim()),
    ]
    for name, rule, verdict, about, entry, feedback, aim in rows:
        yield expect(_machine(net, name, _loop(entry, feedback), aim), rule, verdict, about)


def _rings(net: type[Machine]) -> Iterator[Expectation]:
    slots = sum(SLOTS)
    for held in range(slots + 1):
        yield expect(
            _machine(net, f"RingOf{slots}Slots{held}Held", _ring(held), Aim()), "DESIGN-1",
            "violated" if held in (0, slots) else "holds",
            f"a ring with {counted(held, 'element')} in {slots} slots",
        )
    yield expect(_machine(net, "RingWithRoom", _ring(1, Flow.DROP_OLDEST), Aim(losses=True)),
                 "DESIGN-2", "holds", "a ring that drops its oldest loses nothing with room")
    yield expect(_machine(net, "RingWatched", _ring(1), Aim(watch="a")), "DESIGN-3", "holds",
                 "what goes round comes by again")


@cache
def expectations(net: type[Machine]) -> tuple[Expectation, ...]:
    """The expectations of these designs, each a machine that is a net."""
    return (*_loops(net), *_rings(net))
