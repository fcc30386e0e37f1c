"""Calls at a gate that come one after the other, in the same places.

Theory. A call that has ended is in none of the gate's sets, and calls come in the order of their
numbers. So the others may move together, and the next call comes after them.

Source: gate.
"""

from __future__ import annotations

from ...notation import action, require, upto
from ...notation.places import Reuse
from .gate import Gate

__all__ = ["CALLS", "GatePlaces"]


class GatePlaces(Gate):
    """A gate of which the calls that have ended leave their places."""

    @action(call=upto(Gate.K))
    def leaves_its_place(self, call: int) -> None:
        """A call has ended."""
        require(call not in self.waiting and call not in self.may_pass)
        require(call not in self.stopping and call not in self.away)


CALLS = Reuse(GatePlaces, "K", ("call",), counts=("came",), next=("came",), ordered=True,
              unused=("fails", "stopped_on_its_way"))
