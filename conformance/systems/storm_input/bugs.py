"""Bugs of Storm's history about a task's input, and readings of its texts."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("STORM-3376", "tuples that arrive before the callback is set are dropped",
        twins="STORM-3376 cluster-STORM-3376"),
    bug("review of PR 2241", "flush tuples are enabled by the wrong configuration",
        twins="STORM-2306-flush", machines="storm.batching.BatchingAsWritten",
        apart="The twin's flush does nothing (STORM-I12); in the chapter no thread calls for "
              "one, and the order breaks."),
    bug("STORM-342, STORM-350, STORM-797", "publishing races the flush of a cache",
        twins="STORM-342", machines="storm.batching.EmptyingOnly"),
    bug("STORM-996", "a batch is delivered out of order", twins="STORM-996 cluster-STORM-996"),
    bug("STORM-744", "a queue without a bound", twins="STORM-744 cluster-STORM-744"),
    bug("D1", "alternation item by item", twins="D1", machines="storm.queue.AlternatingInput"),
    bug("D2", "the limit is read after recvQ was drained", twins="D2",
        machines="storm.queue.DrainThenSizeInput"),
    bug("rL before oL", "recvQ's size is read first", twins="D2-sizes",
        machines="storm.queue.RecvqSizeFirstInput"),
    bug("D9", "into recvQ whenever there is a free slot", twins="D9",
        machines="storm.queue.IntoRecvqInput"),
    bug("block at limit", "the receiving thread waits", twins="D7-block",
        machines="storm.crossing.WaitingAtTheLimit"),
    bug("drop head", "drop the oldest, not the tuple that arrives", twins="D7-head",
        machines="storm.limit.DroppingTheHead"),
    bug("drop when |ovf| > limit", "one above the limit", twins="D7-above",
        machines="storm.limit.DroppingAbove"),
)
