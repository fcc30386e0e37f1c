"""The suite ``summaries``: values come in bursts, and credits one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.flow.observed_summaries import ObservedBatches, ObservedSummaries
from ...ports.base import Message, Session
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation, Seen
from ...suites.says import Fields, On, on, over, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import Payloads, Style

__all__ = ["SUITE", "SummariesConversation"]

HELD_MAX: Final = 8
"""Limit of the values that a stage holds: the next credit comes before another one."""

_TOTAL_MAX: Final = 1 << HELD_MAX

_LARGE: Final = 2**49
"""So large that the sum of all that are held is still an integer in every reader of JSON."""

_STYLES: Final[Mapping[str, Style]] = {
    "numbers from 0": lambda random, number: number,
    "large numbers": lambda random, number: _LARGE - number,
    "numbers alike in 32 bits": lambda random, number: number % 1024 << 32,
    "equal numbers": lambda random, number: random.choice((0, 0, 1)),
}


def _rows(
    takes: str, holds_up: str, emits: str, others: str, nothing: str, where: str = ""
) -> tuple[On, On]:
    """The operations, with the actions of the machine of a policy."""
    return (
        on("offer", "the value {given} comes", says(True, takes, "it is taken"),
           says(False, holds_up, "its source has to wait"), where=where),
        on("take", "a credit comes", says(None, nothing, "there is no output"),
           *over(lambda talk, request: talk.sums(), says("sum", emits, "{listed}")),
           says("other", others, "an output goes in another form", "{listed}"), where=where))


class SummariesConversation(PlainConversation):
    """One session with a stage; this is its source, and its sink.

    Of the values that a stage can hold together, each is another power of two: so the sum of some
    says which they are. If a program has other values, they stand for those: the sum of all that
    are held is as right as the sum of the powers, and any other sum is wrong.
    """

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"offer": ("value",)}

    says = table(
        (ObservedSummaries, ObservedBatches),
        *_rows("collects", "makes_wait", "sends", "sends_others", "sends_nothing", "batches"),
        *_rows("takes", "holds_up", "emits", "emits_several", "emits_nothing"))

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(
            session, "summaries", {"capacity": capacity}, _constants(capacity, items_max))
        self._batches = self.policy == "batches"
        # Its policy is among what it can: a rule depends on it.
        self.can |= {policy(self.policy)}
        self._came = 0                          # values that were taken
        self._held: list[int] = []              # of these, those that no output stood for yet
        self._powers: list[int] = []            # and the powers of two for which they stand

    def request_of(self, act: Act) -> Message | None:
        """The request that an act makes now; None if it makes no sense."""
        if act.do == "take":
            return {"do": "take"}
        if len(self._held) >= HELD_MAX:
            return None
        return {"do": "offer", "value": dict(act.about).get("value", self._power)}

    @property
    def _power(self) -> int:
        """The power of two for which the next value stands."""
        return 1 << self._came % HELD_MAX

    def about(self, message: Message) -> Fields:
        value = {"given": message["value"], "value": self._power} if "value" in message else {}
        return {**message, **value, "batches": self._batches}

    def note(self, action: str, about: Fields) -> None:
        if action in ("takes", "collects"):
            self._came += 1
            self._held.append(about["given"])
            self._powers.append(about["value"])

    def seen(self, request: Message, answer: Any) -> Seen:
        """The same of an output with its sum, or of one of another form."""
        if request["do"] == "offer" or answer is None:
            return super().seen(request, answer)
        held, powers = self._held, self._powers
        self._held, self._powers = [], []
        total, right = sum(answer), sum(powers)
        form = "sum"
        if total == sum(held):
            form = "sum" if answer == (held if self._batches else [total]) else "other"
            total = right
        elif held != powers:
            total = 0 if right else 1
        return super().seen(
            request, {"does": form, "total": total, "listed": self._words(answer)})

    def sums(self) -> list[Fields]:
        """The sum of an output, as it has to be, and another one. The machine checks only the sum,
        but no other output of that sum would be right."""
        total = sum(self._powers)
        output = self._held if self._batches else [sum(self._held)]
        return [{"total": total, "listed": self._words(output)},
                {"total": total + 1, "listed": "an output goes that has another sum"}]

    def _words(self, output: list[int]) -> str:
        listed = ", ".join(map(str, output)) or "nothing"
        return f"the batch {listed} goes" if self._batches else f"a summary goes: {listed}"


def policy(name: str) -> str:
    """The capability of a target with this policy: a rule may need it."""
    return f"the policy {name}"


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
