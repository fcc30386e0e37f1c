"""The state machines as drawings, made from the tables: a box for each state, an arrow for each
legal change. The additional change of 3.9 is dashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from math import hypot
from typing import Any, Final

from ....spec.kafka.controller.transitions import (
    PARTITION_CHANGES, REPLICA_CHANGES_OF, Era, PartitionState, ReplicaState,
)

__all__ = ["FIGURES"]

_WIDTH, _HEIGHT = 148.0, 40.0
_COLUMN, _ROW = 210.0, 110.0
_MARGIN: Final = 46.0
_APART: Final = 9.0     # between the two arrows of a pair of states
_STYLE: Final = """
text { font: 13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2933; }
.box { fill: #f5f7fa; stroke: #52606d; stroke-width: 1.4; }
.arrow { fill: none; stroke: #52606d; stroke-width: 1.5; marker-end: url(#head); }
.later { stroke-dasharray: 6 4; }
"""

Point = tuple[float, float]
Change = tuple[IntEnum, IntEnum]

_P, _R = PartitionState, ReplicaState

_PARTITIONS: Final[Mapping[IntEnum, Point]] = {
    _P.NON_EXISTENT: (0, 0), _P.NEW: (1, 0), _P.ONLINE: (2, 0), _P.OFFLINE: (2, 1)}
_REPLICAS: Final[Mapping[IntEnum, Point]] = {
    _R.NON_EXISTENT: (0, 1), _R.NEW: (1, 0), _R.ONLINE: (2, 0), _R.OFFLINE: (2, 1),
    _R.DELETION_INELIGIBLE: (3, 1), _R.DELETION_STARTED: (2, 2),
    _R.DELETION_SUCCESSFUL: (1, 2)}
"""Columns and rows, so that no two arrows cross."""


def _changes(table: Mapping[Any, Sequence[IntEnum]]) -> list[Change]:
    return [(before, target) for target in table for before in table[target]]


def _draw(title: str, places: Mapping[IntEnum, Point], changes: Sequence[Change],
          later: Sequence[Change] = ()) -> str:
    """The SVG text. The changes that are ``later`` are dashed."""
    width = 2 * _MARGIN + max(x for x, _ in places.values()) * _COLUMN + _WIDTH
    height = 2 * _MARGIN + max(y for _, y in places.values()) * _ROW + _HEIGHT
    body = [*_boxes(places), *(
        _arrow(places, change, changes, change in later) for change in changes)]
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{title}</title>", f"<style>{_STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="#52606d"/></marker>'
        "</defs>",
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>', *body, "</svg>", ""))


def _boxes(places: Mapping[IntEnum, Point]) -> Iterator[str]:
    for state in places:
        x, y = _centre(places[state])
        name = state.name.lower().replace("_", " ")
        yield (f'<rect class="box" x="{x - _WIDTH / 2:g}" y="{y - _HEIGHT / 2:g}" '
               f'width="{_WIDTH:g}" height="{_HEIGHT:g}" rx="8"/>')
        yield f'<text x="{x:g}" y="{y + 4.5:g}" text-anchor="middle">{name}</text>'


def _centre(place: Point) -> Point:
    return (_MARGIN + _WIDTH / 2 + place[0] * _COLUMN, _MARGIN + _HEIGHT / 2 + place[1] * _ROW)


def _arrow(
    places: Mapping[IntEnum, Point], change: Change, changes: Sequence[Change], is_later: bool
) -> str:
    """The arrow of a change as SVG: a loop if the state stays, and moved aside if there is one
    back."""
    before, target = change
    style = "arrow later" if is_later else "arrow"
    (x, y), (to_x, to_y) = _centre(places[before]), _centre(places[target])
    if before == target:
        top, right = y - _HEIGHT / 2, x + _WIDTH / 2
        return (f'<path class="{style}" d="M{right - 42:g} {top:g}c0 -30 34 -30 30 -2"/>')
    if (target, before) in changes:
        length = hypot(to_x - x, to_y - y)
        off_x, off_y = (y - to_y) / length * _APART, (to_x - x) / length * _APART
        x, y, to_x, to_y = x + off_x, y + off_y, to_x + off_x, to_y + off_y
    start, end = _edge((x, y), (to_x, to_y)), _edge((to_x, to_y), (x, y))
    return f'<path class="{style}" d="M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}"/>'


def _edge(centre: Point, towards: Point) -> Point:
    """The point where the line between two boxes leaves the first."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    part = min(_WIDTH / 2 / abs(dx) if dx else 1.0, (_HEIGHT / 2 - _APART * (dy == 0)) / abs(dy)
               if dy else 1.0)
    return centre[0] + dx * part, centre[1] + dy * part


def _figures() -> Iterator[tuple[str, str]]:
    old, new = (_changes(REPLICA_CHANGES_OF[era]) for era in Era)
    yield "kafka-partition-states.svg", _draw(
        "The states of a partition, and the legal changes", _PARTITIONS,
        _changes(PARTITION_CHANGES))
    yield "kafka-replica-states.svg", _draw(
        "The states of a replica, and the legal changes", _REPLICAS, new,
        [each for each in new if each not in old])


FIGURES: Final = dict(_figures())
"""By file name below docs/figures, the drawings that ``make pages`` writes."""
