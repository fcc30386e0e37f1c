"""Links of capacity 0: a writer and a reader of one take their steps at the same time.

Both must be ready before that, each for itself: room that one makes by its step is none for the
other. Where both take from one counter there must be enough for both, and where both add to it,
room for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from .system import Transition, NotCovered

__all__ = ["meeting_at"]

MAX_TRANSITIONS = 50_000
"""Transitions that the meetings of a design are made of at most."""


def meeting_at(link: str, transitions: Sequence[Transition]) -> list[Transition]:
    """The transitions, with those that write to the link joined to those that read from it."""
    writers = [transition for transition in transitions if (link, True) in transition.meets]
    readers = [transition for transition in transitions if (link, False) in transition.meets]
    if len(writers) * len(readers) > MAX_TRANSITIONS:
        raise NotCovered(f"more than {MAX_TRANSITIONS:,} ways to meet at one link")
    alone = [each for each in transitions if not {(link, True), (link, False)} & each.meets]
    found = [*alone, *(_both(link, writer, reader) for writer in writers for reader in readers
                       if not {*writer.tasks} & {*reader.tasks})]
    return [each for transition in found for each in _unless(link, transition, writers)]


def _both(link: str, writer: Transition, reader: Transition) -> Transition:
    """Two moves at the same time."""
    return Transition(
        need=_asked(max, -1, (writer, writer.need, reader), (reader, reader.need, writer)),
        room=_asked(min, 1, (writer, writer.room, reader), (reader, reader.room, writer)),
        add={name: writer.add.get(name, 0) + reader.add.get(name, 0)
             for name in {**writer.add, **reader.add}},
        fails=writer.fails or reader.fails, wastes=writer.wastes or reader.wastes,
        chance=writer.chance or reader.chance, tasks=(*writer.tasks, *reader.tasks),
        flow=(*writer.flow, *reader.flow), over=writer.over | reader.over,
        meets=(writer.meets | reader.meets) - {(link, True), (link, False)},
        unless=writer.unless | reader.unless)


def _asked(
    stronger: Callable[[int, int], int], sign: int,
    *sides: tuple[Transition, Mapping[str, int], Transition],
) -> dict[str, int]:
    """The amounts that both ask of each counter, with what the other one takes there (or adds) as
    well; one that finds a counter too full finds it so with what the other adds."""
    found: dict[str, int] = {}
    for mine, asked, other in sides:
        for name, number in asked.items():
            by = other.add.get(name, 0)
            both = mine.add.get(name, 0) * sign > 0 and by * sign > 0
            number -= by if both or (name in mine.over and by > 0) else 0
            found[name] = stronger(number, found.get(name, number))
    return found


def _unless(
    link: str, transition: Transition, writers: Sequence[Transition]
) -> Iterator[Transition]:
    """The transitions in place of one that needs no writer to be ready: one for each reason why
    none is."""
    if link not in transition.unless:
        yield transition
        return
    if any(writer.meets != {(link, True)} or writer.unless for writer in writers):
        raise NotCovered("a preference for a link of capacity 0 with writers that meet others, too")
    reasons = [[*((name, number, True) for name, number in writer.need.items() if number > 0),
                *((name, number, False) for name, number in writer.room.items())]
               for writer in writers]
    for reason in product(*reasons):
        bare = transition.copy()
        bare.unless = transition.unless - {link}
        for name, number, lacks in reason:
            if lacks:
                bare.room[name] = min(number - 1, bare.room.get(name, number - 1))
            else:
                bare.need[name] = max(number + 1, bare.need.get(name, number + 1))
        yield bare
