"""The suite ``rate``: bursts, pauses, and those who are turned away and come again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.flow.observed_rate import ObservedRate, ObservedRefusals
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "RateConversation"]

RATES: Final = {1: 1, 3: 1, 4: 2, 6: 3}
"""By depth."""

PICKS: Final = 12
"""A multiple of each depth."""

TICKS: Final = 3
"""That pass at once, at most."""


class RateConversation(PlainConversation):
    """One session with a limit; this is everybody who asks, and the clock."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "rate", _settings(capacity))
        self._depth = capacity

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "tick":
            return {"do": "tick", "ticks": act.pick % TICKS + 1}
        return {"do": "take", "permits": act.pick % self._depth + 1}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "tick":
            return "a tick passes" if request["ticks"] == 1 else f"{request['ticks']} ticks pass"
        return f"somebody asks for {request['permits']}"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        if request["do"] == "take":
            yield Answer("all are given", _of("passes", request))
            yield Answer("none is given", _of("is_turned_away", request))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        if request["do"] == "tick":
            return Seen((("tick", ()),) * request["ticks"], "time goes on")
        return (Seen((_of("passes", request),), "all are given") if answer
                else Seen((_of("is_turned_away", request),), "none is given"))


def _of(action: str, request: Message) -> Step:
    return action, (("permits", request["permits"]),)


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "rate": RATES[capacity]}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"r": RATES[capacity], "b": capacity}


SUITE: Final = Suite(
    name="rate",
    version=1,
    port="rate",
    watches=(Watch(ObservedRate), Watch(ObservedRefusals, apart=True)),
    weights={"take": 3, "tick": 1},
    needs={"FLOW-80": (("take",),), "FLOW-81": (("take",),)},
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
