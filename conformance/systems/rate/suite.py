"""The suite ``rate``: bursts, pauses, refused callers that come again, and waiting calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.flow.observed_rate import (
    IN_TURN, WITHIN_THE_PERIOD, ObservedLine, ObservedLog, ObservedLogRefusals, ObservedRate,
    ObservedRefusals,
)
from ....spec.notation.interpreter import Step
from ...ports.base import Message
from ...suites.besides import (
    equal, given, holds, inside, next_names, number_in, of_policy, room,
)
from ...suites.capacities import that_goes_with
from ...suites.plain import PlainConversation, Seen
from ...suites.remembered import kept, up_to
from ...suites.says import ANY, each, ends, on, says, table
from ...suites.suite import Act, Answer, Suite, Watch
from ...suites.values import BEYOND

__all__ = ["STEPS_MAX", "SUITE", "RateConversation"]

RATES: Final = {1: 1, 3: 1, 4: 2, 6: 3}
"""Rate by depth."""

PICKS: Final = 144
"""A multiple of each depth, and of its square where steps matter."""

TICKS: Final = 3
"""Limit of the ticks that pass at once."""

STEPS_MAX: Final = 12
"""The second of two callers comes after fewer steps of the first."""

WAITERS_MAX: Final = 3
"""Limit of the calls that wait at the same time."""

_ANSWERS: Final = {"bucket": ("passes", "is_turned_away"), "log": ("is_logged", "has_no_room")}
"""By policy, the steps of an admission and of a refusal."""

_NEVER: Final = "is_refused_for_good"
"""The step of a refusal of more than the depth, which means nothing to any observer."""

CALLS_MAX: Final = 8
"""Limit of the calls that ask and wait, in one program."""

_THROUGH: Final = each(
    says(ANY, "granted", "{by} is admitted", gives="by", among="waiting", where="waits"),
    ends("rest", "no other call is admitted"), nothing="no call is admitted")


class RateConversation(PlainConversation):
    """One session with a limit; this is all its callers, and the clock.

    Its policy is among what it ``can``: rules depend on it.
    """

    waiting = kept("by", adds="waits", drops="gives_up granted")
    has_place = room("waiting", WAITERS_MAX)
    next_calls = next_names("c", most="K", action="waits")
    needs_policy = True
    lacks = {"log": ("acquire", "give_up")}
    knows = (
        given("", waited=holds("waiting"), log=of_policy("log")),
        given("ticks", alone=equal("ticks", 1)),
        given("by", call=number_in("by"), waits=inside("by", "waiting")),
    )
    says = table(
        ObservedRate,
        on("take", "a caller asks for {permits}", says(True, "is_logged", "all are given"),
           says(False, "has_no_room", "none is given"), where="log",
           picks={"permits": up_to("b")}),
        on("take", "a caller asks for {permits}", says(True, "passes", "all are given"),
           says(False, "is_turned_away", "none is given")),
        on("tick", "a tick passes", _THROUGH, tells="tick", where="waited",
           picks={"ticks": lambda talk, request: range(1, 2 if talk.waiting else TICKS + 1)}),
        on("tick", "a tick passes", says(True, "tick", "time passes"), where="alone"),
        on("tick", "{ticks} ticks pass", says(True, "tick", "time passes"), repeated="ticks"),
        on("acquire", "{by} asks for {permits}, and would wait", _THROUGH, tells="waits",
           only="has_place",
           picks={"by": "next_calls", "permits": up_to("b")}),
        on("give_up", "{by} gives up", _THROUGH, tells="gives_up",
           picks={"by": "waiting"}),
        on("both", "two callers ask at once, for {permits} and {other}; the second after step "
           "{steps} of the first", says(True, "", ""), picks={
               "permits": up_to("b"), "other": up_to("b"),
               "steps": range(STEPS_MAX)}),
        on("ask", "a caller asks for {permits}", says(True, "", "all are given"),
           says(False, "", "none is given"),
           picks={"permits": lambda talk, request: (0, talk.constants["b"] + 1, *BEYOND)}),
    )

    def possible(self, request: Message) -> Iterator[Answer]:
        """The possible answers to a request; of two callers at once, each may get all or none."""
        if request["do"] not in ("both", "ask"):
            yield from super().possible(request)
            return
        for permits in {request["permits"], request.get("other", request["permits"])}:
            for gets, words in ((True, "gets them"), (False, "gets none")):
                first, *then = _steps_of(permits, gets, self.constants["b"], self.policy)
                yield Answer(f"the caller that asks for {permits} {words}", first, tuple(then))

    def seen(self, request: Message, answer: Any) -> Seen:
        """The steps that an answer shows. Of two callers at once, one that gets permits may have
        come before one that gets none.
        """
        if request["do"] == "both":
            return _of_both(request, answer, self.constants["b"], self.policy)
        shown = super().seen(request, answer)
        return shown if request["do"] != "ask" else shown._replace(steps=_steps_of(
            request["permits"], answer, self.constants["b"], self.policy))


def _of_both(request: Message, answer: list[bool], depth: int, policy: str) -> Seen:
    asked = sorted(zip(answer, (request["permits"], request["other"]), strict=True),
                   key=lambda each: not each[0])
    return Seen(
        tuple(step for given, permits in asked
              for step in _steps_of(permits, given, depth, policy)),
        " and ".join(f"the {which} gets {'all' if given else 'none'}"
                     for which, given in zip(("first", "second"), answer, strict=True)))


def _steps_of(permits: int, given: bool, depth: int, policy: str) -> tuple[Step, ...]:
    """The steps of a caller that gets all or none. More than the depth is the depth, and one more
    at once; a refusal of so many shows nothing, for no limit ever has them."""
    through, away = _ANSWERS[policy]
    if given:
        return tuple((through, (("permits", part),))
                     for part in ((permits,) if permits <= depth else (depth, 1)))
    return ((away, (("permits", permits),)) if permits <= depth else (_NEVER, ()),)


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "rate": that_goes_with(capacity, RATES)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    rate = that_goes_with(capacity, RATES)
    return {"r": rate, "b": capacity, "K": CALLS_MAX, "P": -(-capacity // rate)}


SUITE: Final = Suite(
    name="rate",
    version=3,
    port="rate",
    watches=(
        Watch(ObservedRate),
        Watch(ObservedRefusals, apart=True),
        Watch(ObservedLine, adds=IN_TURN, base=ObservedRate),
        Watch(ObservedLog, adds=WITHIN_THE_PERIOD, base=ObservedRate),
        Watch(ObservedLogRefusals, apart=True),
    ),
    weights={"take": 3, "tick": 2, "acquire": 2, "give_up": 1, "both": 1, "ask": 1},
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
             # The bucket is empty, one call waits for all and one for little, and one is cancelled.
             "FLOW-82": (("take", (Act("take", PICKS - 1),), (Act("acquire", PICKS - 1),),
                          (Act("acquire"),), (Act("give_up"),), (Act("tick"),), (Act("tick"),)),)},
    picks=PICKS,
    own_picks={"both": range(PICKS * 3)},
    scene="A limit on a rate. Depth: {capacity} permits; a tick brings {rate}.",
)
