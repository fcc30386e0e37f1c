"""The suite ``summaries``: values come in bursts, and permits one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple

from ....spec.flow.observed_summaries import ObservedBatches, ObservedSummaries
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Exchange, Suite, Watch
from ...suites.values import Payloads, Style

__all__ = ["SUITE", "SummariesConversation"]

HELD_MAX: Final = 8
"""Values that a stage holds, at most: the next permit comes before another one."""

_TOTAL_MAX: Final = 1 << HELD_MAX

_LARGE: Final = 2**49
"""So large that as many as are held come to no more than every language reads from JSON."""

_STYLES: Final[Mapping[str, Style]] = {
    "numbers from 0": lambda random, number: number,
    "large numbers": lambda random, number: _LARGE - number,
    "numbers alike in 32 bits": lambda random, number: number % 1024 << 32,
    "equal numbers": lambda random, number: random.choice((0, 0, 1)),
}


class Steps(NamedTuple):
    """What the machine of a policy calls what is seen."""

    takes: str
    holds_up: str
    emits: str
    others: str
    nothing: str


STEPS: Final[Mapping[str, Steps]] = {
    "rolls up": Steps("takes", "holds_up", "emits", "emits_several", "emits_nothing"),
    "batches": Steps("collects", "makes_wait", "sends", "sends_others", "sends_nothing"),
}


class SummariesConversation(PlainConversation):
    """One session with a stage; this is its source, and its sink.

    Of the values that a stage can hold together, each is another power of two: so the sum of some
    says which they are. Where a program has other values, they stand for those: what comes to the
    sum of all that are held is as right as the sum of the powers, and anything else is wrong.
    """

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"offer": ("value",)}

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "summaries", {"capacity": capacity})
        self._batches = self.policy == "batches"
        self._steps = STEPS[self.policy]
        # Its policy is among what it can: a rule depends on it.
        self.can |= {policy(self.policy)}
        self._came = 0                          # values that were taken
        self._held: list[int] = []              # of these, what no output was for yet
        self._powers: list[int] = []            # and for which powers of two they stand

    def request_of(self, act: Act) -> Message | None:
        if act.do == "take":
            return {"do": "take"}
        if len(self._held) >= HELD_MAX:
            return None
        return {"do": "offer", "value": dict(act.about).get("value", self._power)}

    @property
    def _power(self) -> int:
        """For which power of two the next value stands."""
        return 1 << self._came % HELD_MAX

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``: what could be otherwise is what was held before."""
        held, powers = list(self._held), list(self._powers)
        exchange = super().say(act)
        if exchange.outcome is None or act.do == "offer":
            return exchange
        return exchange._replace(possible=tuple(self._outputs(held, powers)))

    def asked(self, request: Message) -> str:
        if request["do"] == "take":
            return "a permit comes"
        return f"the value {request['value']} comes"

    def possible(self, request: Message) -> Iterator[Answer]:
        if request["do"] == "offer":
            yield Answer("it is taken", _of(self._steps.takes, "value", self._power))
            yield Answer("its source is held up", (self._steps.holds_up, ()))

    def seen(self, request: Message, answer: Any) -> Seen:
        if request["do"] == "offer":
            if not answer:
                return Seen(((self._steps.holds_up, ()),), "its source is held up")
            power = self._power
            self._came += 1
            self._held.append(request["value"])
            self._powers.append(power)
            return Seen((_of(self._steps.takes, "value", power),), "it is taken")
        if answer is None:
            return Seen(((self._steps.nothing, ()),), "there is no output")
        held, powers = self._held, self._powers
        self._held, self._powers = [], []
        return Seen((self._step(held, powers, answer),), self._words(answer))

    def _step(self, held: list[int], powers: list[int], output: list[int]) -> Step:
        """What an output shows: how much it comes to, or else that it has another form."""
        total, right = sum(output), sum(powers)
        if total == sum(held) and output != (held if self._batches else [total]):
            return self._steps.others, ()
        if total == sum(held):
            total = right
        elif held != powers:
            total = 0 if right else 1
        return _of(self._steps.emits, "total", min(total, _TOTAL_MAX))

    def _words(self, output: list[int]) -> str:
        listed = ", ".join(map(str, output)) or "nothing"
        return f"the batch {listed} goes" if self._batches else f"a summary goes: {listed}"

    def _outputs(self, held: list[int], powers: list[int]) -> Iterator[Answer]:
        emits, total = self._steps.emits, sum(powers)
        yield Answer("there is no output", (self._steps.nothing, ()))
        # Its sum is what the machine looks at, but no other output of that sum would do.
        output = held if self._batches else [sum(held)]
        yield Answer(self._words(output), _of(emits, "total", total))
        yield Answer("an output goes that comes to another sum", _of(emits, "total", total + 1))
        yield Answer("an output goes in another form", (self._steps.others, ()))


def policy(name: str) -> str:
    """What a target of a policy has, besides its operations: a rule may need it."""
    return f"the policy {name}"


def _of(action: str, name: str, number: int) -> Step:
    return action, ((name, number),)


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"K": _TOTAL_MAX, "m": capacity}


SUITE: Final = Suite(
    name="summaries",
    version=3,
    port="summaries",
    watches=(Watch(ObservedSummaries), Watch(ObservedBatches)),
    weights={"offer": 3, "take": 1},
    epilogue=(Act("take"), Act("offer"), Act("offer"), Act("take"), Act("take")),
    constants=_constants,
    payloads=Payloads({"offer": "value"}, styles=_STYLES, equal=True),
    long=Long(fills=("offer",), drains=("take",), sizes=(6,)),
    converse=SummariesConversation,
    capacities=(1, 2, 4),
    telling={"FLOW-126": (2, 4)},
    scene="A stage. Values of a batch, at most, if it batches: {capacity}.",
)
