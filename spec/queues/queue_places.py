"""Items and takes of a queue that come one after the other, in the same places.

Theory. An item that was handed out is nowhere in the queue; that it was handed out is all that is
remembered of it, for one that comes a second time. A take that neither waits nor holds an item is
over. Which number the next item has, or the next take, is all the same.

Source: queue.
"""

from __future__ import annotations

from ..notation import action, require, upto
from ..notation.places import Reuse
from .queue import BoundedQueue

__all__ = ["ITEMS", "TAKES", "ItemPlaces", "TakePlaces"]


class ItemPlaces(BoundedQueue):
    """A queue of which the items that were handed out leave their places."""

    @action(item=upto(BoundedQueue.K))
    def leaves_its_place(self, item: int) -> None:
        """An item was handed out, or never came in, and its put is over."""
        require(not any(other == item for other in self.inside))
        require(not any(other == item for other in self.puts))
        require(not any(other == item for other in self.holds))
        require(item not in self.admitted)
        self.out.discard(item)


class TakePlaces(BoundedQueue):
    """A queue of which the takes that are over leave their places."""

    @action(ticket=upto(BoundedQueue.T))
    def leaves_its_place(self, ticket: int) -> None:
        """A take is over."""
        require(not any(other == ticket for other in self.takes))
        require(self.holds[ticket] == self.K)


ITEMS = Reuse(ItemPlaces, "K", ("item",), {"C": 1, "T": 2, "W": 2},
              holds=("named", "inside", "puts", "holds"), given=("named",))

TAKES = Reuse(TakePlaces, "T", ("ticket",), {"C": 1, "K": 2, "W": 2}, holds=("asked", "takes"),
              given=("asked",))
