"""A controlled shutdown, from the broker's side.

The broker asks the controller, which first makes others leaders. It stops when it no longer leads
anything, or when it has asked often enough.

From the moment when it asks, it follows in no new epoch. The controller removes it from the ISR,
and a leader that let it join again would wait for it once more when it is gone. Kafka's controller
refuses such a change of the ISR since KAFKA-14140. Here leaders write to the quorum themselves, as
in Kafka before 2.7, and do not know which brokers are shutting down; so the broker stays out.

Source: Kafka's ``KafkaServer.controlledShutdown``; ``controlled.shutdown.max.retries``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from ...coordination.terms import Data, Read, Result
from ..controller import znodes
from .broker import Broker
from .requests import MayGo, WantsToGo

__all__ = ["Leaving"]

TRIES: Final = 4
WITHIN: Final = 60
AGAIN_AFTER: Final = 20


class Leaving:
    """A broker that is shutting down; ``gone`` is called when it may stop."""

    def __init__(self, broker: Broker, gone: Callable[[], None]) -> None:
        self.broker, self._gone = broker, gone
        self._tries = 0

    def ask(self) -> None:
        """Find the controller, and ask it."""
        if self._tries == TRIES:
            self._gone()
            return
        self._tries += 1
        self.broker.is_leaving = True
        process = self.broker.process
        process.world.record("wants", self.broker.id)
        process.later(WITHIN, self._ask_again(self._tries))
        process.ask(Read(znodes.CONTROLLER), self._found)

    def _ask_again(self, tries: int) -> Callable[[], None]:
        """The next try, if this one has got no answer."""
        return lambda: self.ask() if self._tries == tries else None

    def _found(self, result: Result) -> None:
        if isinstance(result, Data):
            controller = json.loads(result.data)["brokerid"]
            self.broker.process.call(
                controller, WantsToGo(self.broker.epoch), WITHIN, self._answered)

    def _answered(self, answer: Any) -> None:
        if isinstance(answer, MayGo) and answer.remaining == 0:
            self._tries = TRIES
            self.broker.process.world.record("released", self.broker.id)
            self._gone()
