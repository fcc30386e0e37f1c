"""The suite ``rate``: bursts, pauses, and those who are turned away and come again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.flow.observed_rate import ObservedRate, ObservedRefusals
from ...ports.base import Message, Session
from ...suites.capacities import that_goes_with
from ...suites.plain import PlainConversation, Seen
from ...suites.says import Fields, on, says, table
from ...suites.suite import Act, Suite, Watch

__all__ = ["SUITE", "RateConversation"]

RATES: Final = {1: 1, 3: 1, 4: 2, 6: 3}
"""By depth."""

PICKS: Final = 12
"""A multiple of each depth."""

TICKS: Final = 3
"""That pass at once, at most."""


class RateConversation(PlainConversation):
    """One session with a limit; this is everybody who asks, and the clock."""

    says = table(
        ObservedRate,
        on("take", "somebody asks for {permits}", says(True, "passes", "all are given"),
           says(False, "is_turned_away", "none is given")),
        on("tick", "a tick passes", says(True, "tick", "time goes on"), where="alone"),
        on("tick", "{ticks} ticks pass", says(True, "tick", "time goes on")),
    )

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "rate", _settings(capacity), _constants(capacity, items_max))
        self._depth = capacity

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "tick":
            return {"do": "tick", "ticks": act.pick % TICKS + 1}
        return {"do": "take", "permits": act.pick % self._depth + 1}

    def about(self, message: Message) -> Fields:
        """See ``PlainConversation``."""
        return {**message, "alone": message.get("ticks") == 1}

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``: a tick is a step."""
        shown = super().seen(request, answer)
        return shown._replace(steps=shown.steps * request.get("ticks", 1))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "rate": that_goes_with(capacity, RATES)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"r": that_goes_with(capacity, RATES), "b": capacity}


SUITE: Final = Suite(
    name="rate",
    version=1,
    port="rate",
    watches=(Watch(ObservedRate), Watch(ObservedRefusals, apart=True)),
    weights={"take": 3, "tick": 1},
    epilogue=(Act("tick", 2), Act("take", 0), Act("take", 1), Act("tick", 0), Act("take", 0)),
    constants=_constants,
    converse=RateConversation,
    settings=_settings,
    capacities=tuple(RATES),
    # Little, a pause, nearly all, hardly a pause, and all: around the end of a period, if the limit
    # has periods. Counted backwards, picks mean the same of each depth.
    courses={"FLOW-80": (((Act("take"),), "tick", (Act("take", PICKS - 2),), (Act("tick"),),
                          (Act("take", PICKS - 1),)),)},
    picks=PICKS,
    scene="A limit on a rate. Depth: {capacity} permits; a tick brings {rate}.",
)
