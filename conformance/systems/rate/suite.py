"""The suite ``rate``: bursts, pauses, those who are turned away and come again, and who wait."""

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
"""By depth."""

PICKS: Final = 144
"""A multiple of each depth, and of its square where steps matter."""

TICKS: Final = 3
"""That pass at once, at most."""

STEPS_MAX: Final = 12
"""After fewer steps of the first of two callers, the second one comes."""

WAITERS_MAX: Final = 3
"""That wait at the same time."""

_ANSWERS: Final = {"bucket": ("passes", "is_turned_away"), "log": ("is_logged", "has_no_room")}
"""By policy, what it is to be let through and to be turned away."""

CALLS_MAX: Final = 8
"""That ask and wait, in one program."""

_THROUGH: Final = each(
    over(lambda talk, request: [{"by": name} for name in talk.waiting],
         says(ANY, "granted", "{by} is let through", gives="by")),
    ends("rest", "nobody else is let through"), nothing="nobody is let through")


class RateConversation(PlainConversation):
    """One session with a limit; this is everybody who asks, and the clock.

    Its policy is among what it ``can``: rules depend on it.
    """

    says = table(
        ObservedRate,
        on("take", "somebody asks for {permits}", says(True, "is_logged", "all are given"),
           says(False, "has_no_room", "none is given"), where="log"),
        on("take", "somebody asks for {permits}", says(True, "passes", "all are given"),
           says(False, "is_turned_away", "none is given")),
        on("tick", "a tick passes", _THROUGH, tells="tick", where="waited"),
        on("tick", "a tick passes", says(True, "tick", "time goes on"), where="alone"),
        on("tick", "{ticks} ticks pass", says(True, "tick", "time goes on")),
        on("acquire", "{by} asks for {permits}, and would wait", _THROUGH, tells="waits"),
        on("give_up", "{by} gives up", _THROUGH, tells="gives_up"),
        on("both", "two ask at once, for {permits} and {other}; the second after step {steps} of "
           "the first", says(True, "", "")),
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
        """See ``PlainConversation``. A request about a call that asks and waits has its number."""
        fields = {**message, "alone": message.get("ticks") == 1,
                  "waited": bool(self.waiting), "log": self.policy == "log"}
        if "by" in message:
            number = str(message["by"])[1:]
            fields["call"] = int(number) - 1 if number.isdecimal() else -1
        return fields

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``: of two that ask at once, each may get all or none."""
        if request["do"] != "both":
            yield from super().possible(request)
            return
        for permits in {request["permits"], request["other"]}:
            through, away = _ANSWERS[self.policy]
            for step, words in ((through, "gets them"), (away, "gets none")):
                yield Answer(f"who asks for {permits} {words}", (step, (("permits", permits),)))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``: a tick is a step. Who gets permits at the same time as another
        one gets none may have come first."""
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
        """See ``PlainConversation``. Raises ``TargetError`` for who does not wait."""
        if action == "granted" and self.waiting.pop(about["by"], None) is None:
            raise TargetError(
                f"the target reports that {excerpt(about['by'])} is let through, which does not "
                "wait", next_step="Mend the adapter: it names each call of acquire once, when "
                "that has its permits.")


def policy(name: str) -> str:
    """What a target of a policy has, besides its operations: a rule may need it."""
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
                         # Nothing is left, time passes, and two ask at once for much.
                         ((Act("take", PICKS - 1),), "tick", (Act("both", PICKS // 6 - 1),))),
             # The bucket is empty, somebody waits for all and somebody for little, and one stops.
             "FLOW-82": (("take", (Act("take", PICKS - 1),), (Act("acquire", PICKS - 1),),
                          (Act("acquire"),), (Act("give_up"),), (Act("tick"),), (Act("tick"),)),)},
    picks=PICKS,
    scene="A limit on a rate. Depth: {capacity} permits; a tick brings {rate}.",
)
