"""Messages and consumers of an observed broker that come one after the other, in the same places.

Theory. Of a message that is over, or was never in the queue, it matters only which of the two it
is: another one that ended in the same way stands for it. How often it was given is asked for no
more. Messages are numbered in the order in which they are published, so those that stay move
together. A consumer without messages and without a limit is as one that has not come.

Source: observed_delivery.
"""

from __future__ import annotations

from ..notation import action, require, upto
from ..notation.places import Reuse
from .observed_delivery import ObservedDelivery, Where

__all__ = ["CONSUMERS", "MESSAGES", "ConsumerPlaces", "MessagePlaces"]


class MessagePlaces(ObservedDelivery):
    """A broker of which the messages that are over leave their places."""

    @action(message=upto(ObservedDelivery.R))
    def leaves_its_place(self, message: int) -> None:
        """A message is over, or was refused or dropped; which of these is remembered elsewhere."""
        at = self.where[message]
        require(at == Where.NOWHERE or at == Where.OVER or at == Where.OUT)
        require(self.holder[message] == self.W and self.left[message] == 0)
        require(self.times[message] < self.D)       # there is no such bound in a log
        self.where[message] = Where.NOWHERE
        self.times[message] = 0
        self.survived[message] = False


class ConsumerPlaces(ObservedDelivery):
    """A broker of which the consumers that have nothing leave their places."""

    @action(consumer=upto(ObservedDelivery.W))
    def leaves_its_place(self, consumer: int) -> None:
        """A consumer has no message and no limit."""
        require(self.limit[consumer] == 0)
        require(not any(other == consumer for other in self.holder))


MESSAGES = Reuse(
    MessagePlaces, "R", ("message",), {"W": 1, "T": 1, "D": 2, "K": 1}, ordered=True,
    kept=("where",), skipped=("counts", "counts_nothing"))

CONSUMERS = Reuse(
    ConsumerPlaces, "W", ("consumer",), {"R": 2, "T": 1, "D": 2, "K": 1}, holds=("holder",))
