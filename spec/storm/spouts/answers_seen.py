"""A spout's reaction to an acker's answers, as the observer of a spout sees it.

Theory. ``acker`` follows one root with its spout, ``collision`` two messages that may be given one
id. Of both, ``observed_spout`` sees the ids that are emitted, the acker's answers, the spout's
calls, and ticks; the tree, and the messages under way, are hidden.

The chapters' timeouts come at any time. When one comes, the other roots are kept alive: each gets a
RESET_TIMEOUT before either of the two ticks that end the lost one. When no step is possible any
more, two ticks pass, and a root that still waits must have failed with the second.

Source: ``acker``, ``collision``, ``observed_spout``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..acking.acker import Acker, Answer, LossyAcker, Spout
from ..acking.acker_mutants import AnsweringSpout
from ..acking.acker_seen import AckerSeen
from ..acking.collision import DrawingAgain, TwoRoots
from .observed_spout import Due, ObservedSpout

__all__ = ["AnswersSeen", "EXPECTATIONS", "TwoRootsSeen"]

TICK = see("ticks")


class AnswersSeen(View[Acker]):
    """The root of ``acker``, with the calls that its spout makes."""

    around = AckerSeen.around

    @shown
    def emit_root(self, before: Acker, after: Acker, edges: int) -> Seen:
        return see("emits", first=0, second=0)

    @shown
    def hear(self, before: Acker, after: Acker, answer: Answer) -> Seen:
        if answer == Answer.RESET:
            return see("reset_timeout", root=0)
        due = Due.ACK if answer == Answer.ACK else Due.FAIL
        return see("ack" if due == Due.ACK else "fail", root=0,
                   calls=due if after.calls > before.calls else Due.NOTHING)

    @shown
    def time_out(self, before: Acker, after: Acker) -> list[Seen]:
        return [see("reset_timeout", root=0), TICK, see("times_out", root=0), TICK]

    def at_rest(self, machine: Acker) -> Iterable[Sequence[Seen]]:
        """Two ticks without an answer."""
        if machine.spout == Spout.WAITING:
            yield TICK, TICK


class TwoRootsSeen(View[TwoRoots]):
    """Messages by the ids that they are given."""

    around = ("process",)               # the topology

    @shown
    def emit(self, before: TwoRoots, after: TwoRoots, message: int) -> Seen:
        return see("emits", first=after.root[message], second=after.root[message])

    @shown
    def hear(self, before: TwoRoots, after: TwoRoots, root: int) -> Seen:
        return see("ack", root=root, calls=Due.ACK if before.carries[root] < 2 else Due.NOTHING)

    @shown
    def time_out(self, before: TwoRoots, after: TwoRoots, root: int) -> list[Seen]:
        other = see("reset_timeout", root=1 - root)
        return [see("reset_timeout", root=root), other, TICK, other,
                see("times_out", root=root), TICK]

    def at_rest(self, machine: TwoRoots) -> Iterable[Sequence[Seen]]:
        """Two ticks without an answer."""
        if any(message < 2 for message in machine.carries):
            yield TICK, TICK


SEEN = refines(Acker, ObservedSpout, "each root is acked or failed once", shows=AnswersSeen,
               seen_by={"M": 0, "R": 1}, E=2, W=1, T=(0, 1))
TWO = refines(DrawingAgain, ObservedSpout, "no pending id is given again",
              shows=TwoRootsSeen, seen_by={"M": 0, "R": 2}, T=(0, 1))

EXPECTATIONS = (
    SEEN, TWO,
    refused(AnsweringSpout, "STORM-K43", "late answers are not ignored", like=SEEN, T=1),
    refused(LossyAcker, "STORM-K46", "without timeouts a lost message is waited for forever "
            "(STORM-3514)", like=SEEN, T=0),
    refused(TwoRoots, "STORM-K42", "an id is drawn that is pending (STORM-17)", like=TWO, T=0),
)
