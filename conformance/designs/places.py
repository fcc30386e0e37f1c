"""The places in a design's file of the values that a repair changes, and the patches of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from checkvalve.spec.design.reading.source import NOWHERE, Node, Spot, parse
from checkvalve.spec.notation.errors import InputError

from .patches import Patcher
from .reading import byte_order_mark, read_text

if TYPE_CHECKING:
    from checkvalve.spec.design.why.findings import DesignReport, Edit, Repair, Way

__all__ = ["placed", "with_places"]


def with_places(report: DesignReport) -> DesignReport:
    """The report, in which each edit of a repair has the line of the value that is changed, and
    the old value as it is written (as it was, where the file is no design file of ours); and each
    way has a patch of the file."""
    if all(finding.repair is None or not finding.repair.ways for finding in report.findings):
        return report
    try:
        text = read_text(Path(report.design.file))
    except InputError:
        return report
    patcher = Patcher(report.design, text, byte_order_mark(Path(report.design.file)))
    try:
        entries = dict(_entries(parse(text, report.design.file)))
    except InputError:
        entries = {}
    return replace(report, findings=tuple(
        finding if finding.repair is None else replace(
            finding, repair=_of(finding.repair, entries, patcher))
        for finding in report.findings))


def _of(repair: Repair, entries: Mapping[Spot, Node], patcher: Patcher) -> Repair:
    def way(each: Way) -> Way:
        patch, no_patch = patcher.of(each)
        return replace(each, patch=patch, no_patch=no_patch, steps=tuple(replace(step, edits=tuple(
            placed(edit, entries) for edit in step.edits)) for step in each.steps))

    return replace(repair, ways=tuple(map(way, repair.ways)))


def placed(edit: Edit, entries: Mapping[Spot, Node]) -> Edit:
    """The edit with the spot of its value, and with what is written there."""
    entry = entries.get(edit.spot)
    if edit.spot == NOWHERE or entry is None or not isinstance(entry.value, dict):
        return edit
    node = entry.value.get(edit.key)
    if node is None or isinstance(node.value, list | dict):
        return edit
    old, new = str(node.value), edit.new
    if edit.by is not None and not isinstance(node.value, int):
        new = f"{old} {'+' if edit.by > 0 else '-'} {abs(edit.by)}"
    elif old != edit.old:
        old = f"{old}, which is {edit.old}"
    return replace(edit, spot=node.spot, old=old, new=new, is_exact=True)


def _entries(node: Node) -> Iterator[tuple[Spot, Node]]:
    """Every mapping and list of a tree by its spot, and by that of its key."""
    if isinstance(node.value, dict):
        yield node.spot, node
        for key, child in node.value.items():
            yield from _entries(child)
            if isinstance(child.value, dict):
                yield (node.key_spots or {}).get(key, child.spot), child
    elif isinstance(node.value, list):
        for child in node.value:
            yield from _entries(child)
