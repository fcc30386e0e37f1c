"""Roots of an observed spout that come one after the other, in the same places.

Theory. A root that is not pending leaves nothing in the executor, not even that it was emitted. So
one place stands for all roots that are not pending.

Source: observed_spout.
"""

from __future__ import annotations

from ...notation import action, require, upto
from ...notation.places import Reuse
from .observed_spout import ObservedSpout

__all__ = ["ROOTS", "SpoutPlaces"]


class SpoutPlaces(ObservedSpout):
    """A spout of which the roots that are not pending leave their places."""

    @action(root=upto(ObservedSpout.R))
    def leaves_its_place(self, root: int) -> None:
        """A root is not pending."""
        require(self.left[root] == 0)


ROOTS = Reuse(SpoutPlaces, "R", ("root", "first", "second"), {"N": 2, "M": 2})
