"""Bugs of Storm's history about replayable sources, and readings of its texts."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("STORM-643, STORM-644, STORM-646, STORM-647, STORM-1131",
        "an offset that has left the log is sought forever",
        twins="storm-643-gone-sought-for-ever", machines="storm.source.KeepingDroppedFailed"),
    bug("STORM-511", "out of range is not passed on to emittedTo", twins="storm-511-out-of-range"),
    bug("STORM-1455", "one stale offset resets the position", twins="storm-1455-stale-starts-over"),
    bug("STORM-399", "messages too far behind are dropped", twins="storm-399-behind-is-lost",
        machines="storm.source.LookingBackOnly"),
    bug("STORM-2608", "an offset that has left the log stays pending",
        twins="storm-2608-gone-stays-pending", machines="storm.source.KeepingDroppedPending"),
    bug("STORM-2296", "a new leader's manager knows nothing",
        twins="storm-2296-successor-knows-nothing"),
    bug("STORM-2361", "acks are not routed to the new manager", twins="storm-2361-acks-astray"),
    bug("STORM-810", "no commit before the end", twins="storm-810-close-without-commit"),
    bug("STORM-2343", "many failures stop all reading", twins="storm-2343-failures-stop-reading"),
    bug("STORM-2549", "acked messages count as outstanding",
        twins="storm-2549-acked-stop-reading"),
    bug("STORM-2666", "acked messages are emitted again",
        twins="storm-2666-replays-the-acked storm-3301-waiting-not-purged",
        machines="storm.source.ReplayingAll"),
    bug("STORM-3301, STORM-2835", "waiting messages are not purged after a commit",
        twins="storm-3301-waiting-not-purged"),
    bug("STORM-2844", "a restart begins with the earliest",
        twins="storm-2844-starts-from-earliest"),
    bug("STORM-2546", "a retry that compaction has removed blocks the rest",
        twins="storm-2546-gone-retry storm-2546-void-stops-commit"),
    bug("STORM-2505", "voids stop the commit", twins="storm-2505-voids-not-seen"),
    bug("STORM-2639", "voids are counted", twins="storm-2639-voids-counted"),
    bug("STORM-2413", "the retry limit is not respected", twins="storm-2413-retries-for-ever"),
    bug("STORM-2014", "one retry too many", twins="storm-2014-one-retry-more"),
    bug("FAIL removes pending", "a failed offset is not pending",
        twins="partition-failed-not-pending", machines="storm.source.ForgettingFailed"),
    bug("D13", "an offset is pending from its emit on", twins="partition-pending-at-emit",
        machines="storm.source.AddingAtEmit"),
    bug("commit max(acked) + 1", "the commit is the highest acked plus one",
        twins="partition-commits-the-highest", machines="storm.source.CommittingHighest"),
    bug("shared message id", "if tuples share an id, the first ack counts",
        twins="partition-first-ack-counts", machines="storm.source.SharingAnId"),
)
