"""Calls of acquire that come one after the other, in the same places.

Theory. A call that neither waits nor has a permit, nor is giving one back, is nowhere: its number
may be that of another one. Which number the next call has is all the same.

Source: permits.
"""

from __future__ import annotations

from ...notation import action, require, upto
from ...notation.places import Reuse
from .permits import Permits

__all__ = ["CALLS", "PermitsPlaces"]


class PermitsPlaces(Permits):
    """Permits of which the calls that are over leave their places."""

    @action(call=upto(Permits.K))
    def leaves_its_place(self, call: int) -> None:
        """A call is over."""
        require(not any(other == call for other in self.line))
        require(call not in self.granted and call not in self.held)
        require(call not in self.giving and call not in self.given and call not in self.stopping)


CALLS = Reuse(PermitsPlaces, "K", ("call",), {"C": 2, "W": 2}, holds=("asked", "line"),
              given=("asked",), unused=("stops",))
