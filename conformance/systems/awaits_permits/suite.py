"""The suite ``awaits.permits``: no permit lost or doubled, no waiter asleep beside a free one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.queues.locks.permits import IN_TURN, OrderlyPermits, Permits
from ...ports.base import STEPPED_WAKES, Message
from ...suites.calls import (
    CALLS_MAX, CALLS_OF_LONG, LINES_MAX, WAITERS_OF_LONG, WAITING, CallsConversation, driving,
    events, stopping,
)
from ...suites.lengthy import Long, enough, grown
from ...suites.plain import Seen
from ...suites.says import Fields, ends, on, over, says, table, unsaid
from ...suites.suite import Act, Fuller, Watch
from ...suites.sweeping import STEPS_MAX, SweepingSuite
from .port import PORT

__all__ = ["SUITE", "PermitsConversation"]

_HAS: Final = "{by} has a permit"
_LATER: Final = (
    over(lambda talk, request: map(_by, talk.calls("waits", "stopping", "over")),
         says("has", "woken", _HAS)),
    over(lambda talk, request: map(_by, talk.calls("stopping")),
         says("cancelled", "cancelled", "{by} is cancelled")),
    says("released", "released", "", "{by} has given its permit back"))


def _by(name: str) -> Fields:
    return {"by": name}


class PermitsConversation(CallsConversation):
    """One session with the calls of acquire c1, c2, … A call that gives a permit back may be
    cancelled as well."""

    letters = {"acquire": "c"}
    stops_at = ("acquire", "release")
    first = "begun"
    moves = {"acquire_done": ("has", "begun"), "acquire_waits": ("waits", "begun"),
             "woken": ("has",), "cancelled": ("over",), "released": ("over",)}
    asked_of = {"release": {"has": "giving"},
                "interrupt": {"waits": "stopping", "giving": "stopped"}}
    says = table(
        Permits,
        on("acquire", "{by} acquires", events(
            says("has", "acquire_done", "it has a permit", _HAS, where="begins"),
            says("waits", "acquire_waits", "it waits", "{by} waits", where="begins"),
            *unsaid(*_LATER), ends("answered", "nothing is heard of it")), tells="begins"),
        on("release", "{by} releases", events(*unsaid(*_LATER))),
        on("interrupt", "the cancellation of {by} is requested", events(*unsaid(*_LATER)),
           tells="stops"),
        on("locked", "is it locked", says(True, "seen_locked", "yes"),
           says(False, "seen_free", "no")),
        *stopping(events(*_LATER)),
        *driving(events(*_LATER), ends("settled", "no other call reports anything")),
    )

    @property
    def under_way(self) -> list[str]:
        return self.calls(*WAITING, "giving")

    def seen(self, request: Message, answer: Any) -> Seen:
        """The steps that an answer shows; a release that does not end at once has begun."""
        shown = super().seen(request, answer)
        if request["do"] != "release" or {"by": request["by"], "does": "released"} in answer:
            return shown
        call = self.about(request)["call"]
        return Seen((("gives", (("call", call),)), *shown.steps), shown.words)

    def about(self, message: Message) -> Fields:
        """A request, event or answer, with the fields that are known besides."""
        fields = super().about(message)
        if "does" in message:
            return {**fields, "begins": self.states.get(message["by"]) == "begun"}
        return fields


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    waiters = WAITERS_OF_LONG if capacity == 1 else STEPS_MAX
    return {"C": capacity, "K": grown(CALLS_MAX, items_max, enough(CALLS_OF_LONG, capacity)),
            "W": grown(STEPS_MAX, items_max, waiters)}


_FIRST: Final = (Act("interrupt", 0),)
_HOLD: Final = ("acquire",)

SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=4,
    port=PORT.name,
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(Watch(Permits), Watch(OrderlyPermits, adds=IN_TURN, base=Permits)),
    weights={"acquire": 5, "release": 3, "interrupt": 3, "run": 4, "locked": 1, "settle": 1,
             "pause": 4, "proceed": 2},
    own_picks={"pause": range(LINES_MAX)},
    epilogue=(Act("settle"), Act("locked"), *(Act("release"),) * 3, Act("settle"), Act("locked"),
              Act("release"), Act("release"), Act("settle"), Act("locked")),
    constants=_constants,
    long=Long(fills=("acquire",), drains=("release",), sizes=(6,)),
    conversation=PermitsConversation,
    scene="Permits: {capacity}. One call runs at a time.",
    courses={
        # Calls of threads: one is stopped on its way, and another one comes in between.
        "PERMIT-1": (("pause", "acquire", "acquire", "settle"),),
        "PERMIT-3": (("pause", "acquire", "acquire", "release", "settle"),
                     ("acquire", "acquire", "acquire", "pause", "release", "release", "settle")),
        # A call that gives a permit back is cancelled: the first one that can be.
        "PERMIT-2": (("acquire", "settle", "release", _FIRST, "settle", "locked"),),
        "PERMIT-4": ((*_HOLD * 5, "release", _FIRST, "settle"),),
    },
    # As for a queue: the rules of twins that are not found if all settles after each request.
    fuller={rule: (Fuller((STEPPED_WAKES,), finds),) for rule, finds in {
        "PERMIT-1": "a permit that goes to a woken call and to another as well",
        "PERMIT-2": "a permit that is lost with a call that is cancelled after it was woken",
        "PERMIT-3": "permits that come back before a woken call has run",
        "PERMIT-4": "a wait that is cancelled after it was woken, and wakes no other",
        "PERMIT-6": "a later call that overtakes a woken one",
    }.items()},
)
