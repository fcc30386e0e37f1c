"""Links without room: a writer and a reader of one take their steps at the same time.

Both must be ready before that, each for itself: room that one makes by its step is none for the
other. Where both take from one counter there must be enough for both, and where both add to it,
room for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from .system import Move, NotCovered

__all__ = ["meeting_at"]

MAX_MOVES = 50_000
"""Transitions that the meetings of a design are made of at most."""


def meeting_at(link: str, moves: Sequence[Move]) -> list[Move]:
    """The transitions, with those that write to the link joined to those that read from it."""
    writers = [move for move in moves if (link, True) in move.meets]
    readers = [move for move in moves if (link, False) in move.meets]
    if len(writers) * len(readers) > MAX_MOVES:
        raise NotCovered(f"more than {MAX_MOVES:,} ways to meet at one link")
    alone = [move for move in moves if not {(link, True), (link, False)} & move.meets]
    found = [*alone, *(_both(link, writer, reader) for writer in writers for reader in readers
                       if not {*writer.tasks} & {*reader.tasks})]
    return [each for move in found for each in _unless(link, move, writers)]


def _both(link: str, writer: Move, reader: Move) -> Move:
    """Two moves at the same time."""
    return Move(
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
    stronger: Callable[[int, int], int], sign: int, *sides: tuple[Move, Mapping[str, int], Move]
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


def _unless(link: str, move: Move, writers: Sequence[Move]) -> Iterator[Move]:
    """The transitions in place of one that needs no writer to be ready: one for each reason why
    none is."""
    if link not in move.unless:
        yield move
        return
    if any(writer.meets != {(link, True)} or writer.unless for writer in writers):
        raise NotCovered("a preference for a link of capacity 0 whose writers meet others, too")
    reasons = [[*((name, number, True) for name, number in writer.need.items() if number > 0),
                *((name, number, False) for name, number in writer.room.items())]
               for writer in writers]
    for reason in product(*reasons):
        bare = move.copy()
        bare.unless = move.unless - {link}
        for name, number, lacks in reason:
            if lacks:
                bare.room[name] = min(number - 1, bare.room.get(name, number - 1))
            else:
                bare.need[name] = max(number + 1, bare.need.get(name, number + 1))
        yield bare
