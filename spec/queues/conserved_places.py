"""Items of a custodian that come one after the other, in the same places.

Theory. Of an item that is over it matters only how it ended: handed out, refused or cancelled. But
for the question whether anything is inside, what becomes of an item does not depend on others: each
may be judged by itself.

Source: conserved.
"""

from __future__ import annotations

from ..notation import action, require, upto
from ..notation.places import Reuse
from .conserved import ConservingQueue, Fate

__all__ = ["ITEMS", "ConservedPlaces"]


class ConservedPlaces(ConservingQueue):
    """A custodian of which the items that are over leave their places."""

    @action(item=upto(ConservingQueue.K))
    def leaves_its_place(self, item: int) -> None:
        """An item is over, and its put is too; how it ended is remembered elsewhere."""
        require(self.fate[item] != Fate.WAITING and self.fate[item] != Fate.INSIDE)
        require(item not in self.untold)
        self.fate[item] = Fate.UNNAMED


ITEMS = Reuse(ConservedPlaces, "K", ("item",), {"T": 2}, holds=("named",), given=("named",),
              kept=("fate",), apart=(
                  "offer_accepted", "offer_refused", "put_done", "put_waits", "woken_put",
                  "poll_item", "take_item", "cancelled_put", "too_late_for_put"))
