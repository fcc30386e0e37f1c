"""An election by a lock, as its observer sees it.

Theory. The observer sees what candidates report, and what the store does with their writes. It
numbers no tokens: of each it records whether it is greater than all before, or the one that this
candidate already had (``Token``). The system is quiescent when no candidate is stopped and every
notification has been received; then the observer asks which candidate believes that it leads.

Source: ``lock``, ``observed_election``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .lock import (
    DeafLeader, DeletingAnothers, Forgetful, GhostNode, Lock, MissedWatch, StrictStore,
    TokensBeginAgain, Unfenced,
)
from .observed_election import ObservedElection, Token

__all__ = ["EXPECTATIONS", "LockSeen"]


class LockSeen(View[Lock]):
    """``history``: the greatest token reported so far, and the last one of each candidate."""

    history: tuple[int, tuple[int, ...]] = (0, ())
    same = ("join", "resign")

    def begins(self, machine: Lock) -> Iterable[Seen]:
        """No candidate has reported anything yet."""
        self.history = 0, (0,) * machine.N
        return ()

    @shown
    def ask(self, before: Lock, after: Lock, candidate: int) -> Seen:
        token = after.holds[candidate]
        if token == 0:
            return see("leads_not", candidate=candidate)
        greatest, told = self.history
        kind = (Token.NEWER if token > greatest
                else Token.SAME if token == told[candidate] else Token.OLD)
        self.history = max(greatest, token), (*told[:candidate], token, *told[candidate + 1:])
        return see("leads", candidate=candidate, token=kind)

    @shown
    def write(self, before: Lock, after: Lock, candidate: int) -> Seen:
        taken = before.takes(before.holds[candidate])
        return see("accepted" if taken else "refused", candidate=candidate)

    @shown
    def stop(self, before: Lock, after: Lock, candidate: int) -> Seen:
        return see("shake", candidate=candidate)

    @shown
    def end_session(self, before: Lock, after: Lock, candidate: int) -> Seen:
        return see("shake", candidate=candidate)

    def asked(self, machine: Lock) -> Iterable[Seen]:
        """The candidate that leads once the system is quiescent, or that none leads."""
        if self.enabled & {"hear_of_lead", "hear_of_loss", "go"}:
            return
        leading = [each for each in range(machine.N)
                   if machine.believes[each] > 0 and machine.believes[each] == machine.token[each]
                   and machine.line[0] == each]
        yield see("quiet", candidate=leading[0]) if leading else see("quiet_without")


SEEN = refines(Lock, ObservedElection, "an election by a lock satisfies the election rules",
               shows=LockSeen,
               seen_by={"N": "N", "K": "K"}, N=2, K=3, X=(0, 1))

EXPECTATIONS = (
    SEEN,
    *(refused(variant, rule, about, like=SEEN, X=X) for variant, rule, about, X in (
        (DeletingAnothers, "ELECT-1", "a resigning candidate deletes the leader's node", 0),
        (Unfenced, "ELECT-2", "a stopped leader writes last", 1),
        (TokensBeginAgain, "ELECT-3", "two leaders have the same token", 0),
        (StrictStore, "ELECT-4", "a leader can write once", 0),
        (GhostNode, "ELECT-5", "a node outlives its session", 1),
        (MissedWatch, "ELECT-6", "the next candidate hears nothing", 0),
        (Forgetful, "ELECT-7", "no new node after a session's end", 1),
        (DeafLeader, "ELECT-8", "a leader is not notified of its session's end", 1),
    )),
)
