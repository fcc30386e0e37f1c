"""The suite ``awaits.permits``: no permit lost or doubled, and nobody asleep beside a free one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.queues.permits import IN_TURN, OrderlyPermits, Permits
from ...ports.base import Message, Session
from ...suites.calls import CALLS_MAX, CallsConversation, driving, events
from ...suites.says import Fields, ends, on, over, says, table, unsaid
from ...suites.suite import Act, Watch
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
    """One session, whose calls of acquire are c1, c2, …"""

    letters = {"acquire": "c"}
    first = "begun"
    moves = {"acquire_done": ("has", "begun"), "acquire_waits": ("waits", "begun"),
             "woken": ("has",), "cancelled": ("over",), "released": ("over",)}
    says = table(
        Permits,
        on("acquire", "{by} acquires", events(
            says("has", "acquire_done", "it has a permit", _HAS, where="begins"),
            says("waits", "acquire_waits", "it waits", "{by} waits", where="begins"),
            *unsaid(*_LATER))),
        on("release", "{by} releases", events(*unsaid(*_LATER))),
        on("interrupt", "{by} is told to stop", events(*unsaid(*_LATER)), tells="stops"),
        on("locked", "is it locked", says(True, "seen_locked", "yes"),
           says(False, "seen_free", "no")),
        *driving(events(*_LATER), ends("settled", "nobody else is told anything")),
    )

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(
            session, PORT.name, {"capacity": capacity}, _constants(capacity, items_max))

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        return self.one_of(act, "has") if act.do == "release" else super().request_of(act)

    def about(self, message: Message) -> Fields:
        """See ``PlainConversation``."""
        fields = super().about(message)
        if "does" in message:
            return {**fields, "begins": self.states.get(message["by"]) == "begun"}
        return fields


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "K": CALLS_MAX, "W": STEPS_MAX}


_FIRST: Final = (Act("interrupt", 0),)
_HOLD: Final = ("acquire",)

SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=2,
    port=PORT.name,
    # The order counts: of two machines that refuse the same step, the first names the rule.
    watches=(Watch(Permits), Watch(OrderlyPermits, adds=IN_TURN, base=Permits)),
    weights={"acquire": 5, "release": 3, "interrupt": 3, "run": 4, "locked": 1, "settle": 1},
    epilogue=(Act("settle"), Act("locked"), *(Act("release"),) * 3, Act("settle"), Act("locked"),
              Act("release"), Act("release"), Act("settle"), Act("locked")),
    constants=_constants,
    converse=PermitsConversation,
    scene="Permits for coroutines: {capacity}. Callbacks of their event loop run one by one.",
    courses={"PERMIT-4": ((*_HOLD * 5, "release", _FIRST, "settle"),)},
)
