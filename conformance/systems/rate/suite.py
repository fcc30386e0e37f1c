"""The suite ``rate``: bursts, pauses, refused callers that come again, and waiting calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.flow.observed_rate import (
    IN_TURN, WITHIN_THE_PERIOD, ObservedLine, ObservedLog, ObservedLogRefusals, ObservedRate,
    ObservedRefusals,
)
from ....spec.notation.errors import TargetError
from ...ports.base import Message, Session, excerpt
from ...suites.capacities import that_goes_with
from ...suites.plain import PlainConversation, Seen
from ...suites.says import ANY, Fields, each, ends, on, over, says, table
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "RateConversation"]

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

CALLS_MAX: Final = 8
"""Limit of the calls that ask and wait, in one program."""

_THROUGH: Final = each(
    over(lambda talk, request: [{"by": name} for name in talk.waiting],
         says(ANY, "granted", "{by} is admitted", gives="by")),
    ends("rest", "no other call is admitted"), nothing="no call is admitted")


class RateConversation(PlainConversation):
    """One session with a limit; this is all its callers, and the clock.

    Its policy is among what it ``can``: rules depend on it.
    """

    says = table(
        ObservedRate,
        on("take", "a caller asks for {permits}", says(True, "is_logged", "all are given"),
           says(False, "has_no_room", "none is given"), where="log"),
        on("take", "a caller asks for {permits}", says(True, "passes", "all are given"),
           says(False, "is_turned_away", "none is given")),
        on("tick", "a tick passes", _THROUGH, tells="tick", where="waited"),
        on("tick", "a tick passes", says(True, "tick", "time passes"), where="alone"),
        on("tick", "{ticks} ticks pass", says(True, "tick", "time passes")),
        on("acquire", "{by} asks for {permits}, and would wait", _THROUGH, tells="waits"),
        on("give_up", "{by} gives up", _THROUGH, tells="gives_up"),
        on("both", "two callers ask at once, for {permits} and {other}; the second after step "
           "{steps} of the first", says(True, "", "")),
    )

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "rate", _settings(capacity), _constants(capacity, items_max))
        self._depth = capacity
        self.waiting: dict[str, int] = {}
        self._calls = 0
        if self.policy == "log":
            self.can -= {"acquire", "give_up"}
        self.can |= {policy(self.policy)}

    def request_of(self, act: Act) -> Message | None:
        """The request that an act makes now; None if it makes no sense."""
        permits = act.pick % self._depth + 1
        if act.do == "tick":
            return {"do": "tick", "ticks": 1 if self.waiting else act.pick % TICKS + 1}
        if act.do == "acquire":
            if self._calls == CALLS_MAX or len(self.waiting) == WAITERS_MAX:
                return None
            return {"do": "acquire", "by": f"c{self._calls + 1}", "permits": permits}
        if act.do == "give_up":
            names = list(self.waiting)
            return {"do": "give_up", "by": names[act.pick % len(names)]} if names else None
        if act.do == "both":
            other = act.pick // self._depth % self._depth + 1
            return {"do": "both", "permits": permits, "other": other,
                    "steps": act.pick // STEPS_MAX % STEPS_MAX}
        return {"do": "take", "permits": permits}

    def about(self, message: Message) -> Fields:
        """A request, event or answer, with what is known besides; a waiting call has a number."""
        fields = {**message, "alone": message.get("ticks") == 1,
                  "waited": bool(self.waiting), "log": self.policy == "log"}
        if "by" in message:
            number = str(message["by"])[1:]
            fields["call"] = int(number) - 1 if number.isdecimal() else -1
        return fields

    def possible(self, request: Message) -> Iterator[Answer]:
        """The possible answers to a request; of two callers at once, each may get all or none."""
        if request["do"] != "both":
            yield from super().possible(request)
            return
        for permits in {request["permits"], request["other"]}:
            through, away = _ANSWERS[self.policy]
            for step, words in ((through, "gets them"), (away, "gets none")):
                yield Answer(f"the caller that asks for {permits} {words}",
                             (step, (("permits", permits),)))

    def seen(self, request: Message, answer: Any) -> Seen:
        """The steps that an answer shows: each tick is a step. Of two callers at once, one that
        gets permits may have come before one that gets none.
        """
        if request["do"] == "both":
            return _of_both(request, answer, *_ANSWERS[self.policy])
        if request["do"] == "acquire":
            self._calls += 1
            self.waiting[request["by"]] = request["permits"]
        waited = request["do"] != "take" and self._row(request)[0].tells
        if request["do"] == "give_up":
            self.waiting.pop(request["by"])
        if waited:
            return super().seen(request, [] if answer is True else answer)
        shown = super().seen(request, True if answer == [] else answer)
        return shown._replace(steps=shown.steps * request.get("ticks", 1))

    def note(self, action: str, about: Fields) -> None:
        """Remember what later requests depend on.

        Raises ``TargetError`` for a call that does not wait.
        """
        if action == "granted" and self.waiting.pop(about["by"], None) is None:
            raise TargetError(
                f"the target reports that {excerpt(about['by'])} is admitted, which does not wait",
                next_step="Fix the adapter: it names each call of acquire once, when that has its "
                "permits.")


def policy(name: str) -> str:
    """The capability of a target with this policy: a rule may need it."""
    return f"the policy {name}"


def _of_both(request: Message, answer: list[bool], through: str, away: str) -> Seen:
    asked = sorted(zip(answer, (request["permits"], request["other"]), strict=True),
                   key=lambda each: not each[0])
    return Seen(
        tuple((through if given else away, (("permits", permits),))
              for given, permits in asked),
        " and ".join(f"the {which} gets {'all' if given else 'none'}"
                     for which, given in zip(("first", "second"), answer, strict=True)))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "rate": that_goes_with(capacity, RATES)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    rate = that_goes_with(capacity, RATES)
    return {"r": rate, "b": capacity, "K": CALLS_MAX, "P": -(-capacity // rate)}


SUITE: Final = Suite(
    name="rate",
    version=2,
    port="rate",
    watches=(
        Watch(ObservedRate),
        Watch(ObservedRefusals, apart=True),
        Watch(ObservedLine, adds=IN_TURN, base=ObservedRate),
        Watch(ObservedLog, adds=WITHIN_THE_PERIOD, base=ObservedRate),
        Watch(ObservedLogRefusals, apart=True),
    ),
    weights={"take": 3, "tick": 2, "acquire": 2, "give_up": 1, "both": 1},
    epilogue=(Act("tick", 2), Act("take", 0), Act("take", 1), Act("tick", 0), Act("take", 0)),
    constants=_constants,
    converse=RateConversation,
    settings=_settings,
    capacities=tuple(RATES),
    # Little, a pause, nearly all, hardly a pause, and all: around the end of a period, if the limit
    # has periods. Counted backwards, picks mean the same of each depth.
    courses={"FLOW-80": (((Act("take"),), "tick", (Act("take", PICKS - 2),), (Act("tick"),),
                          (Act("take", PICKS - 1),)),
                         # Nothing is left, time passes, and two callers ask at once for much.
                         ((Act("take", PICKS - 1),), "tick", (Act("both", PICKS // 6 - 1),))),
             # The bucket is empty, one call waits for all and one for little, and one is cancelled.
             "FLOW-82": (("take", (Act("take", PICKS - 1),), (Act("acquire", PICKS - 1),),
                          (Act("acquire"),), (Act("give_up"),), (Act("tick"),), (Act("tick"),)),)},
    picks=PICKS,
    scene="A limit on a rate. Depth: {capacity} permits; a tick brings {rate}.",
)
