"""Machines as pictures: each reachable state is a box, each step an arrow with its action.

Of a machine with more states, a box is all states that have the same values of one or two
variables, and an arrow a step that some of them takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import combinations
from typing import Any, Final

import graphlay

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.notation.bound import BoundMachine, bind
from checkvalve.spec.notation.errors import CheckvalveError
from checkvalve.spec.notation.machine import Machine

__all__ = ["drawing"]

STATES: Final = 14
"""A machine with more states is drawn by the values of some of its variables."""

ARROWS: Final = 40
"""The most arrows of a picture."""

VISITED: Final = 150
"""A machine with more states than this, with its smallest constants, is not drawn."""

BOXES: Final = 9
"""The most boxes of a picture by values."""

Slots = Mapping[str, Any]
Edges = dict[tuple[int, int], list[str]]


def drawing(chapter: Chapter) -> tuple[type[Machine], str, str] | None:
    """The picture of a machine of a chapter, and a sentence on it: of the first one of which all
    states can be drawn, else of the first that can be drawn by values; None where none can."""
    larger: tuple[type[Machine], Sequence[str], Edges, str] | None = None
    for machine in chapter.machines:
        for whole, boxes, edges, words in _pictures(chapter, machine):
            if whole:
                return machine, _svg(boxes, edges), words
            larger = larger or (machine, boxes, edges, words)
    if larger is None:
        return None
    machine, boxes, edges, words = larger
    return machine, _svg(boxes, edges), words


def _pictures(
    chapter: Chapter, machine: type[Machine]
) -> Iterator[tuple[bool, Sequence[str], Edges, str]]:
    """The boxes and arrows of pictures of a machine with small constants, and sentences that have
    them; first, whether it is a picture of all states."""
    for constants in _small(chapter, machine):
        try:
            states, edges = _graph(bind(machine, **constants), VISITED)
        except CheckvalveError:
            continue
        if not edges:
            continue
        said = ", ".join(f"{name} = {value}" for name, value in constants.items())
        every = f"All {len(states)} states{f' with {said}' if said else ''}"
        if len(states) <= STATES and len(edges) <= ARROWS:
            yield True, [_words(each) for each in states], edges, f"{every}:"
        elif (part := _by_values(states, edges)) is not None:
            names, boxes, steps = part
            told = " and ".join(f"`{name}`" for name in names)
            yield False, boxes, steps, (
                f"{every}, by {told}: a box is all states with these values, an arrow a step that "
                "some of them takes:")


def _by_values(
    states: Sequence[Slots], edges: Edges
) -> tuple[Sequence[str], list[str], Edges] | None:
    """The one or two variables that tell most apart in a picture of few boxes, with its boxes and
    arrows; None where each of them has too many values, or one."""
    best: tuple[Sequence[str], list[str], Edges] | None = None
    for names in (*combinations(states[0], 1), *combinations(states[0], 2)):
        seen: dict[tuple[Any, ...], int] = {}
        part = [seen.setdefault(tuple(each[name] for name in names), len(seen)) for each in states]
        if not 3 <= len(seen) <= BOXES or (best is not None and len(seen) <= len(best[1])):
            continue
        steps: Edges = {}
        for (start, to), labels in edges.items():
            if part[start] != part[to]:
                told = steps.setdefault((part[start], part[to]), [])
                told += [label for label in labels if label not in told]
        if 0 < len(steps) <= ARROWS // 2:
            best = names, [_told(zip(names, values, strict=True)) for values in seen], steps
    return best


def _small(chapter: Chapter, machine: type[Machine]) -> Iterator[dict[str, Any]]:
    """Constants of the machine: its defaults, and the first point of each expectation of it."""
    yield {}
    seen: list[dict[str, Any]] = []
    for each in chapter.expectations:
        if each.machine is not machine:
            continue
        point: dict[str, Any] = {}
        for name, values in each.grid:
            if isinstance(values, range | tuple | list) and len(values):
                point[name] = values[0]
            elif isinstance(values, int):
                point[name] = values
        if point not in seen and len(seen) < 3:
            seen.append(point)
            yield point


def _graph(bound: BoundMachine, most: int) -> tuple[list[Slots], Edges]:
    """The states and the actions between them; neither if there are more than ``most``."""
    reads = bound.interpreter
    first = reads.initial()
    number, waiting, edges = {first: 0}, [first], Edges()
    states: list[Slots] = [reads.slots(first)]
    while waiting:
        state = waiting.pop(0)
        for step in reads.steps():
            after = reads.step(state, *step)
            if after is None or after == state:
                continue
            if after not in number:
                if len(number) == most:
                    return [], {}
                number[after] = len(number)
                states.append(reads.slots(after))
                waiting.append(after)
            label = step[0].replace("_", " ")
            said = edges.setdefault((number[state], number[after]), [])
            if label not in said:
                said.append(label)
    return states, edges


def _words(slots: Mapping[str, Any]) -> str:
    """The slots of a state that are not 0, at most six of them."""
    said = [each for each in slots.items() if each[1] not in (0, False, None)]
    return _told(said[:6]) + (" …" if len(said) > 6 else "") or "all 0"


def _told(slots: Iterable[tuple[str, Any]]) -> str:
    return ", ".join(f"{name}={int(value) if isinstance(value, bool) else value}"
                     for name, value in slots)


def _svg(names: Sequence[str], edges: Edges) -> str:
    """The picture: boxes of states, and arrows by way of boxes without a frame that have labels."""
    labels = [" / ".join(said[:2]) + (" …" if len(said) > 2 else "") for said in edges.values()]
    sizes = [(7.2 * len(text) + 18, 30.0) for text in names]
    sizes += [(6.2 * len(text) + 8, 18.0) for text in labels]
    arrows = [end for number, (start, to) in enumerate(edges)
              for end in ((start, len(names) + number), (len(names) + number, to))]
    found = json.loads(graphlay.layout({
        "nodes": [{"size": {"width": width, "height": height}, "shape": "box", "key": str(key)}
                  for key, (width, height) in enumerate(sizes)],
        "edges": [{"source": start, "target": to, "weight": 1.0} for start, to in arrows],
    }, options={"labels": {"reservation": "never"}}).to_json())
    points = [[(point["x"], point["y"]) for point in edge["points"]] for edge in found["edges"]]
    centers = [(node["center"]["x"], node["center"]["y"]) for node in found["nodes"]]
    xs = [x for each in points for x, _ in each]
    ys = [y for each in points for _, y in each]
    xs += [x + side * w / 2 for (x, _), (w, _) in zip(centers, sizes, strict=True)
           for side in (-1, 1)]
    ys += [y + side * h / 2 for (_, y), (_, h) in zip(centers, sizes, strict=True)
           for side in (-1, 1)]
    width, height = max(xs) - min(xs) + 20, max(ys) - min(ys) + 20
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{min(xs) - 10:.0f} {min(ys) - 10:.0f} {width:.0f} {height:.0f}" '
        'font-family="sans-serif" font-size="12">',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
        *_arrows(points, len(names), arrows), *_boxes(names, labels, centers, sizes), "</svg>"])


def _arrows(points: Sequence[Sequence[tuple[float, float]]], states: int,
            arrows: Sequence[tuple[int, int]]) -> Iterator[str]:
    """The lines; the half that ends at a state has the arrow's head."""
    for line, (_, to) in zip(points, arrows, strict=True):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        head = ' marker-end="url(#a)"' if to < states else ""
        yield f'<polyline points="{path}" fill="none" stroke="#555"{head}/>'


def _boxes(names: Sequence[str], labels: Sequence[str], centers: Sequence[tuple[float, float]],
           sizes: Sequence[tuple[float, float]]) -> Iterator[str]:
    """The states, the first one with a bold frame, and the labels."""
    for number, (text, (x, y), (width, height)) in enumerate(
            zip([*names, *labels], centers, sizes, strict=True)):
        is_state = number < len(names)
        frame = f'stroke="#333" stroke-width="{2.5 if number == 0 else 1}"' if is_state else ""
        yield (f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
               f'height="{height:.1f}" rx="5" fill="{"#eef3ff" if is_state else "#fff"}" {frame}/>')
        yield (f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" '
               f'fill="{"#111" if is_state else "#444"}">{escape(text)}</text>')
