"""Knowledge about a history besides the machines: places, logs, records, eras."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Era", "Log", "Place", "Written"]


class Place:
    """An offset besides its machine: the number of each value that occurred there, and the leaders
    that committed it since the last append, cut, or arrival in the ISR: they may commit it again at
    any time, which shows nothing new."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self.holders: set[int] = set()
        self.committed_by: set[int] = set()

    def number(self, value: int) -> int:
        """The number of a value, counted from 0."""
        return self._numbers.setdefault(value, len(self._numbers))


class Era:
    """A partition after an unclean election: no earlier promise is left, and new ones begin.

    It begins when a broker takes writes in the ``epoch`` of that election, or a later one; events
    of leaders of earlier epochs are not judged, since these may continue alone.
    """

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.has_begun = False


class Log:
    """Values of a replica by offset, as far as reported."""

    def __init__(self) -> None:
        self.values: dict[int, int] = {}

    def cut(self, at: int) -> None:
        """Forget the values from an offset on."""
        self.values = {offset: value for offset, value in self.values.items() if offset < at}


@dataclass
class Written:
    """A record besides its machine: its partition, acknowledgement and offset."""

    partition: int
    acks_all: bool
    offset: int = -1            # the acknowledged offset
    is_told: bool = False
