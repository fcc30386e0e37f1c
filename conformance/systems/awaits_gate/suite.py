"""The suite ``awaits.gate``: opening lets all calls pass, and no call waits at a broken gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.queues.locks.gate import Gate
from ...ports.base import STEPPED_WAKES
from ...suites.calls import (
    CALLS_MAX, CALLS_OF_LONG, LINES_MAX, CallsConversation, driving, events, stopping,
)
from ...suites.lengthy import Long, grown
from ...suites.says import Fields, ends, on, over, says, table
from ...suites.suite import Act, Fuller, Watch
from ...suites.sweeping import SweepingSuite
from .port import PORT

__all__ = ["SUITE", "GateConversation"]


def _who(talk: GateConversation, request: Fields) -> list[Fields]:
    own = [request["by"]] if request["do"] == "wait" else []
    return [{"by": name} for name in (*talk.calls("waits", "stopping"), *own)]


_ENDS: Final = events(
    over(_who, says("passes", "passes", "{by} passes"),
         says("told", "is_told", "{by} is informed that it is broken"),
         says("fails", "fails", "{by} fails")),
    says("cancelled", "is_cancelled", "", "{by} is cancelled"))


class GateConversation(CallsConversation):
    """One session with the calls c1, c2, …"""

    letters = {"wait": "c"}
    stops_at = ("wait",)
    moves = {**dict.fromkeys(("passes", "is_told", "fails"), ("over", "waits", "stopping")),
             "is_cancelled": ("over", "stopping")}
    says = table(
        Gate,
        on("wait", "{by} comes", _ENDS, tells="comes"),
        on("open", "it is opened", _ENDS, tells="opens"),
        on("shut", "it is shut", _ENDS, tells="shuts"),
        on("break", "it breaks", _ENDS, tells="breaks"),
        on("interrupt", "the cancellation of {by} is requested", _ENDS, tells="stops"),
        *stopping(_ENDS),
        *driving(_ENDS, ends("settled", "nothing else happens")),
    )



def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"K": grown(CALLS_MAX, items_max, CALLS_OF_LONG)}


SUITE: Final = SweepingSuite(
    name=PORT.name,
    version=1,
    port=PORT.name,
    watches=(Watch(Gate),),
    weights={"wait": 6, "open": 2, "shut": 3, "break": 1, "interrupt": 2, "run": 4, "settle": 2,
             "pause": 4, "proceed": 2},
    own_picks={"pause": range(LINES_MAX)},
    epilogue=(Act("settle"), Act("wait"), Act("open"), Act("settle")),
    constants=_constants,
    long=Long(ending=("break",)),
    conversation=GateConversation,
    capacities=(1,),
    scene="A gate, shut at first. One call runs at a time.",
    courses={"GATE-2": (("wait", "wait", "open", "shut", "settle"),
                        ("pause", "wait", "open", "settle"))},
    fuller={
        "GATE-2": (Fuller((STEPPED_WAKES,),
                          "a gate that is shut again before the woken calls run"),),
        "GATE-5": (Fuller((STEPPED_WAKES,), "a call that runs when the gate is shut again"),)},
)
