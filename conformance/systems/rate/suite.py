"""The suite ``rate``: bursts, pauses, refused callers that come again, and waiting calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ....spec.flow.observed_rate import (
    IN_TURN, WITHIN_THE_PERIOD, ObservedLine, ObservedLog, ObservedLogRefusals, ObservedRate,
    ObservedRefusals,
)
from ...suites.besides import (
    any_of, equal, given, holds, inside, next_names, number_in, of_policy, room,
)
from ...suites.capacities import half_of, that_goes_with
from ...suites.plain import PlainConversation
from ...suites.remembered import flag, kept, up_to
from ...suites.says import ANY, On, Says, each, ends, on, over, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import BEYOND

__all__ = ["STEPS_MAX", "SUITE", "RateConversation"]

RATES: Final = {1: 1, 3: 1, 4: 2, 6: 3}
"""Rate by depth."""

PICKS: Final = 144
"""A multiple of each depth, and of its square where steps matter."""

TICKS: Final = 3
"""Limit of the ticks that pass at once."""

IDLE: Final = (2**16, 2**31, 2**32)
"""Ticks of a long time in which no caller asks: a clock of 16, 31 or 32 bits is where it was."""

STEPS_MAX: Final = 12
"""The second of two callers comes after fewer steps of the first."""

WAITERS_MAX: Final = 3
"""Limit of the calls that wait at the same time."""

_NEVER: Final = "is_refused_for_good"
"""The step of a refusal of more than the depth, which means nothing to any observer: no limit ever
has so many."""

CALLS_MAX: Final = 8
"""Limit of the calls that ask and wait, in one program."""

_THROUGH: Final = each(
    says(ANY, "granted", "{by} is admitted", gives="by", among="waiting", where="waits"),
    ends("rest", "no other call is admitted"), nothing="no call is admitted")
_GETS: Final = "the caller that asks for {permits} gets "


def _answered(gets: str, refused: str, words: Sequence[str]) -> tuple[Says, Says]:
    """The answers to a caller that may ask for more than the depth, for the policy's actions."""
    return (says(True, gets, _GETS + "them", words[0], one_more=True),
            says(False, refused, _GETS + "none", words[1], beyond=_NEVER))


def _rows(gets: str, refused: str, where: str = "") -> Iterator[On]:
    """Callers that never wait, for the policy's actions of an admission and of a refusal."""
    yield on("take", "a caller asks for {permits}", says(True, gets, "all are given"),
             says(False, refused, "none is given"), where=where, picks={"permits": up_to("b")})
    yield on("ask", "a caller asks for {permits}",
             *_answered(gets, refused, ("all are given", "none is given")), where=where,
             picks={"permits": lambda talk, request: (0, talk.constants["b"] + 1, *BEYOND)})
    yield on("both", "two callers ask at once, for {permits} and {other}; the second after step "
             "{steps} of the first", each(
                 over(any_of("permits", "other"), *_answered(
                     gets, refused, ("the {which} gets all", "the {which} gets none"))),
                 calls={"permits": "first", "other": "second"}),
             where=where,
             picks={"permits": up_to("b"), "other": up_to("b"), "steps": range(STEPS_MAX)})


class RateConversation(PlainConversation):
    """One session with a limit; this is all its callers, and the clock.

    Its policy is among what it ``can``: rules depend on it.
    """

    waiting = kept("by", adds="waits", drops="gives_up granted")
    idled = flag(on="idle()")       # a second long time could be more than a clock of doubles holds
    has_place = room("waiting", WAITERS_MAX)
    next_calls = next_names("c", most="K", action="waits")
    needs_policy = True
    lacks = {"log": ("acquire", "give_up")}
    knows = (
        given("", waited=holds("waiting"), log=of_policy("log")),
        # One more than a period, after which a limit is as if no caller had ever asked.
        given("ticks", alone=equal("ticks", 1), period=lambda talk, _: talk.constants["P"] + 1),
        given("by", call=number_in("by"), waits=inside("by", "waiting")),
    )
    says = table(
        ObservedRate,
        *_rows("is_logged", "has_no_room", where="log"), *_rows("passes", "is_turned_away"),
        on("tick", "a tick passes", _THROUGH, tells="tick", where="waited",
           picks={"ticks": lambda talk, request: range(1, 2 if talk.waiting else TICKS + 1)}),
        on("tick", "a tick passes", says(True, "tick", "time passes"), where="alone"),
        on("tick", "{ticks} ticks pass", says(True, "tick", "time passes"), repeated="ticks"),
        on("idle", "no caller asks for {ticks} ticks", says(True, "tick", "time passes"),
           picks={"ticks": IDLE}, unless="waiting idled", repeated="period"),
        on("acquire", "{by} asks for {permits}, and would wait", _THROUGH, tells="waits",
           only="has_place",
           picks={"by": "next_calls", "permits": up_to("b")}),
        on("give_up", "{by} gives up", _THROUGH, tells="gives_up",
           picks={"by": "waiting"}),
    )


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "rate": that_goes_with(capacity, RATES, half_of)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    rate = that_goes_with(capacity, RATES, half_of)
    return {"r": rate, "b": capacity, "K": CALLS_MAX, "P": -(-capacity // rate)}


SUITE: Final = Suite(
    name="rate",
    version=4,
    port="rate",
    watches=(
        Watch(ObservedRate),
        Watch(ObservedRefusals, apart=True),
        Watch(ObservedLine, adds=IN_TURN, base=ObservedRate),
        Watch(ObservedLog, adds=WITHIN_THE_PERIOD, base=ObservedRate),
        Watch(ObservedLogRefusals, apart=True),
    ),
    weights={"take": 3, "tick": 2, "acquire": 2, "give_up": 1, "both": 1, "ask": 1, "idle": 1},
    epilogue=(Act("tick", 2), Act("take", 0), Act("take", 1), Act("tick", 0), Act("take", 0)),
    constants=_constants,
    conversation=RateConversation,
    settings=_settings,
    capacities=tuple(RATES),
    # Little, a pause, nearly all, hardly a pause, and all: around the end of a period, if the limit
    # has periods. Counted backwards, picks mean the same of each depth.
    courses={"FLOW-80": (((Act("take"),), "tick", (Act("take", PICKS - 2),), (Act("tick"),),
                          (Act("take", PICKS - 1),)),
                         # Nothing is left, time passes, and two callers ask at once for much.
                         ((Act("take", PICKS - 1),), "tick", (Act("both", 23), Act("both", 59)))),
             # All is taken, and after a long time all is there again.
             **dict.fromkeys(("FLOW-81", "FLOW-85"), (
                 ((Act("take", PICKS - 1),), "idle", (Act("take", PICKS - 1),)),)),
             # The bucket is empty, one call waits for all and one for little, and one is cancelled.
             "FLOW-82": (("take", (Act("take", PICKS - 1),), (Act("acquire", PICKS - 1),),
                          (Act("acquire"),), (Act("give_up"),), (Act("tick"),), (Act("tick"),)),)},
    picks=PICKS,
    own_picks={"both": range(PICKS * 3)},
    scene="A limit on a rate. Depth: {capacity} permits; a tick brings {rate}.",
)
