"""A new connection, as the observer of statuses sees it.

Theory. ``joining`` has U's connection to the task's worker, which breaks and comes back, on top of
``status``. ``observed_status`` sees that it breaks, that U connects again, and which status is sent
to it. Under the lock this is one step. As written it is three: the observer sees N begin, and
finish when the connection is added; the status that was sent to the new connection reaches U after
that.

Source: ``joining``, ``status_seen``, ``observed_status``.
"""

from __future__ import annotations

from dataclasses import replace

from ...notation.views import Seen, see, shown
from ...refinements import refines, refused
from .joining import HandshakeIgnored, Joining, JoiningAsWritten, JoiningLocked, Link
from .observed_status import ObservedStatus
from .status import LockedSpill
from .status_seen import StatusSeen

__all__ = ["EXPECTATIONS", "AsWrittenSeen", "JoiningSeen"]


class JoiningSeen(StatusSeen):
    """A connection that is accepted in one step."""

    @shown
    def disconnect(self, before: Joining, after: Joining) -> Seen:
        self.history = *self.history[:2], ()
        return see("disconnected")

    @shown
    def accept(self, before: Joining, after: Joining) -> Seen:
        return see("joined", told=self.told(before, after))


class AsWrittenSeen(JoiningSeen):
    """A connection that is accepted, receives the snapshot, and is added, in separate steps."""

    def follows(self, machine: LockedSpill, action: str) -> bool:
        """U hears nothing until the connection is added."""
        assert isinstance(machine, Joining)
        is_joining = machine.link == Link.JOINING
        return super().follows(machine, action) and not (is_joining and action == "hear")

    @shown
    def accept(self, before: Joining, after: Joining) -> Seen:
        return see("join_begun", told=0)

    @shown
    def add(self, before: Joining, after: Joining) -> Seen:
        drains, count, under_way = self.history
        self.history = drains, count + 1, (*under_way, count)
        return see("finished", told=1 + int(after.channel[-1].on))


JOINED = refines(JoiningLocked, ObservedStatus, "the current status is sent to a new connection",
                 shows=JoiningSeen,
                 seen_by={"n": 1, "A": 1, "R": "R", "P": 2, "K": 4, "S": 4},
                 room=("self.spilled_so_far < self.S", "self.told < self.K"),
                 R=1, H=0, W=1, M=4, E=1)
AS_WRITTEN = replace(JOINED, machine=JoiningAsWritten, shows=AsWrittenSeen)

EXPECTATIONS = (
    JOINED,
    refused(HandshakeIgnored, "STORM-O9", "U ignores statuses before the handshake is over "
            "(STORM-3763)", like=JOINED),
    refused(JoiningAsWritten, "STORM-O10", "the flag is cleared between snapshot and adding (D5)",
            like=AS_WRITTEN),
)
