"""The suite ``awaits.condition``: no notification lost, and no wait that ends without its lock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.queues.locks.condition import (
    NOT_CONSUMED, NOT_MORE, ConditionVariable, FrugalCondition, StrictCondition,
)
from ...ports.base import Message
from ...suites.calls import (
    CALLS_MAX, CALLS_OF_LONG, LINES_MAX, WAITERS_OF_LONG, CallsConversation, driving, events,
    stopping,
)
from ...suites.lengthy import Long, grown
from ...suites.remembered import latest, numbered
from ...suites.says import Fields, Part, ends, on, over, says, table, unsaid
from ...suites.suite import Act, Watch
from ...suites.sweeping import STEPS_MAX, SweepingSuite
from .port import PORT

__all__ = ["SUITE", "ConditionConversation"]

NOTIFIERS_MAX: Final = 2
"""Calls of notify that wait for the lock at the same time."""

COUNTS: Final = (1, 2, 1, 2, 0, 1_000)
"""Sleepers that one call of notify is to wake: none, a few, or more than there ever are."""

_NO_LOCK: Final = "has no lock"
_CANCELLED: Final = "{by} is cancelled, with the lock"
_GOES_ON: Final = (
    over(lambda talk, request: [{"by": name} for name in talk.calls("waits", "stopping")],
         says("goes on", "goes_on", "{by} continues", where="slept"),
         says(_NO_LOCK, "has_no_lock", "{by} ends without the lock", "{by} has no lock",
              where="slept", instead_of=("is_cancelled",))),
    over(lambda talk, request: [{"by": name} for name in talk.calls("stopping")],
         says("cancelled", "is_cancelled", "{by} is cancelled", _CANCELLED, where="slept")))
_NOTIFIES: Final = over(
    lambda talk, request: [{"count": 0}],
    says("notifies", "notifies", "it has the lock", "{by} notifies", where="notifying"),
    says("notifies", "notifies_none", "", "{by} notifies", where="notifying_none"))


def _seen(*told: Any) -> Part:
    """The other events of an answer, which are expected and not listed as possible answers."""
    return events(
        *told, says("sleeps", "sleeps", "", "{by} sleeps", where="begins"),
        says("left", "leaves", "", "{by} has given the lock back", where="slept"),
        *unsaid(*_GOES_ON, _NOTIFIES))


class ConditionConversation(CallsConversation):
    """One session. Waits are named c1, c2, … and notifiers n1, n2, … as they begin."""

    numbers = numbered("by", "sleeps")      # of the waits, as they went to sleep
    # By the call, one more than the sleepers that it is to wake.
    notifying = latest("after", "begins:after", of="by", ends="notifies notifies_none")
    letters = {"wait": "c", "notify": "n"}
    asked_of = {"leave": {"inside": "inside"}, **CallsConversation.asked_of}
    first = "begun"
    moves = {"sleeps": ("waits",), "goes_on": ("inside", "waits", "stopping"),
             "is_cancelled": ("over", "waits", "stopping"), "leaves": ("over", "inside"),
             **dict.fromkeys(("notifies", "notifies_none", "has_no_lock"), ("over",))}
    says = table(
        ConditionVariable,
        on("wait", "{by} waits", _seen(_NOTIFIES), tells="begins"),
        on("notify", "{by} notifies {count}", _seen(_NOTIFIES), tells="begins",
           picks={"count": COUNTS}),
        on("leave", "{by} gives the lock back", _seen(
            ends("was_asked_to_leave", "nothing is heard of it"))),
        on("interrupt", "the cancellation of {by} is requested", _seen(), tells="stops"),
        *stopping(_seen(*_GOES_ON)),
        *driving(_seen(*_GOES_ON), ends("settled", "nothing else happens")),
    )

    def has_room(self, letter: str) -> bool:
        """True if one more call may wait; a notifier only waits for the lock."""
        return len(self.notifying) < NOTIFIERS_MAX if letter == "n" else super().has_room(letter)

    def about(self, message: Message) -> Fields:
        """A request, event or answer, with the fields that are known besides."""
        name = message.get("by", "")
        known = {"call": self.numbers[name]} if name in self.numbers else {}
        if "do" not in message and name:
            after = self.notifying.get(name, 0)
            known |= {"begins": self.states.get(name) == "begun", "slept": name in self.numbers,
                      "notifying": after > 1, "notifying_none": after == 1, "count": after - 2}
        if "do" in message and "count" in message:
            known["after"] = message["count"] + 1
        return {**super().about(message), **known}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    most = grown(CALLS_MAX, items_max, CALLS_OF_LONG)
    return {"K": most, "N": most, "W": grown(STEPS_MAX, items_max, WAITERS_OF_LONG)}


_FIRST: Final = (Act("interrupt", 0),)
_ONE: Final = (Act("notify", 0),)
_SLEEP: Final = ("wait", "wait", "settle")

SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=6,
    port=PORT.name,
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(
        Watch(ConditionVariable),
        Watch(StrictCondition, adds=NOT_CONSUMED, base=ConditionVariable),
        Watch(FrugalCondition, adds=NOT_MORE, base=ConditionVariable),
    ),
    weights={"wait": 5, "notify": 3, "leave": 3, "interrupt": 3, "run": 4, "settle": 1,
             "pause": 4, "proceed": 2},
    epilogue=(Act("settle"), *(Act("leave"), Act("settle")) * 3),
    constants=_constants,
    long=Long(),
    own_picks={"notify": range(len(COUNTS)), "pause": range(LINES_MAX)},
    conversation=ConditionConversation,
    capacities=(1,),
    scene="A condition variable. One call runs at a time.",
    courses={
        # Two sleep, and none is to wake, or more than sleep.
        "COND-6": ((*_SLEEP, (Act("notify", COUNTS.index(0)),), "settle"),),
        # A thread that is about to sleep is stopped, and misses what is notified.
        "COND-3": ((*_SLEEP, (Act("notify", COUNTS.index(1_000)),), "settle", "leave", "settle",
                    "leave", "settle"),
                   ("pause", "wait", _ONE, "settle")),
        "COND-10": ((*_SLEEP, _ONE, "settle", "wait", "leave", "settle"),
                    (*_SLEEP, _ONE, "settle", "notify", "leave", "settle")),
        "COND-2": (
            (*_SLEEP, (Act("notify", 1),), "run", "run", _FIRST, "run", _FIRST, "leave",
             "settle"),),
        "COND-4": ((*_SLEEP, _ONE, _FIRST, "settle"), (*_SLEEP, _ONE, "run", _FIRST, "settle")),
        "COND-8": ((*_SLEEP, _FIRST, _ONE, "settle"),),
    },
)
