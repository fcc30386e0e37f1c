"""Small machines as pictures: each reachable state is a box, each step an arrow with its action."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

import graphlay

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.notation.bound import BoundMachine, bind
from checkvalve.spec.notation.errors import CheckvalveError
from checkvalve.spec.notation.machine import Machine

__all__ = ["drawing"]

STATES: Final = 14
"""A machine with more states is not drawn."""

ARROWS: Final = 40
"""Nor is one with more arrows."""

Edges = dict[tuple[int, int], list[str]]


def drawing(chapter: Chapter, machine: type[Machine]) -> tuple[str, str] | None:
    """The picture of a machine with small constants, and a sentence that has them; None where it
    has too many states, or no step."""
    for constants in _small(chapter, machine):
        try:
            found = _graph(bind(machine, **constants))
        except CheckvalveError:
            continue
        if found is not None and found[1]:
            said = ", ".join(f"{name} = {value}" for name, value in constants.items())
            return _svg(*found), (f"All {len(found[0])} states with {said}:" if said
                                  else f"All {len(found[0])} states:")
    return None


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


def _graph(bound: BoundMachine) -> tuple[list[str], Edges] | None:
    """The words of the states and the actions between them; None if there are too many."""
    reads = bound.interpreter
    first = reads.initial()
    number, waiting, edges = {first: 0}, [first], Edges()
    names: list[str] = [_words(reads.slots(first))]
    while waiting:
        state = waiting.pop(0)
        for step in reads.steps():
            after = reads.step(state, *step)
            if after is None or after == state:
                continue
            if after not in number:
                if len(number) == STATES:
                    return None
                number[after] = len(number)
                names.append(_words(reads.slots(after)))
                waiting.append(after)
            label = step[0].replace("_", " ")
            said = edges.setdefault((number[state], number[after]), [])
            if label not in said:
                said.append(label)
    return (names, edges) if len(edges) <= ARROWS else None


def _words(slots: Mapping[str, Any]) -> str:
    """The slots of a state that are not 0, at most six of them."""
    said = [f"{name}={int(value) if isinstance(value, bool) else value}"
            for name, value in slots.items() if value not in (0, False, None)]
    return ", ".join(said[:6]) + (" …" if len(said) > 6 else "") or "all 0"


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
