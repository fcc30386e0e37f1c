"""Every bug of Storm's history that the chapters were written for, and what became of it here.

A row is one bug. It is a *twin*, which a suite must kill; or a *machine* of a chapter, on
which ``checkvalve verify`` expects a violated rule; or both; or it is behaviour that the
chapters do not model, and the row says why. ``checkvalve zoo --histories`` prints the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["HISTORIES", "History", "lines"]


class History(NamedTuple):
    """A bug: its issues, what went wrong, and its twins and machines (``chapter.Machine``)."""

    issues: tuple[str, ...]
    bug: str
    twins: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    not_modelled: str = ""


def _row(issues: str, bug: str, twins: str = "", machines: str = "",
         not_modelled: str = "") -> History:
    return History(tuple(issues.split(", ")), bug, tuple(twins.split()), tuple(machines.split()),
                   not_modelled)


_MESSAGING: Final = (
    _row("STORM-3073", "pendingEmits throws when it is full", "cluster-STORM-3073",
         "storm.topology.BoundedPending storm.topology.EmittingInAck"),
    _row("STORM-3637", "bolts that feed each other deadlock", "cluster-STORM-3637",
         "storm.topology.LoopingBolts"),
    _row("STORM-3141", "only an executor's first task is known to the tracker",
         "STORM-3141"),
    _row("review of STORM-3141", "getAndSet without negation", "STORM-3141-review",
         "storm.status_mutants.NegatedRecord"),
    _row("STORM-3763", "a new connection's status is ignored", "STORM-3763 cluster-STORM-3763",
         "storm.joining.HandshakeIgnored"),
    _row("STORM-3070", "a decoder does not rewind on half a status",
         not_modelled="how messages are cut out of a stream of bytes: a link carries messages"),
    _row("STORM-3148", "the system task is reported, and the client fails on it",
         "STORM-3148 STORM-3148-client", "storm.status_mutants.FailingOnSystemTask"),
    _row("STORM-3751", "a tuple for a task that has moved ends the worker",
         "STORM-3751 cluster-STORM-3751"),
    _row("STORM-3376", "what arrives before the callback is set is dropped",
         "STORM-3376 cluster-STORM-3376"),
    _row("STORM-2983", "the transfer thread is not started", "cluster-STORM-2983",
         "storm.crossing.WithoutTransferThread"),
    _row("review of PR 2241", "flush tuples are enabled by the wrong configuration",
         "STORM-2306-flush", "storm.batching.BatchingAsWritten"),
    _row("review of PR 2502", "a task is moved between two maps while the receiver writes",
         "PR-2502-review", "storm.status_mutants.LookingInTwoMaps"),
    _row("STORM-3620", "threads share a serializer",
         not_modelled="what a tuple holds, and threads inside of one execution: a tuple is a "
                      "name here"),
    _row("STORM-1027", "a metrics tick waits in the spout's thread", "",
         "storm.topology.BlockingFlush"),
    _row("STORM-292", "emit waits on a full queue", "cluster-gated-spout",
         "storm.topology.BoundedPending"),
    _row("STORM-342, STORM-350, STORM-797", "publishing races the flush of a cache",
         "STORM-342", "storm.batching.SpillingOnly"),
    _row("STORM-996", "a batch is delivered out of order", "STORM-996 cluster-STORM-996"),
    _row("STORM-329, STORM-404, STORM-510", "one dead worker blocks its peers",
         "cluster-STORM-329"),
    _row("STORM-744", "a queue without a bound", "STORM-744 cluster-STORM-744"),
    _row("STORM-1087", "backpressure stuck off", "STORM-1087 cluster-STORM-1087"),
    _row("STORM-1949", "the flag is changed before its writing succeeded", "STORM-1949",
         "storm.status.LockedSpill"),
    _row("STORM-1696, STORM-2744", "backpressure stuck on", "STORM-2744",
         "storm.status.StatusAsWritten"),
    _row("JStorm #404", "a lost 'stop backpressure'", "D6 cluster-D6-no-repetition",
         "storm.status.LockedSpill"),
    _row("JStorm #377", "spout, bolt and acker wait for each other", "cluster-gated-spout",
         "storm.topology.SpoutThatStopsConsuming"),
)

_RELIABILITY: Final = (
    _row("STORM-2786", "no ticks reach the acker", "storm-2786-no-ticks",
         "storm.acker_mutants.AckerWithoutTicks storm.rotating.MemoryWithoutTicks"),
    _row("STORM-3300", "a RESET_TIMEOUT for an unknown id ends the acker",
         "storm-3300-unknown-reset"),
    _row("STORM-3514", "without timeouts a lost tuple takes a place for ever",
         "storm-3514-no-timeouts",
         "storm.spout.PendingWithoutTimeouts storm.acker.LossyAcker"),
    _row("STORM-549", "what timed out goes on taking a place", "storm-549-place-kept"),
    _row("STORM-17", "two roots get the same id",
         "storm-17-id-given-twice", "storm.collision.TwoRoots"),
    _row("STORM-1595", "a fail reaches the spout only by its timeout",
         "storm-1595-fail-by-timeout"),
    _row("STORM-643, STORM-644, STORM-646, STORM-647, STORM-1131",
         "an offset that has left the log is sought for ever",
         "storm-643-gone-sought-for-ever", "storm.source.KeepingDroppedFailed"),
    _row("STORM-511", "out of range is not passed on to emittedTo", "storm-511-out-of-range"),
    _row("STORM-1455", "one stale offset starts all over", "storm-1455-stale-starts-over"),
    _row("STORM-399", "what is too far behind is dropped", "storm-399-behind-is-lost",
         "storm.source.LookingBackOnly"),
    _row("STORM-2608", "what has left the log stays pending", "storm-2608-gone-stays-pending",
         "storm.source.KeepingDroppedPending"),
    _row("STORM-2296", "a new leader's manager knows nothing",
         "storm-2296-successor-knows-nothing"),
    _row("STORM-2361", "acks are not routed to the new manager", "storm-2361-acks-astray"),
    _row("STORM-810", "no commit before the end", "storm-810-close-without-commit"),
    _row("STORM-2343", "many failures stop all reading", "storm-2343-failures-stop-reading"),
    _row("STORM-2549", "what is acked counts as outstanding", "storm-2549-acked-stop-reading"),
    _row("STORM-2666", "what was acked is emitted again",
         "storm-2666-replays-the-acked storm-3301-waiting-not-purged",
         "storm.source.ReplayingAll"),
    _row("STORM-3301, STORM-2835", "what waits is not purged after a commit",
         "storm-3301-waiting-not-purged"),
    _row("STORM-2844", "a restart begins with the earliest", "storm-2844-starts-from-earliest"),
    _row("STORM-2546", "a retry that compaction has removed is stuck",
         "storm-2546-gone-retry storm-2546-void-stops-commit"),
    _row("STORM-2505", "voids stop the commit", "storm-2505-voids-not-seen"),
    _row("STORM-2639", "voids are counted", "storm-2639-voids-counted"),
    _row("STORM-2413", "the retry limit is not respected", "storm-2413-retries-for-ever",
         "storm.source.GivingUp"),
    _row("STORM-2014", "one retry too many", "storm-2014-one-retry-more"),
)

_READINGS: Final = (
    _row("D1", "alternation item by item", "D1", "storm.queue.AlternatingInput"),
    _row("D2", "the limit is read after recvQ was drained", "D2",
         "storm.queue.DrainThenSizeInput"),
    _row("rL before oL", "recvQ's size is read first", "D2-sizes",
         "storm.queue.RecvqSizeFirstInput"),
    _row("D9", "into recvQ whenever there is room", "D9", "storm.queue.IntoRecvqInput"),
    _row("D4", "statuses without numbers", "D4", "storm.status.StatusAsWritten"),
    _row("id after scan", "the number is taken after the reading", "D4-number",
         "storm.status.NumberedAfterReading"),
    _row("D5", "the snapshot first, then the connection is added", "D5",
         "storm.joining.JoiningAsWritten"),
    _row("D6", "OFF is not told again", "D6 cluster-D6-no-repetition",
         "storm.status.LockedSpill"),
    _row("block at limit", "the receiving thread waits", "D7-block",
         "storm.crossing.WaitingAtTheLimit"),
    _row("drop head", "drop the oldest, not the tuple that arrives", "D7-head",
         "storm.limit.DroppingTheHead"),
    _row("drop when |ovf| > limit", "one above the limit", "D7-above",
         "storm.limit.DroppingAbove"),
    _row(">= 10000", "a reminder one tuple early", "early-reminder",
         "storm.status_mutants.HastyReminders"),
    _row("spout gates recvQ", "the spout stops consuming", "cluster-gated-spout",
         "storm.topology.SpoutThatStopsConsuming"),
    _row("greedy bolt", "a bolt consumes with something pending", "cluster-greedy-bolt",
         "storm.topology.GreedyBolt"),
    _row("skipped head", "a blocked head is passed over", "cluster-skipped-head",
         "storm.senders.HeadSkippingSender"),
    _row("OR for XOR", "INIT is or-ed in", "acker-or-init", "storm.acker_mutants.OringInit"),
    _row("complete without INIT", "a zero value is enough", "acker-complete-without-init",
         "storm.acker_mutants.AckingAtZeroWithoutInit"),
    _row("ack refreshes", "an ACK renews the entry", "acker-ack-renews"),
    _row("FAIL removes pending", "a failed offset is not pending",
         "partition-failed-not-pending", "storm.source.ForgettingFailed"),
    _row("D13", "an offset is pending from its emit on", "partition-pending-at-emit",
         "storm.source.AddingAtEmit"),
    _row("commit max(acked) + 1", "the commit is the highest acked plus one",
         "partition-commits-the-highest", "storm.source.CommittingHighest"),
    _row("fail precedence", "fail before a value of zero", "acker-fail-first",
         "storm.acker_mutants.FailFirst"),
    _row("maxPending >", "> in the place of >=", "spout-over-the-maximum",
         "storm.spout.PendingOverMax"),
    _row("shared message id", "of tuples that share an id the first ack counts",
         "partition-first-ack-counts", "storm.source.SharingAnId"),
)

HISTORIES: Final = (*_MESSAGING, *_RELIABILITY, *_READINGS)
"""Storm's bugs in the order of its issues by subject, then readings of the text and mutants."""


def lines() -> Iterator[str]:
    """The table, one line for each bug."""
    for row in HISTORIES:
        yield f"{', '.join(row.issues)}: {row.bug}"
        for what, names in (("twins", row.twins), ("machines", row.machines)):
            if names:
                yield f"    {what}: {', '.join(names)}"
        if row.not_modelled:
            yield f"    not modelled: {row.not_modelled}"
