"""A processor, as its publisher and its subscriber see it together.

Theory. A processor is a subscriber to one side and a publisher to the other, and has to keep the
rules of both (the specification's 4.1). So two observers judge it, each its own side, and each sees
of the other side what it needs: the processor can signal the elements that it has received, and an
element that it signals leaves its buffer. Once its subscriber cancels, it needs no more elements.

It makes one element of each, in order, and has one subscriber. A failure is passed on at once
(4.2): before the elements that wait, and without demand. Processors that recover are not covered.

Source: ``observed_publisher``, ``observed_subscriber``; reactive#R4-1, reactive#R4-2.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import action, boolean, choice, integer, require, upto
from .observed_publisher import Cause, ObservedPublisher
from .observed_subscriber import Subscribing
from .rules import PASSES_ON

__all__ = ["EXPECTATIONS", "ObservedInlet", "ObservedOutlet", "Source"]


class Source(IntEnum):
    """The end that the publisher above has signalled, if any."""

    OPEN = 0
    COMPLETED = 1
    FAILED = 2


class ObservedOutlet(ObservedPublisher):
    """The publishing side of a processor: its source is the elements that it has received."""

    brought = integer(0, ObservedPublisher.N)       # elements that were signalled to it
    source = choice(Source, Source.OPEN)

    @action
    def next(self) -> None:
        """An element is signalled to the processor."""
        require(self.brought < self.N)
        self.brought += 1

    @action
    def complete(self) -> None:
        """Its publisher has no more elements."""
        self.source = Source.COMPLETED

    @action
    def error(self) -> None:
        """Its publisher has failed."""
        self.source = Source.FAILED

    @action(s=upto(ObservedPublisher.S), deep=upto(ObservedPublisher.D + 1))
    def on_next(self, s: int, deep: int) -> None:
        """Signal the result for the next element, unless there is a failure to pass on."""
        require(not self.fails(), PASSES_ON)
        self.note_element(s, deep)

    @action(s=upto(ObservedPublisher.S), rests=True)
    def rests(self, s: int) -> None:
        """It is quiescent: nothing more comes for its subscriber, and no failure is owed."""
        require(not (self.fails() and self.is_on(s)), PASSES_ON)
        self.note_rest(s)

    def there(self) -> int:
        """Number of elements that were signalled to it so far."""
        return self.brought

    def is_over(self) -> bool:
        """True if its publisher has ended."""
        return self.source != Source.OPEN

    def fails(self) -> bool:
        """True if its publisher has failed."""
        return self.source == Source.FAILED

    def end_is_due(self, s: int) -> bool:
        """True if all elements before the end were signalled; the end needs no demand."""
        return self.is_over() and self.sent[s] == self.brought


class ObservedInlet(Subscribing):
    """The subscribing side of a processor: its application is the processor's subscriber."""

    S = ObservedPublisher.S
    D = ObservedPublisher.D

    joined = boolean(False)             # the processor has a subscriber

    @action(s=upto(S))
    def on_subscribe(self, s: int) -> None:
        """The processor's subscriber has its subscription."""
        self.joined = True

    @action(s=upto(S), deep=upto(D + 1))
    def on_next(self, s: int, deep: int) -> None:
        """An element has left the processor."""
        self.W = max(0, self.W - 1)

    @action(s=upto(S))
    def on_complete(self, s: int) -> None:
        """The end has been passed on."""
        self.told = True

    @action(s=upto(S), cause=Cause)
    def on_error(self, s: int, cause: int) -> None:
        """A failure has been passed on, or the subscriber made an illegal request."""
        self.told = True
        self.stopped = True

    @action(s=upto(S))
    def cancel(self, s: int) -> None:
        """Its subscriber needs no more elements, and so it needs none."""
        self.stopped = True

    def wants(self) -> bool:
        """True if the processor has a subscriber."""
        return self.joined


EXPECTATIONS = (
    expect(ObservedOutlet, "RS-0.3", "holds", "every accepted element was requested",
           S=1, N=(1, 2), X=0, D=1),
    expect(ObservedInlet, "RS-0.8", "holds", "what was requested fits", S=1, D=1, C=(1, 2)),
)
