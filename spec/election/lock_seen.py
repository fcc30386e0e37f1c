"""An election by a lock, as its observer sees it.

Theory. The observer is told what candidates are told, and sees what the store does with their
writes. It numbers no tokens: of each it says whether it is greater than all before, or the one that
this candidate had (``Token``). That all is quiet can be seen when nobody is stopped and all that
there was to hear was heard; then whoever believes that it leads is asked for.

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
    """``history``: the greatest token that was told, and the last that each was told."""

    history: tuple[int, tuple[int, ...]] = (0, ())
    same = ("join", "resign")

    def begins(self, machine: Lock) -> Iterable[Seen]:
        """Nobody was told anything."""
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
        """Who leads, once all is quiet."""
        if self.enabled & {"hear_of_lead", "hear_of_loss", "go"}:
            return
        leading = [each for each in range(machine.N)
                   if machine.believes[each] > 0 and machine.believes[each] == machine.token[each]
                   and machine.line[0] == each]
        yield see("quiet", candidate=leading[0]) if leading else see("quiet_without")


SEEN = refines(Lock, ObservedElection, "an election by a lock is as it has to be", shows=LockSeen,
               seen_by={"N": "N", "K": "K"}, N=2, K=3, X=(0, 1))

EXPECTATIONS = (
    SEEN,
    *(refused(variant, rule, about, like=SEEN, X=X) for variant, rule, about, X in (
        (DeletingAnothers, "ELECT-1", "who resigns deletes the leader's node", 0),
        (Unfenced, "ELECT-2", "a stopped leader writes last", 1),
        (TokensBeginAgain, "ELECT-3", "two leaders with one token", 0),
        (StrictStore, "ELECT-4", "a leader can write once", 0),
        (GhostNode, "ELECT-5", "a node outlives its session", 1),
        (MissedWatch, "ELECT-6", "the next in line hears nothing", 0),
        (Forgetful, "ELECT-7", "no new node after a session's end", 1),
        (DeafLeader, "ELECT-8", "a leader is not told of its session's end", 1),
    )),
)
