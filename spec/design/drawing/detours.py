"""Routes around boxes, for the few arrows of a large tangle that a layout leads through one.

A route leaves its box at the point that the layout chose, and reaches the other one at the point
that it chose. Between them it follows the shortest way with few bends along the lines beside the
edges of all boxes, which no box covers (Dijkstra 1959).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise

__all__ = ["Box", "Point", "around", "runs_through"]

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""The left, upper, right and lower edge."""

BESIDE = 7.0
"""Pixels between a route and the boxes that it passes."""

BEND = 40.0
"""A bend counts as so many pixels."""

_TOUCH = 0.1  # so far into a box an arrow only touches it


def runs_through(route: Sequence[Point], boxes: Sequence[Box]) -> bool:
    """True if a route of upright and level stretches runs through a box, and not only along it."""
    for (x, y), (a, b) in pairwise(route):
        left, right, top, bottom = min(x, a), max(x, a), min(y, b), max(y, b)
        if any(left < box[2] - _TOUCH and right > box[0] + _TOUCH
               and top < box[3] - _TOUCH and bottom > box[1] + _TOUCH for box in boxes):
            return True
    return False


def around(
    route: Sequence[Point], boxes: Sequence[Box], watch: Callable[[], object] = lambda: None
) -> tuple[Point, ...] | None:
    """A route with the same ends around all boxes; None if there is none. ``watch`` is called at
    each crossing, and may raise."""
    start, end = _outside(route[0], boxes), _outside(route[-1], boxes)
    xs = sorted({start[0], end[0], *(x for box in boxes
                                     for x in (box[0] - BESIDE, box[2] + BESIDE))})
    ys = sorted({start[1], end[1], *(y for box in boxes
                                     for y in (box[1] - BESIDE, box[3] + BESIDE))})
    found = _shortest(start, end, xs, ys, boxes, watch)
    if found is None:
        return None
    points = _straightened([route[0], *found, route[-1]])
    return None if runs_through(points, boxes) else points


def _outside(point: Point, boxes: Sequence[Box]) -> Point:
    """The place beside the edge on which a point lies; the point itself if it lies on none."""
    x, y = point
    for left, top, right, bottom in boxes:
        if left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1:
            far = {(left - BESIDE, y): x - left, (right + BESIDE, y): right - x,
                   (x, top - BESIDE): y - top, (x, bottom + BESIDE): bottom - y}
            return min(far, key=lambda place: abs(far[place]))
    return point


def _shortest(start: Point, end: Point, xs: Sequence[float], ys: Sequence[float],
              boxes: Sequence[Box], watch: Callable[[], object]) -> list[Point] | None:
    """The cheapest way from crossing to crossing; a place in it is a crossing and the direction
    from which it was reached (0: level, 1: upright)."""
    first = bisect_left(xs, start[0]), bisect_left(ys, start[1])
    goal = bisect_left(xs, end[0]), bisect_left(ys, end[1])
    level = [_covered(y, boxes, 1) for y in ys]
    watch()
    upright = [_covered(x, boxes, 0) for x in xs]
    cost = {(first, way): 0.0 for way in (0, 1)}
    before: dict[tuple[tuple[int, int], int], tuple[tuple[int, int], int]] = {}
    waiting = [(0.0, first, way) for way in (0, 1)]
    while waiting:
        watch()
        spent, at, way = heappop(waiting)
        if at == goal:
            return _back((at, way), before, xs, ys)
        if spent > cost[at, way]:
            continue
        for to, turned in _beside(at, len(xs), len(ys)):
            low, high = sorted((xs[at[0]], xs[to[0]]) if turned == 0 else (ys[at[1]], ys[to[1]]))
            price = spent + high - low + (BEND if turned != way else 0.0)
            if price < cost.get((to, turned), float("inf")) and not any(
                    low < last and high > since
                    for since, last in (level[at[1]] if turned == 0 else upright[at[0]])):
                cost[to, turned] = price
                before[to, turned] = at, way
                heappush(waiting, (price, to, turned))
    return None


def _covered(line: float, boxes: Sequence[Box], axis: int) -> list[Point]:
    """The parts of a level (1) or upright (0) line that are in a box or too close to one."""
    near = BESIDE / 2
    return [(box[1 - axis] - near, box[3 - axis] + near) for box in boxes
            if box[axis] - near < line < box[axis + 2] + near]


def _beside(at: tuple[int, int], wide: int, high: int) -> Iterator[tuple[tuple[int, int], int]]:
    """The crossings next to one, with the direction of the line to them."""
    column, row = at
    for to, way in (((column - 1, row), 0), ((column + 1, row), 0),
                    ((column, row - 1), 1), ((column, row + 1), 1)):
        if 0 <= to[0] < wide and 0 <= to[1] < high:
            yield to, way


def _back(place: tuple[tuple[int, int], int],
          before: dict[tuple[tuple[int, int], int], tuple[tuple[int, int], int]],
          xs: Sequence[float], ys: Sequence[float]) -> list[Point]:
    found = [place]
    while place in before:
        place = before[place]
        found.append(place)
    return [(xs[column], ys[row]) for (column, row), _ in reversed(found)]


def _straightened(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points without those within a straight stretch, and without repetitions."""
    kept: list[Point] = []
    for point in points:
        if kept and point == kept[-1]:
            continue
        if len(kept) > 1 and (kept[-2][0] == kept[-1][0] == point[0]
                              or kept[-2][1] == kept[-1][1] == point[1]):
            kept.pop()
        kept.append(point)
    return tuple(kept)
