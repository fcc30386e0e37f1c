"""The controller in a broker's process: its effects are done here, and their results given back.

The controller itself is ``reference.kafka.controller``. Every broker has one; most of them wait.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from ...coordination.terms import Create, Multi, Request, Result
from ...coordination.terms import Event as Fired
from ..controller import znodes
from ..controller.controller import Controller
from ..controller.terms import (
    Answered, Ask, BrokerAnswer, Effect, Elapsed, Event, Failed, Later, Obeyed, Opened, Over,
    Send, ShutDown, ShutDownAnswer,
)
from .process import Answer, Process
from .requests import MayGo, WantsToGo

__all__ = ["Controlling"]

REQUEST_WITHIN: Final = 40


def stands(request: Request) -> bool:
    """True if the request is a candidacy for the controller."""
    parts = request.operations if isinstance(request, Multi) else (request,)
    return any(isinstance(each, Create) and each.path == znodes.CONTROLLER for each in parts)


class Controlling:
    """Runs a controller in a process."""

    def __init__(self, process: Process, controller: Controller) -> None:
        self.process, self.controller = process, controller
        self._leaving: dict[int, Answer] = {}   # by number, the broker's open request to shut down
        self._longest: dict[int, int] = {}      # by broker, the largest length of its queue

    def asked_to_let_go(self, broker: int, asked: WantsToGo, answer: Answer) -> None:
        """A broker asks to shut down."""
        number = len(self._leaving)
        self._leaving[number] = answer
        self.receive(ShutDown(number, broker, asked.broker_epoch))

    def begin(self) -> None:
        """The broker has registered: from now on it may be elected."""
        self.receive(Opened(self.process.service_session))

    def expired(self) -> None:
        """The session is over."""
        self.receive(Over())

    def changed(self, event: Fired) -> None:
        """A watch has fired."""
        self.receive(event)

    def receive(self, event: Event) -> None:
        """Let the controller handle an event, and carry out its effects."""
        effects = self.controller.receive(event)
        for broker, length in self.controller.channels.lengths().items():
            if length > self._longest.get(broker, 0):
                self._longest[broker] = length
                self.process.world.record("queued", self.process.id, broker, length)
        for effect in effects:
            self._do(effect)

    def _do(self, effect: Effect) -> None:
        process = self.process
        if isinstance(effect, Ask):
            if stands(effect.request):
                process.world.record("stands", process.id)
            process.ask(effect.request, partial(self._answered, effect.number))
        elif isinstance(effect, Send):
            process.call(effect.broker, effect.request, REQUEST_WITHIN,
                         partial(self._obeyed, effect.broker, effect.number))
        elif isinstance(effect, Later):
            process.later(effect.ms, lambda: self.receive(Elapsed(effect.number)))
        elif isinstance(effect, ShutDownAnswer):
            left = effect.remaining
            self._leaving[effect.number](MayGo(None if left is None else len(left)))
        elif effect.what == "controls":
            process.world.record("controls", process.id, self.controller.store.epoch)

    def _answered(self, number: int, result: Result) -> None:
        self.receive(Answered(number, result))

    def _obeyed(self, broker: int, number: int, answer: Any) -> None:
        is_answer = isinstance(answer, BrokerAnswer)
        self.receive(Obeyed(broker, number, answer) if is_answer else Failed(broker, number))
