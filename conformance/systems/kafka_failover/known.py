"""What is known of a history beside the machines that judge it: places, logs, records, eras."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Era", "Log", "Place", "Written"]


class Place:
    """What is known of an offset beside its machine: the number of each value met there, and the
    leaders that committed it since anybody appended, cut, or came into the ISR: they may do so
    again at any time, and nothing is new then."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self.holders: set[int] = set()
        self.committed_by: set[int] = set()

    def number(self, value: int) -> int:
        """The number of a value, from 0."""
        return self._numbers.setdefault(value, len(self._numbers))


class Era:
    """A partition from an unclean election on: no promise of before is left, and each holds anew.

    It begins when somebody takes writes in the ``epoch`` of that election, or a later one; what
    leaders of earlier epochs say or do is not judged, since they may go on alone.
    """

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.has_begun = False


class Log:
    """What a replica holds, by offset, as far as it has told."""

    def __init__(self) -> None:
        self.values: dict[int, int] = {}

    def cut(self, at: int) -> None:
        """Forget what it held from an offset on."""
        self.values = {offset: value for offset, value in self.values.items() if offset < at}


@dataclass
class Written:
    """What is known of a record beside its machine: for whom it is, and where it is."""

    partition: int
    acks_all: bool
    offset: int = -1            # where it was when it was acknowledged
    is_told: bool = False
