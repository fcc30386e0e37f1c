"""Machines as pictures: each reachable state is a box, each step an arrow with its action.

Of a machine with more states, a box is all states that have the same values of one or two
variables, and an arrow a step that some of them takes. Where even these are too many to visit,
the picture is of the first ones, breadth first, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any, Final

import graphlay

from checkvalve.spec.chapters import Chapter
from checkvalve.spec.engines.effects import Effects
from checkvalve.spec.notation.bound import BoundMachine, bind
from checkvalve.spec.notation.errors import CheckvalveError
from checkvalve.spec.notation.machine import Machine

__all__ = ["Picture", "drawing", "why_none"]

STATES: Final = 14
"""A machine with more states is drawn by the values of some of its variables."""

ARROWS: Final = 40
"""The most arrows of a picture."""

VISITED: Final = 150
"""Machines with no more states than this, with their smallest constants, are preferred."""

VISITED_OF_LARGE: Final = 300
"""The states of a larger machine that are visited."""

TRIED: Final = 20_000
"""The actions, with their arguments, that are tried on the way: seconds of a machine that has
thousands of them."""

BOXES: Final = 9
"""The most boxes of a picture by values."""

Slots = Mapping[str, Any]
Edges = dict[tuple[int, int], list[str]]


@dataclass(frozen=True)
class Picture:
    """The boxes and arrows of a machine, and a sentence on them. ``worth``: 3 if all states are
    boxes, 2 if boxes are values in all states, 1 if they are values in the first ones."""

    machine: type[Machine]
    boxes: Sequence[str]
    arrows: Edges
    words: str
    worth: int

    @property
    def svg(self) -> str:
        """Boxes, arrows and labels where the layout has them."""
        return _svg(self.boxes, self.arrows)


def drawing(chapter: Chapter) -> Picture | None:
    """The picture of a machine of a chapter: of the first one of which all states can be drawn,
    else of the first that can be drawn by values; None where none can."""
    small = _best((_pictures(chapter, machine, VISITED, 2) for machine in chapter.machines), 3)
    return small or _best((
        _pictures(chapter, machine, VISITED_OF_LARGE, 1) for machine in chapter.machines), 1)


def why_none(chapter: Chapter) -> str:
    """A sentence for the page of a chapter without a picture."""
    if not chapter.machines:
        tied = sorted({each.observer.__name__ for each in chapter.refinements})
        return ("There is no picture of states: this chapter has no machine of its own" + (
            f", but ties others to {' and '.join(f'`{name}`' for name in tied)}." if tied else "."))
    if not any(_graph(bind(machine), 2, False)[1] for machine in chapter.machines):
        return ("There is no picture of states: its machine is made for what it is given, and does "
                "nothing without.")
    return ("There is no picture of states: with the smallest constants there are too many, and no "
            "one or two of the variables have so few values that an arrow between them says much.")


def _best(found: Iterable[Iterator[Picture]], enough: int) -> Picture | None:
    """The first picture of all states, else the first of the best that there are; where nothing
    better can come, the machines after the first one that can be drawn are not asked."""
    best: Picture | None = None
    for pictures in found:
        for each in pictures:
            if each.worth == 3:
                return each
            if best is None or each.worth > best.worth:
                best = each
        if best is not None and best.worth >= enough:
            break
    return best


def _pictures(
    chapter: Chapter, machine: type[Machine], most: int, least: int
) -> Iterator[Picture]:
    """Pictures of a machine with small constants that are worth ``least`` or more; at most so many
    states are visited."""
    for constants in _small(chapter, machine):
        try:
            states, edges, is_all = _graph(bind(machine, **constants), most, least > 1)
        except CheckvalveError:
            continue
        if not edges:
            continue
        said = ", ".join(f"{name} = {value}" for name, value in constants.items())
        every = f"{'All' if is_all else 'The first'} {len(states):,} states" + (
            f" with {said}" if said else "") + ("" if is_all else ", breadth first")
        if is_all and len(states) <= STATES and len(edges) <= ARROWS:
            yield Picture(machine, [_words(each) for each in states], edges, f"{every}:", 3)
        elif (part := _by_values(states, edges)) is not None:
            names, boxes, steps = part
            told = " and ".join(f"`{name}`" for name in names)
            beyond = "" if is_all else " There are more states, and may be more arrows."
            yield Picture(machine, boxes, steps, (
                f"{every}, by {told}: a box is all of them with these values, an arrow a step that "
                f"some take.{beyond}"), 2 if is_all else 1)


def _by_values(
    states: Sequence[Slots], edges: Edges
) -> tuple[Sequence[str], list[str], Edges] | None:
    """The one or two variables of values that most different actions change in a picture of few
    boxes, with its boxes and arrows; None where each of them has too many values, or one."""
    values = {name: [each[name] for each in states] for name in states[0]}
    few = [name for name, all_of in values.items() if 2 <= len(set(all_of)) <= BOXES]
    best: tuple[Sequence[str], list[str], Edges] | None = None
    most = (0, 0)
    for names in (*combinations(few, 1), *combinations(few, 2)):
        seen: dict[tuple[Any, ...], int] = {}
        part = [seen.setdefault(each, len(seen))
                for each in zip(*(values[name] for name in names), strict=True)]
        if len(seen) > BOXES:
            continue
        steps = _between(part, edges)
        shown = len({label for labels in steps.values() for label in labels}), len(seen)
        if 0 < len(steps) <= ARROWS // 2 and shown > most:
            most, best = shown, (
                names, [_told(zip(names, each, strict=True)) for each in seen], steps)
    return best


def _between(part: Sequence[int], edges: Edges) -> Edges:
    """The arrows between boxes, where each state is a part of one."""
    steps: Edges = {}
    for (start, to), labels in edges.items():
        if part[start] != part[to]:
            told = steps.setdefault((part[start], part[to]), [])
            told += [label for label in labels if label not in told]
    return steps


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


def _graph(
    bound: BoundMachine, most: int, whole: bool
) -> tuple[list[Slots], Edges, bool]:
    """The states, at most so many, the actions between them, and whether these are all; nothing
    of a larger machine where the ``whole`` of it is asked for."""
    reads = bound.interpreter
    effects, steps = Effects(reads), reads.steps()
    first = effects.pack(reads.initial())
    number, order, edges = {first: 0}, [first], Edges()
    is_all, left = True, TRIED
    for state in order:
        left -= len(steps)
        if left < 0 or (whole and not is_all):
            is_all = False
            break
        for step in steps:
            after = effects.after(state, step)
            if after is None or after == state:
                continue
            if after not in number:
                if len(number) == most:
                    is_all = False
                    continue
                number[after] = len(number)
                order.append(after)
            label = step[0].replace("_", " ")
            said = edges.setdefault((number[state], number[after]), [])
            if label not in said:
                said.append(label)
    if whole and not is_all:
        return [], {}, False
    return [reads.slots(effects.unpack(each)) for each in order], edges, is_all


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
