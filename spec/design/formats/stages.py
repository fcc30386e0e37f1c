"""A stage of a streaming job: it reads from any of its inputs, and writes to all its outputs.

That is what Storm's bolts, Flink's operators and Kafka's sub-topologies have in common. A stage
holds one element while it waits for a free slot, as a thread does that is blocked in a call.
"""

from __future__ import annotations

from typing import NamedTuple

from ..reading.source import Spot
from .draft import Draft

__all__ = ["Ends", "put_stage"]


class Ends(NamedTuple):
    """The tasks of a stage to which its inputs lead, and from which its outputs lead."""

    reader: str
    writer: str


def put_stage(draft: Draft, original: str, spot: Spot, inputs: int, outputs: int) -> Ends:
    """Put down a stage with so many links to it and from it. One that has several of both is two
    tasks, with one element between them."""
    if not inputs:
        name = draft.task(original, spot, {"kind": "source"})
    elif not outputs:
        name = draft.task(original, spot, {"kind": "sink"})
    elif inputs == 1:
        kind = "map" if outputs == 1 else "broadcast"
        name = draft.task(original, spot, {"kind": kind, "hand": 1})
    elif outputs == 1:
        name = draft.task(original, spot, {"kind": "merge", "hand": 1})
    else:
        name = draft.task(original, spot, {"kind": "merge"})
        writer = draft.task(f"outputs of {original}", spot, {"kind": "broadcast"})
        draft.link(spot, {"name": draft.called(f"in {original}", "link"), "from": name,
                          "to": writer, "capacity": 1})
        return Ends(name, writer)
    return Ends(name, name)
