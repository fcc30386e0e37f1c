"""Roots of an observed acker that come one after the other, in the same places.

Theory. A log names roots without end. A root without an entry leaves nothing in the acker but what
the rules remember of it: that it was answered, and that an entry of it has expired. If these two
are kept for a root that comes again, it needs no place meanwhile. What becomes of a root depends on
the messages about it and on the ticks, not on other roots: each may be judged by itself.

Source: observed_acker.
"""

from __future__ import annotations

from ...notation import action, require, upto
from ...notation.places import Reuse
from .observed_acker import ObservedAcker

__all__ = ["ROOTS", "AckerPlaces"]


class AckerPlaces(ObservedAcker):
    """An acker of which the roots without an entry leave their places."""

    @action(root=upto(ObservedAcker.R))
    def leaves_its_place(self, root: int) -> None:
        """A root has no entry; that it was answered, or has expired, is remembered elsewhere."""
        require(self.left[root] == 0 and self.is_zero(root))
        require(not self.known[root] and not self.failed[root])
        self.told.discard(root)
        self.expired.discard(root)


ROOTS = Reuse(AckerPlaces, "R", ("root",), {"N": 2},
              apart=("init", "ack", "fail", "reset_timeout", "tick", "stray"))
