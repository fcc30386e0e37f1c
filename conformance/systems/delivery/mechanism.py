"""The chapter's broker as a core of the reference's adapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, NamedTuple

from ....reference.flow.broker import Full
from ....spec.flow.broker import Broker
from ....spec.flow.broker_seen import BrokerSeen
from ....spec.flow.observed_delivery import Law
from ....spec.notation.machine import Machine
from ....spec.notation.views import Seen
from ...suites.mechanism import Mechanism
from .adapter import ReferenceBroker
from .suite import CONSUMERS, MESSAGES

__all__ = ["BrokerOfTheBook", "UnlimitedTries"]

_DELIVERIES: Final = 2**20
"""More deliveries, kills and places of a window than any program has."""

_LAWS: Final = {
    (Full.REFUSE, False): Law.REFUSE, (Full.DROP_HEAD, False): Law.DROP_HEAD,
    (Full.DROP_TAIL, False): Law.DROP_TAIL, (Full.UNBOUNDED, False): Law.UNBOUNDED,
    (Full.UNBOUNDED, True): Law.ANY_ORDER}


class _Letter(NamedTuple):
    """A message that is given or buried."""

    message: int | str


class BrokerOfTheBook(Mechanism):
    """In the chapter messages are numbers."""

    machine: ClassVar[type[Machine]] = Broker
    view = BrokerSeen

    def __init__(self, places: int, timeout: int, full: Full, *, behind: bool) -> None:
        super().__init__(K=places, T=timeout, W=CONSUMERS, R=MESSAGES, D=_DELIVERIES,
                         X=_DELIVERIES, P=_LAWS[full, behind])
        self._names: list[int | str] = []

    def publish(self, message: int | str) -> bool:
        """True if the message is confirmed."""
        if len(self._names) == self._constants["R"]:
            self.grow(R=4 * len(self._names))
        self._names.append(message)
        return _name(self.fire("publish")) == "confirms"

    def receive(self, consumer: int) -> _Letter | None:
        """The next message for a consumer, if there is one."""
        return self._letter(self.fire("ask", consumer=consumer))

    def ack(self, consumer: int, message: int | str) -> bool:
        """True if the acknowledgement of a consumer was taken."""
        return self._answered("ack", consumer, message)

    def requeue(self, consumer: int, message: int | str) -> bool:
        """True if the consumer had the message, which then comes back."""
        return self._answered("requeue", consumer, message)

    def reject(self, consumer: int, message: int | str) -> bool:
        """True if the consumer had the message, which is a dead letter then."""
        return self._answered("reject", consumer, message)

    def limit(self, consumer: int, most: int) -> None:
        """A consumer sets its window; 0 is none."""
        self.fire("set_window", consumer=consumer, most=min(most, _DELIVERIES))

    def bury(self) -> _Letter | None:
        """A dead letter that is taken away, if there is one."""
        found = (self.fire("dig", message=number) for number in range(len(self._names)))
        return self._letter(next((shown for shown in found if shown), None))

    def count(self, message: int | str) -> int | None:
        """How often a message was given; None of one that is gone."""
        number = self._names.index(message)
        found: list[Any] = [arguments for name, arguments in self._view.asked(self.now)
                            if name == "counts"]
        counts = {each["message"]: each["count"] for each in map(dict[str, int], found)}
        return counts.get(number)

    def disconnect(self, consumer: int) -> None:
        """The connection of a consumer is lost."""
        self.fire("lose", consumer=consumer)

    def advance(self, ticks: int) -> None:
        """Time passes, which the broker sees while something is in flight."""
        before = None
        while ticks and before != self._state and self.can("tick"):
            before = self._state
            self.fire("tick")
            ticks -= 1

    def restart(self) -> None:
        """The broker is killed, and started again."""
        self.fire("kill")

    def _answered(self, action: str, consumer: int, message: int | str) -> bool:
        shown = self.fire(action, consumer=consumer, message=self._names.index(message))
        return shown is not None and dict(shown[0][1])["taken"] == 1

    def _letter(self, shown: tuple[Seen, ...] | None) -> _Letter | None:
        number = dict(shown[0][1]).get("message") if shown else None
        return None if number is None else _Letter(self._names[number])


def _name(shown: Sequence[Seen] | None) -> str:
    return shown[0][0] if shown else ""


class UnlimitedTries(ReferenceBroker):
    """The adapter without the operation that the chapter has not: there a limit of deliveries is a
    constant."""

    tries = None    # type: ignore[assignment]
