"""The places of a drawing's boxes and the routes of its arrows, by the library graphlay.

It layers boxes from left to right after Sugiyama (1981) and routes each arrow in upright and level
stretches around all boxes; the result depends on nothing but the arguments.
docs/decisions/drawings-by-graphlay.md has what it was compared with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...verdicts.deadline import Deadline, TooLittleTime
from .detours import Box, Point, around, runs_through

__all__ = ["GAP", "Area", "Layout", "Point", "lay_out"]

GAP = 34.0
"""Pixels between two layers of boxes, at least."""

WIDE = 1150.0
"""A drawing that is wider is laid out in rows, if that makes it narrower."""

MANY = 500
"""Boxes and arrows that are laid out with little effort if there are more of them."""
MUCH, LITTLE = 2.5e-6, 6e-7
"""Seconds that the library takes for the square of the number of boxes and arrows, with much effort
and with little, where they are a tangle. It cannot be interrupted, so what may take longer than
there is time is not begun. Measured for 840 to 80,000 of them on a core of 2 GHz; and, with little
effort, for random designs of 730 to 2,200 on a busy one, which took up to four times as long."""

_ROWS: Mapping[str, Any] = {"wrap": {"viewport_aspect": 2.0}}
_OPTIONS: Mapping[str, Any] = {
    "spacing": {"layer_gap": GAP, "node_gap": 24.0, "dummy_gap": 16.0, "port_gap": 14.0,
                "isolated_gap": 24.0},
    "labels": {"reservation": "never"},
}

_OTHERS: tuple[Mapping[str, Any], ...] = (
    {"coords": {"placement": "brandes_koepf"}},
    {"spacing": {**_OPTIONS["spacing"], "node_gap": 46.0, "dummy_gap": 30.0}},
    {"effort": "fast"},
    {"routing": {"port_sides": "facing_only"}},
)
"""Options that are tried where an arrow would run through a box, and no way leads around it."""


@dataclass(frozen=True)
class Area:
    """A box: its left and upper edges, and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """The area of each box, in the order given, and for each arrow the points that it passes, from
    the edge of one box to the edge of the other. Nothing is left of or above the origin."""

    boxes: tuple[Area, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def lay_out(
    sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]],
    deadline: Deadline | None = None,
) -> Layout:
    """Place boxes of these widths and heights, and route arrows between them, which are pairs of
    their numbers. Raises Spent where the ``deadline`` does not allow that."""
    until = deadline or Deadline()
    graph = {
        "nodes": [{"size": {"width": width, "height": height}, "shape": "box", "key": str(number)}
                  for number, (width, height) in enumerate(sizes)],
        "edges": [{"source": start, "target": end, "weight": 1.0} for start, end in arrows]}
    plain = _placed(graph, sizes, until, _OPTIONS)
    tried = [plain]
    if plain.width > WIDE:
        tried.append(_placed(graph, sizes, until, {**_OPTIONS, **_ROWS}))
        tried.sort(key=lambda layout: layout.width)
    for layout in tried:
        if _is_clear(layout, until):
            return layout
    led = _led_around(plain, until)  # in a large tangle a route may miss the room that it needs
    others = (_placed(graph, sizes, until, {**_OPTIONS, **other}) for other in _OTHERS)
    return led if _is_clear(led, until) else next(
        (layout for layout in others if _is_clear(layout, until)), led)


def _is_clear(layout: Layout, until: Deadline) -> bool:
    """True if no arrow runs through a box. Each stretch is upright or level."""
    boxes = _edges(layout)
    for route in layout.routes:
        until.check("looking for arrows that run through a box")
        if runs_through(route, boxes):
            return False
    return True


def _led_around(layout: Layout, until: Deadline) -> Layout:
    """The layout with other routes for the arrows that run through a box; nothing is left of or
    above the origin afterwards either."""
    boxes, watch = _edges(layout), until.watch("leading arrows around boxes")
    routes = [(runs_through(route, boxes) and around(route, boxes, watch)) or route
              for route in layout.routes]
    left, top = (min(0.0, *(point[axis] for route in routes for point in route))
                 for axis in (0, 1))
    moved = tuple(tuple((x - left, y - top) for x, y in route) for route in routes)
    placed = tuple(Area(box.x - left, box.y - top, box.width, box.height) for box in layout.boxes)
    return Layout(placed, moved,
                  max(layout.width - left, *(x for route in moved for x, _ in route)),
                  max(layout.height - top, *(y for route in moved for _, y in route)))


def _edges(layout: Layout) -> list[Box]:
    return [(box.x, box.y, box.x + box.width, box.y + box.height) for box in layout.boxes]


def _placed(graph: Mapping[str, Any], sizes: Sequence[tuple[float, float]], until: Deadline,
            options: Mapping[str, Any]) -> Layout:
    """The boxes and routes that graphlay gives, moved so that all of them begin at 0."""
    phase, size = f"laying out {len(sizes):,} boxes", len(sizes) + len(graph["edges"])
    until.check(phase)
    if (LITTLE if size > MANY else MUCH) * size ** 2 > until.left():
        raise TooLittleTime(phase)
    if size > MANY:
        options = {**options, "effort": "fast"}
    import graphlay
    found = json.loads(graphlay.layout(graph, options=options).to_json())
    corners = [(node["center"]["x"] - node["size"]["width"] / 2,
                node["center"]["y"] - node["size"]["height"] / 2) for node in found["nodes"]]
    routes = [[(point["x"], point["y"]) for point in edge["points"]] for edge in found["edges"]]
    everything = [*corners, *(point for route in routes for point in route)]
    left, top = (min(point[axis] for point in everything) for axis in (0, 1))
    boxes = tuple(Area(x - left, y - top, *size)
                  for (x, y), size in zip(corners, sizes, strict=True))
    moved = tuple(tuple((x - left, y - top) for x, y in route) for route in routes)
    ends = [(box.x + box.width, box.y + box.height) for box in boxes]
    ends += [point for route in moved for point in route]
    return Layout(boxes, moved, max(x for x, _ in ends), max(y for _, y in ends))
