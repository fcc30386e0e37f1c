"""Links of capacity 0: writer and reader move together, when both are ready (rendezvous).

Both must be ready *before* the transition. A task that would make room for its own element by
moving on is therefore not ready: a loop without a free slot halts, as it does in
a stream that asks for an element only when it has room for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from .rows import FAILED, MAX_ROWS, Effect, Row, TooManyWays

__all__ = ["join_meetings"]


def join_meetings(rows: Sequence[Row], links: Iterable[str]) -> list[Row]:
    """The rows with every writer's joined to every reader's, link by link."""
    joined = list(rows)
    for link in links:
        writers = [row for row in joined if (link, True) in row.effect.meets]
        readers = [row for row in joined if (link, False) in row.effect.meets]
        rest = [row for row in joined if row not in writers and row not in readers]
        if len(writers) * len(readers) > MAX_ROWS:
            raise TooManyWays
        joined = [
            *rest,
            *(_together(writer, reader, link) for writer in writers for reader in readers
              if not set(writer.tasks) & set(reader.tasks)),
        ]
        joined = [each for row in joined for each in _without_writer(row, link, writers)]
        if len(joined) > MAX_ROWS + len(rows):
            raise TooManyWays
    return joined


def _together(writer: Row, reader: Row, link: str) -> Row:
    """The row of a rendezvous: both steps at once, with the guards of each as they are when both
    happen."""
    a, b = writer.effect, reader.effect
    change = {p: n for p in {**a.change, **b.change}
              if (n := a.change.get(p, 0) + b.change.get(p, 0))}
    if FAILED in change:
        change[FAILED] = 1  # two links that overflow at once fail once
    effect = Effect(
        _guards(a.at_least, b.at_least, a, b, -1), _guards(a.at_most, b.at_most, a, b, 1), change,
        a.words, a.fair and b.fair, a.loses or b.loses, a.abstract or b.abstract,
        (a.meets | b.meets) - {(link, True), (link, False)}, a.unless | b.unless,
        a.overflows | b.overflows,
    )
    return Row(writer.task, effect, True,
               (*writer.partners, (reader.task, b.words), *reader.partners),
               (*_parts(writer), *_parts(reader)), (*writer.since, *reader.since))


def _parts(row: Row) -> tuple[Row, ...]:
    return row.parts or (row,)


def _guards(
    guards_a: Mapping[str, int], guards_b: Mapping[str, int], a: Effect, b: Effect, sign: int
) -> dict[str, int]:
    """Both guards at once. Where both sides take (or both give) there must be enough for
    the two together, so each one's guard is moved by what the other changes. So is the guard of
    one that overflows a place by what the other writes there: that may be what fills it."""
    stronger = min if sign > 0 else max
    found: dict[str, int] = {}
    for place in {**guards_a, **guards_b}:
        bounds = [
            guards[place] - _beside(mine, other, place, sign)
            for guards, mine, other in ((guards_a, a, b), (guards_b, b, a)) if place in guards
        ]
        found[place] = stronger(bounds)
    return found


def _beside(mine: Effect, other: Effect, place: str, sign: int) -> int:
    """The effect of the other's change on a guard of mine on a place."""
    change = other.change.get(place, 0)
    alike = mine.change.get(place, 0) * sign > 0 and change * sign > 0
    return change if alike or (place in mine.overflows and change > 0) else 0


def _without_writer(row: Row, link: str, writers: Sequence[Row]) -> Iterator[Row]:
    """A row for the case that no writer is ready at the link: one row for each combination of
    reasons.
    """
    if link not in row.effect.unless:
        yield row
        return
    bare = replace(row.effect, unless=row.effect.unless - {link})
    groups = [list(_unable(writer.effect)) for writer in writers]
    if prod(map(len, groups)) > MAX_ROWS:
        raise TooManyWays
    for reasons in product(*groups):
        since = Effect()
        for reason in reasons:
            since = since.then(reason)
        yield replace(row, effect=since.then(bare), parts=_parts(row), since=(*row.since, since))


def _unable(effect: Effect) -> Iterator[Effect]:
    for place, n in effect.at_least.items():
        yield Effect(at_most={place: n - 1})
    for place, n in effect.at_most.items():
        yield Effect(at_least={place: n + 1})
