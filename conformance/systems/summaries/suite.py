"""The suite ``summaries``: values come in bursts, and credits one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.flow.observed_summaries import ObservedBatches, ObservedSummaries
from ...ports.base import Message
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation, Seen
from ...suites.remembered import kept, tally
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
           says(False, holds_up, "its source has to wait"), where=where,
           makes_sense=lambda talk: len(talk.held) < HELD_MAX,
           picks={"value": lambda talk, request: [talk.power]}),
        on("take", "a credit comes", says(None, nothing, "there is no output"),
           *over(lambda talk, request: talk.sums(), says("sum", emits, "{listed}")),
           says("other", others, "an output goes in another form", "{listed}"), where=where))


_SENT: Final = "sends sends_others emits emits_several"


class SummariesConversation(PlainConversation):
    """One session with a stage; this is its source, and its sink.

    Of the values that a stage can hold together, each is another power of two: so the sum of some
    says which they are. If a program has other values, they stand for those: the sum of all that
    are held is as right as the sum of the powers, and any other sum is wrong.
    """

    came = tally({"takes": 1, "collects": 1})           # values that were taken
    held = kept("given", adds="takes collects", clears=_SENT)       # since the last output
    powers = kept("value", adds="takes collects", clears=_SENT)     # for which they stand
    needs_policy = True
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"offer": ("value",)}

    says = table(
        (ObservedSummaries, ObservedBatches),
        *_rows("collects", "makes_wait", "sends", "sends_others", "sends_nothing", "batches"),
        *_rows("takes", "holds_up", "emits", "emits_several", "emits_nothing"))

    @property
    def power(self) -> int:
        """The power of two for which the next value stands."""
        return 1 << self.came % HELD_MAX

    def about(self, message: Message) -> Fields:
        value = {"given": message["value"], "value": self.power} if "value" in message else {}
        return {**message, **value, "batches": self.policy == "batches"}

    def seen(self, request: Message, answer: Any) -> Seen:
        """The same of an output with its sum, or of one of another form."""
        if request["do"] == "offer" or answer is None:
            return super().seen(request, answer)
        total, right = sum(answer), sum(self.powers)
        form = "sum"
        if total == sum(self.held):
            form = "sum" if answer == self._output else "other"
            total = right
        elif self.held != self.powers:
            total = 0 if right else 1
        return super().seen(
            request, {"does": form, "total": total, "listed": self._words(answer)})

    def sums(self) -> list[Fields]:
        """The sum of an output, as it has to be, and another one. The machine checks only the sum,
        but no other output of that sum would be right."""
        total = sum(self.powers)
        return [{"total": total, "listed": self._words(self._output)},
                {"total": total + 1, "listed": "an output goes that has another sum"}]

    @property
    def _output(self) -> list[int]:
        """The output that is right now."""
        return self.held if self.policy == "batches" else [sum(self.held)]

    def _words(self, output: list[int]) -> str:
        listed = ", ".join(map(str, output)) or "nothing"
        one = "the batch {} goes" if self.policy == "batches" else "a summary goes: {}"
        return one.format(listed)


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
    conversation=SummariesConversation,
    capacities=(1, 2, 4),
    telling={"FLOW-126": (2, 4)},
    scene="A stage. Values of a batch, at most, if it batches: {capacity}.",
)
