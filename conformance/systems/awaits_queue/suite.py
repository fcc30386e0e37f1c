"""The suite ``awaits.queue``: the rules of a queue, between any two callbacks of an event loop.

What is asked and judged is as in the suite ``queue``, by the same machines. Only, a coroutine that
was woken has not run yet, one that was cancelled does not know it yet, and what comes in between is
drawn: some of the programs of a case take another one and cancel, at each of its instants in turn,
each coroutine that waits then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Final

from ....spec.notation.errors import InputError
from ....spec.notation.interpreter import Step
from ....spec.notation.labels import counted
from ....spec.queues.bounded import BoundedQueue
from ....spec.queues.conserved import ConservingQueue
from ....spec.queues.interruptible import InterruptibleQueue
from ....spec.queues.rules import IN_TURN
from ...ports.base import Message, Session
from ...suites.lengthy import Long
from ...suites.suite import Act, Answer, Exchange, Watch
from ...suites.sweeping import STEPS_MAX, SweepingSuite, steps_of
from ...suites.values import in_words
from ..queue.suite import SUITE as QUEUE
from ..queue.suite import QueueConversation, Wait, about, constants
from .port import PORT

__all__ = ["SUITE", "AwaitsConversation"]

class AwaitsConversation(QueueConversation):
    """One session with a queue whose loop is driven; see ``Conversation``."""

    port: ClassVar[str] = PORT.name
    cancel: ClassVar[str] = "interrupt"
    known: ClassVar[Collection[str]] = PORT.operations

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, capacity, items_max)
        self._interrupted: dict[str | int, Wait] = {}
        self._vouches = False

    def makes_sense(self, act: Act) -> bool:
        """See ``Conversation``. Nothing is to run where nobody waits."""
        return super().makes_sense(act) and (
            act.do not in ("run", "proceed") or bool(self._out()))

    def say(self, act: Act) -> Exchange:
        self._vouches = act.do == "settle"
        return super().say(act)

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        if request["do"] == "proceed":
            act = Act("proceed", int(request.get("place", 0)))
            return act if self.makes_sense(act) else None
        if request["do"] != "run":
            return super().act_for(request)
        steps = request.get("steps")
        if not isinstance(steps, int) or not 1 <= steps <= STEPS_MAX:
            raise InputError(f"'run' takes 1 to {STEPS_MAX} steps")
        act = Act("run", steps - 1)
        return act if self.makes_sense(act) else None

    def asked(self, request: Message) -> str:
        if request["do"] == "run":
            return f"run up to {counted(request['steps'], 'callback')}"
        if request["do"] == "proceed":
            return "a thread that could go on does"
        return super().asked(request)

    def _to_cancel(self) -> list[Wait]:
        """Who waits and was not told to stop."""
        told = {id(each) for each in self._interrupted.values()}
        return [each for each in self._out() if id(each) not in told]

    def _request(self, act: Act, ticket: Wait | None) -> Message:
        if act.do == "run":
            return {"do": "run", "steps": steps_of(act)}
        if act.do == "proceed":
            return {"do": "proceed", "place": act.pick}
        return super()._request(act, ticket)

    def _outcome(
        self, act: Act, ticket: Wait | None, request: Message, reply: Message, number: int
    ) -> tuple[Step | None, str]:
        if ticket is not None:
            self._interrupted[reply["waiting"]] = ticket
            return about("stops", ticket), "it is told"
        if act.do in ("run", "proceed"):
            return None, "done"
        return super()._outcome(act, ticket, request, reply, number)

    def _event(self, event: Message) -> tuple[Step, str]:
        ticket = self._interrupted.pop(event["done"], None)
        if ticket is None:
            return super()._event(event)
        step, words = self._cancelled(ticket, bool(event["ok"]))
        who = (f"the put of {in_words(self._values[ticket.number])}" if ticket.side == "put"
               else f"consumer {ticket.number + 1}")
        return step, f"{who} is cancelled: {words}"

    def _possible(self, act: Act, ticket: Wait | None) -> Iterator[Answer]:
        if act.do in ("run", "proceed", "interrupt"):
            yield from self._completions()
        else:
            yield from super()._possible(act, ticket)

    def _completions(self) -> Iterator[Answer]:
        for answer in super()._completions():
            if answer.step[0] != "settled" or self._vouches:
                yield answer
        for ticket in self._interrupted.values():
            yield Answer("a cancelled one is undone", about("cancelled", ticket))


_FIRST: Final = (Act("interrupt", 0),)
_WOKEN_AND_STOPPED: Final = (
    ("take", "take", "offer", _FIRST, "settle"),
    ("take", "take", "put", _FIRST, "settle"),
    ("take", "take", "offer", "run", _FIRST, "settle"),
    ("take", "take", "run", "put", "run", _FIRST, "settle"),
    (*("put",) * 5, "poll", _FIRST, "settle"),
    (*("put",) * 5, "take", _FIRST, "settle"),
)
"""Two wait, one of them is woken, and told to stop before it runs."""


SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=2,
    port=PORT.name,
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(
        Watch(ConservingQueue),
        Watch(BoundedQueue),
        Watch(InterruptibleQueue, adds=IN_TURN, base=BoundedQueue),
    ),
    weights={"offer": 2, "poll": 2, "put": 3, "take": 3, "run": 4, "proceed": 2, "interrupt": 3,
             "settle": 1, "size": 1},
    epilogue=QUEUE.epilogue,
    constants=constants,
    long=Long(fills=("offer", "put"), drains=("poll", "take"), sizes=(7,)),
    payloads=QUEUE.payloads,
    converse=AwaitsConversation,
    scene="A queue of capacity {capacity}, on an event loop whose callbacks run one by one.",
    plainer=QUEUE.plainer,
    courses={"QUEUE-10": _WOKEN_AND_STOPPED},
    fuller=QUEUE.fuller,
)
