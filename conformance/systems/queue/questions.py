"""The questions by which a queue's policy is found out, put to a target.

A question is an operation of the port; its answer shows steps of ``UnknownQueue``. After each, the
target is asked to settle, so that a waiting call has had its turn.
"""

from __future__ import annotations

from typing import Any, Final

from ....spec.notation.errors import TargetError
from ....spec.notation.interpreter import Step
from ....spec.queues.policies import UnknownQueue
from ...ports.base import Message, Target, excerpt
from ...suites.identity import Asked
from ...suites.suite import Act, Exchange
from .suite import QueueConversation, constants

__all__ = ["CUT_OFF", "FULL", "Interview"]

FULL: Final = "full"
"""The definite error of a put that does not fit, if no call may wait."""

CUT_OFF: Final = "disconnected"
"""The definite error of a poll by a consumer that has been cut off."""

_SEEN: Final = frozenset(UnknownQueue.actions_declared)
_ERRORS: Final = {
    ("put", FULL): ("put_refused", "refused"), ("poll", CUT_OFF): ("poll_cut_off", "cut off"),
}


class Interview:
    """A fresh instance of a target that answers questions, given at most ``items_max`` items.
    Raises ``TargetError`` if it fails, and ``SettingsRefused`` as a session does.
    """

    def __init__(self, target: Target, capacity: int, items_max: int) -> None:
        self._name = target.name
        self._session = target.open()
        try:
            self._talk = QueueConversation(self._session, "queue", {"capacity": capacity},
                                           constants(capacity, items_max + 1))
        except BaseException:
            self._session.close()
            raise

    @property
    def greeting(self) -> Message:
        """The target's answer to the hello."""
        return self._talk.greeting

    def ask(self, question: str) -> Asked:
        """Put one question, and let everything run that can run."""
        exchange = self._talk.say(Act(question))
        outcome, words = self._outcome(question, exchange)
        rest = self._talk.say(Act("settle"))
        if "error" in rest.reply:
            raise self._odd("settle", rest.reply)
        events = [step for step in (*exchange.events, *rest.events) if step[0] in _SEEN]
        told = "; ".join([words, *(_told(step) for step in events)])
        return Asked(question, exchange.request.get("item", ""), told, (outcome, *events))

    def close(self) -> None:
        """End the session; calling it again does nothing."""
        self._session.close()

    def __enter__(self) -> Interview:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _outcome(self, question: str, exchange: Exchange) -> tuple[Step, str]:
        reply = exchange.reply
        if "error" in reply:
            known = _ERRORS.get((question, reply["error"]))
            if known is None or not reply["definite"]:
                raise self._odd(question, reply)
            return (known[0], ()), known[1]
        assert exchange.outcome is not None
        merged = _merged(reply["ok"]) if question == "poll" else 0
        if merged:
            return ("poll_merged", (("count", merged),)), str(reply["ok"])
        words = exchange.words.partition(": ")[2].partition("; ")[0]
        return exchange.outcome, words

    def _odd(self, question: str, reply: Message) -> TargetError:
        errors = " or ".join(f"{name} to a {asked}" for asked, name in _ERRORS)
        return TargetError(
            f"{self._name} answered {question!r} with {excerpt(reply)}",
            next_step=f"Fix the adapter: a queue may answer the definite errors {errors}.")


def _merged(item: Any) -> int:
    """Number of items, from the first on, that one stands for: 3 for ``a1+a2+a3``; else 0."""
    parts = item.split("+") if isinstance(item, str) else []
    first = [f"a{number}" for number in range(1, len(parts) + 1)]
    return len(parts) if len(parts) > 1 and parts == first else 0


def _told(step: Step) -> str:
    return f"the put of a{dict(step[1])['item'] + 1} completes"
