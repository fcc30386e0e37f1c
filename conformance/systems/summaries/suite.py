"""The suite ``summaries``: values come in bursts, and credits one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ....spec.flow.observed_summaries import ObservedBatches, ObservedSummaries
from ...suites.besides import given, of_policy, room, same, told, value, worded
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation
from ...suites.remembered import kept, tally
from ...suites.says import ANY, Fields, On, on, says, table
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
    takes: str, holds_up: str, emits: str, others: str, nothing: str, goes: str, where: str = ""
) -> tuple[On, On]:
    """The operations, with the actions of the machine of a policy; ``goes`` says an output."""
    return (
        on("offer", "the value {given} comes", says(True, takes, "it is taken"),
           says(False, holds_up, "its source has to wait"), where=where, only="has_place",
           picks={"value": lambda talk, request: [talk.power]}),
        # The machine checks only the sum, but no other output of that sum would be right.
        on("take", "a credit comes", says(None, nothing, "there is no output"),
           says(ANY, emits, goes, gives="output", where="as_due",
                among=lambda talk, request: [{"output": talk.output}]),
           says("another", emits, "an output goes that has another sum",
                among=lambda talk, request: [{"total": sum(talk.powers) + 1}]),
           says(ANY, others, "an output goes in another form", goes, gives="output"),
           where=where))


_SENT: Final = "sends sends_others emits emits_several"


def _summed(talk: SummariesConversation, fields: Fields) -> Fields:
    """The sum of an output, as that of the powers for which its values stand."""
    output, right = fields["output"], sum(talk.powers)
    if sum(output) == sum(talk.held):
        return {"total": right, "as_due": output == talk.output}
    return {"total": sum(output) if talk.held == talk.powers else 0 if right else 1,
            "as_due": True}


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

    has_place = room("held", HELD_MAX)
    knows = (
        given("", batches=of_policy("batches")),
        given("value", given=same("value"), value=value("power")),
        told("output", _summed, listed=worded("output", none="nothing")),
    )
    says = table(
        (ObservedSummaries, ObservedBatches),
        *_rows("collects", "makes_wait", "sends", "sends_others", "sends_nothing",
               "the batch {listed} goes", where="batches"),
        *_rows("takes", "holds_up", "emits", "emits_several", "emits_nothing",
               "a summary goes: {listed}"))

    @property
    def power(self) -> int:
        """The power of two for which the next value stands."""
        return 1 << self.came % HELD_MAX

    @property
    def output(self) -> list[int]:
        """The output that is right now."""
        return self.held if self.policy == "batches" else [sum(self.held)]


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
