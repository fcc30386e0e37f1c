"""Ends of links of several chapters, as ends of the reference's link.

In these chapters an element arrives in the step in which it is sent, and a credit in the step that
gives it back. Here the harness carries both, so one machine plays one end: a receiver, to which an
element comes with the step that sends it, or a sender, to which a credit comes with the step that
processes an element.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ....reference.flow.link import LinkMisuse, Processed
from ....spec.flow.fan_in import FanIn
from ....spec.flow.frames import Gathering, PayingLateForLittle
from ....spec.flow.frames_seen import StageSeen
from ....spec.flow.shares_seen import AllLinks, FirstLink
from ....spec.flow.sums import Shares
from ....spec.notation.machine import Machine
from ....spec.notation.views import Seen, View
from ...adapters.base import Declined
from ...ports.base import UNSUPPORTED
from ...suites.mechanism import Mechanism
from .adapter import ReferenceLink

__all__ = [
    "AllSenders", "BatchesOfTheBook", "OneOfSeveral", "ReceiverOfTheBook", "SendersOfTheBook",
    "SingleCredits", "StageOfTheBook",
]


class ReceiverOfTheBook(Mechanism):
    """A receiver. ``comes`` are the steps with which an element arrives, and ``goes`` those with
    which one is processed, by action and sender."""

    comes: ClassVar[Sequence[Mapping[str, int]]] = ({},)
    goes: ClassVar[tuple[str, Sequence[Mapping[str, int]]]]

    def __init__(self, **constants: int) -> None:
        super().__init__(**constants)
        self._elements: deque[int] = deque()

    def arrive(self, element: int) -> int:
        """An element comes. Raises ``LinkMisuse`` if there is no credit for it."""
        shown = self._all("send", self.comes)
        if shown is None:
            raise LinkMisuse("an element without a credit")
        self._elements.append(element)
        return 0

    def process(self) -> Processed[int]:
        """The oldest element, and the credits of the message that follows; 0: there is none."""
        action, steps = self.goes
        shown = self._all(action, steps) if self._elements else None
        if shown is None:
            raise LinkMisuse("there is no element to process")
        return Processed(self._elements.popleft(), _credits((*shown, *self.settle())))

    def _all(self, action: str, steps: Iterable[Mapping[str, int]]) -> tuple[Seen, ...] | None:
        """The observer's steps that some steps show; None if one is not enabled."""
        shown: tuple[Seen, ...] = ()
        for arguments in steps:
            more = self.fire(action, **arguments)
            if more is None:
                return None
            shown += more
        return shown


def _credits(shown: Iterable[Seen]) -> int:
    """The credits that are granted."""
    found: list[Any] = [dict(arguments) for name, arguments in shown if name == "grants"]
    return sum(each["count"] for each in found)


class StageOfTheBook(ReceiverOfTheBook):
    """A stage that makes one of two, and pays for each when it takes it."""

    machine: ClassVar[type[Machine]] = Gathering
    view: ClassVar[type[View[Any]]] = StageSeen
    own = ("make",)
    goes = ("take", ({},))

    def __init__(self, capacity: int, batch: int) -> None:
        super().__init__(m=2, B=capacity)


class BatchesOfTheBook(StageOfTheBook):
    """A stage that makes one of a batch, and pays for all of them then."""

    machine: ClassVar[type[Machine]] = PayingLateForLittle

    def __init__(self, capacity: int, batch: int) -> None:
        ReceiverOfTheBook.__init__(self, m=batch, B=capacity)


class OneOfSeveral(ReceiverOfTheBook):
    """The link of the first of two senders; the other one sends as much, at the same times."""

    machine: ClassVar[type[Machine]] = FanIn
    view: ClassVar[type[View[Any]]] = FirstLink
    comes = ({"sender": 0}, {"sender": 1})
    goes = ("free", comes)

    def __init__(self, capacity: int, batch: int) -> None:
        super().__init__(n=2, c=capacity, C=2 * capacity)


class AllSenders(ReceiverOfTheBook):
    """The receiver of a link that is those of several senders, taken together."""

    machine: ClassVar[type[Machine]] = Shares
    view: ClassVar[type[View[Any]]] = AllLinks
    goes = ("free", ({},))

    def __init__(self, capacity: int, batch: int) -> None:
        super().__init__(n=capacity, c=1, C=capacity)


class SendersOfTheBook(Mechanism):
    """Those senders, as one end."""

    machine: ClassVar[type[Machine]] = Shares
    view: ClassVar[type[View[Any]]] = AllLinks

    def __init__(self, permits: int) -> None:
        super().__init__(n=permits, c=1, C=permits)
        self._waiting: deque[int] = deque()

    def offer(self, elements: Iterable[int]) -> list[int]:
        """There are more elements; those that are sent now."""
        self._waiting.extend(elements)
        return self._send()

    def permit(self, count: int) -> list[int]:
        """So many elements were processed; those that are sent now."""
        for _ in range(count):
            self.fire("free")
        return self._send()

    def _send(self) -> list[int]:
        sent = []
        while self._waiting and self.fire("send") is not None:
            sent.append(self._waiting.popleft())
        return sent


class SingleCredits(ReferenceLink):
    """A link with a receiver without batches."""

    name = "link of the book"

    def start(self, settings: Mapping[str, Any]) -> None:
        """Begin with a fresh instance."""
        if settings["batch"] != 1:
            raise Declined(f"{UNSUPPORTED}batch")
        super().start(settings)
