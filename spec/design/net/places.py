"""The places of a link, as data: what they are called, and how many elements they are for."""

from __future__ import annotations

from dataclasses import dataclass

from ..reading.language import Flow, Link

__all__ = ["LinkPlaces", "Unbounded", "free_threads"]


@dataclass(frozen=True)
class Unbounded:
    """How unbounded links are made finite.

    ``most`` elements are counted. With ``abstract`` true, the count ``most`` stands for
    "so many or more": a write leaves it there, a read may or may not. Every real run is
    then a run of the net, so a net that never deadlocks means a design that never
    does. With ``abstract`` false the count stops there, as a bounded queue's does.
    """

    most: int
    abstract: bool


def free_threads(pool: str) -> str:
    """The name of a pool's place."""
    return f"free threads of {pool}"


@dataclass(frozen=True)
class LinkPlaces:
    """The places of one link.

    ``least_taken`` is the fewest elements that a reader takes at once, ``most_moved`` the most that
    anybody reads or writes at once. ``abandoned`` says that all its readers may cease to run.
    """

    link: Link
    unbounded: Unbounded
    least_taken: int = 1
    most_moved: int = 1
    abandoned: bool = False

    @property
    def queue(self) -> str:
        """The place of the elements."""
        return f"elements in {self.link.name}"

    @property
    def permits(self) -> str:
        """The place of the permits at the writer."""
        return f"permits for {self.link.name}"

    @property
    def freed(self) -> str:
        """The place of the freed slots that are not yet announced."""
        return f"freed slots of {self.link.name}"

    @property
    def budget(self) -> str:
        """The place of the losses that may still happen."""
        return f"possible losses on {self.link.name}"

    @property
    def slots(self) -> str:
        """The place of the free slots, where other links share them; else empty."""
        return free_threads(self.link.room) if self.link.room else ""

    @property
    def is_credit(self) -> bool:
        """True if permits go round."""
        return self.link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT)

    @property
    def capacity(self) -> int:
        """How many elements are counted."""
        if self.link.capacity is not None:
            return self.link.capacity
        return max(self.unbounded.most, self.link.initial, self.most_moved)

    @property
    def meets(self) -> bool:
        """True if writer and reader must meet, because nothing fits in between."""
        return self.link.capacity == 0
