"""Two paths that cross two workers, as the observer of a run sees them.

Theory. ``crossing`` has two workers and what stands on the links between them. The observer of a
run (``observed_topology``) sees what a worker writes to a connection, and that the run comes to
rest or stalls. A right pair of workers does neither, for their spouts always have data. A pair that
can do nothing more has not come to rest: everything is pending for ever.

Source: ``crossing``, ``observed_topology``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .crossing import (
    CrossingPaths, DroppingAtTheLimit, RefusingReceiver, RefusingTheHead, WaitingAtTheLimit,
    WithoutTransferThread,
)
from .observed_topology import ObservedRun

__all__ = ["EXPECTATIONS", "PathsSeen"]


class PathsSeen(View[CrossingPaths]):
    """What is written to the links."""

    @shown
    def emit(self, before: CrossingPaths, after: CrossingPaths, worker: int) -> Seen:
        return see("writes", standing=len(before.link[worker]))

    @shown
    def forward(self, before: CrossingPaths, after: CrossingPaths, worker: int) -> Seen:
        return see("writes", standing=len(before.link[worker]))

    def at_rest(self, machine: CrossingPaths) -> Iterable[Seen]:
        """Nobody can go on."""
        yield see("stalls")


PATHS = refines(CrossingPaths, ObservedRun, "two paths that cross go on", shows=PathsSeen,
                seen_by={"W": "W"}, W=1, H=0)

EXPECTATIONS = (
    PATHS,
    refines(DroppingAtTheLimit, ObservedRun, "dropping at the limit stops nobody",
            shows=PathsSeen, seen_by={"W": "W"}, W=1, H=1, X=0),
    refines(RefusingReceiver, ObservedRun, "a receiver that refuses stops nobody",
            shows=PathsSeen, seen_by={"W": "W"}, W=1),
    refused(WaitingAtTheLimit, "STORM-C13", "a receiving thread waits at the limit (D7)",
            like=PATHS, X=0),
    refused(WithoutTransferThread, "STORM-C13", "nothing leaves the worker (STORM-2983)",
            like=PATHS),
    refused(RefusingTheHead, "STORM-C13", "what is refused is tried again before what is next",
            like=PATHS),
)
