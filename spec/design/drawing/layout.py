"""The layout of a drawing: layers of boxes from left to right, after Sugiyama (1981).

Links that close a cycle are turned round for the layering and drawn backwards; a link that
passes over layers gets a bend in each of them, so that it does not run through boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Arrow", "Layout", "lay_out"]

Node = str | tuple[int, int]
"""A box by its name, or the bend of an arrow in a layer."""


@dataclass(frozen=True)
class Arrow:
    """An arrow to draw between two boxes; ``key`` identifies it."""

    key: str
    start: str
    end: str


@dataclass(frozen=True)
class Layout:
    """For each box its layer and its place in the layer (in rows, from the top), and for
    each arrow the (layer, row) of its bends, from its start to its end."""

    boxes: Mapping[str, tuple[int, float]]
    bends: Mapping[str, tuple[tuple[int, float], ...]]
    backward: frozenset[str]


def lay_out(boxes: Sequence[str], arrows: Sequence[Arrow]) -> Layout:
    """Place boxes and bends; the result depends on nothing but the arguments."""
    backward = _backward(boxes, arrows)
    layer = _layers(boxes, arrows, backward)
    columns: list[list[Node]] = [[] for _ in range(max(layer.values()) + 1)]
    for box in boxes:
        columns[layer[box]].append(box)
    chains = _chains(arrows, layer, backward, columns)
    rows = _rows(columns, chains)
    bends = {}
    for number, arrow in enumerate(arrows):
        inner = [node for node in chains[number] if not isinstance(node, str)]
        points = [(node[1], rows[node]) for node in inner]
        bends[arrow.key] = tuple(points[::-1] if arrow.key in backward else points)
    return Layout({box: (layer[box], rows[box]) for box in boxes}, bends, backward)


def _backward(boxes: Sequence[str], arrows: Sequence[Arrow]) -> frozenset[str]:
    """The arrows that lead back to a box still being visited, depth first from the top."""
    out: dict[str, list[Arrow]] = {box: [] for box in boxes}
    incoming = dict.fromkeys(boxes, 0)
    for arrow in arrows:
        out[arrow.start].append(arrow)
        incoming[arrow.end] += arrow.start != arrow.end
    state: dict[str, int] = {}
    found = set()
    for root in sorted(boxes, key=lambda box: (incoming[box] > 0, boxes.index(box))):
        stack = [(root, iter(out[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            box, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[box] = 2
                stack.pop()
            elif state.get(following.end) == 1:
                found.add(following.key)
            elif following.end not in state:
                state[following.end] = 1
                stack.append((following.end, iter(out[following.end])))
    return frozenset(found)


def _layers(
    boxes: Sequence[str], arrows: Sequence[Arrow], backward: frozenset[str]
) -> dict[str, int]:
    """The longest path to each box, with the backward arrows turned round."""
    layer = dict.fromkeys(boxes, 0)
    for _ in boxes:
        moved = False
        for arrow in arrows:
            a, b = (arrow.end, arrow.start) if arrow.key in backward else (arrow.start, arrow.end)
            if a != b and layer[b] < layer[a] + 1:
                layer[b] = layer[a] + 1
                moved = True
        if not moved:
            break
    return layer


def _chains(
    arrows: Sequence[Arrow], layer: Mapping[str, int], backward: frozenset[str],
    columns: list[list[Node]],
) -> list[list[Node]]:
    """Each arrow as the nodes it passes from left to right; bends are added to columns."""
    chains: list[list[Node]] = []
    for number, arrow in enumerate(arrows):
        a, b = (arrow.end, arrow.start) if arrow.key in backward else (arrow.start, arrow.end)
        bends: list[Node] = [(number, column) for column in range(layer[a] + 1, layer[b])]
        for bend in bends:
            assert not isinstance(bend, str)
            columns[bend[1]].append(bend)
        chains.append([a, *bends, b])
    return chains


def _rows(columns: list[list[Node]], chains: Sequence[Sequence[Node]]) -> dict[Node, float]:
    """A row for every node: near its neighbours, and apart from the others of its column."""
    near: dict[Node, list[Node]] = {node: [] for column in columns for node in column}
    for chain in chains:
        for a, b in zip(chain, chain[1:], strict=False):
            near[a].append(b)
            near[b].append(a)
    rows: dict[Node, float] = {
        node: float(i) for column in columns for i, node in enumerate(column)
    }
    for _ in range(8):
        for column in columns:
            wanted = {
                node: sum(rows[n] for n in near[node]) / len(near[node])
                if near[node] else rows[node] for node in column
            }
            column.sort(key=lambda node: (wanted[node], str(node)))
            _spread(column, wanted, rows)
    for column in columns:  # half rows make most lines straight
        for above, node in zip((None, *column), column, strict=False):
            rows[node] = round(rows[node] * 2) / 2
            if above is not None:
                rows[node] = max(rows[node], rows[above] + 1)
    least = min(rows.values())
    return {node: row - least for node, row in rows.items()}


def _spread(
    column: Sequence[Node], wanted: Mapping[Node, float], rows: dict[Node, float]
) -> None:
    """Give a column's nodes their wanted rows, at least one apart."""
    placed: list[float] = []
    for node in column:
        placed.append(max(wanted[node], placed[-1] + 1) if placed else wanted[node])
    shift = sum(wanted[n] - p for n, p in zip(column, placed, strict=True)) / len(column)
    for node, row in zip(column, placed, strict=True):
        rows[node] = row + shift
