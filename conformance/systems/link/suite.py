"""The suite ``link``: elements are offered, messages delivered in order, elements processed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.flow.observed_link import ObservedLink
from ....spec.notation.labels import counted
from ...ports.base import Message
from ...suites.capacities import half_of, that_goes_with
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import kept, next_few, oldest, tally
from ...suites.says import ANY, Fields, each, ends, on, one, says, table
from ...suites.suite import Act, Suite, Watch

__all__ = ["SUITE", "LinkConversation"]

ELEMENTS_MAX: Final = 24
"""Limit of the elements that a program offers."""

BATCHES: Final = {1: 1, 2: 2, 3: 2, 4: 1, 7: 3}
"""Batch by capacity: all slots (stop-and-wait among them), a part of them, or one."""

FIRST: Final = {2: 2**16 - 2, 3: 2**31 - 2, 4: 2**32 - 2, 7: 2**53 - 8_192}
"""By capacity, the number of the first element, if it is not 0: the third one exceeds 16, 31 or 32
bits; and the largest that every language reads."""

_SENT: Final = each(
    ends("sender_rests", "A sends nothing more"),
    says(ANY, "sends", "A sends the next element", "{element}", gives="element", where="next"),
    says(ANY, "sends_another", "A sends an element out of turn", "{element}", gives="element"),
    words="A sends element{s} {}", nothing="A sends nothing", joined=", ")
_PROCESSED: Final = one(
    says(ANY, "processes", "the oldest element is processed", "{name} is processed",
         gives="processed", where="next"),
    says(ANY, "processes_another", "another element is processed, or none",
         "{name} is processed", gives="processed"))
_GRANTED: Final = each(
    ends("receiver_rests", "B sends nothing more"),
    says(ANY, "grants", "B grants {permits}", "{permits}", gives="count", last=True,
         among=lambda talk, request: talk.known["grants"]["count"][1:]),
    words="B grants {}", nothing="B sends nothing")


class LinkConversation(PlainConversation):
    """One session with both ends of a link; this is the network between them."""

    offered = tally({"offer": "count"})     # elements that A's application had so far
    sent = tally({"sends": 1, "sends_another": 1})
    processed = tally({"processes": 1, "processes_another": 1})
    data = kept("element", adds="sends sends_another", drops="data")    # under way to B
    permits = kept("count", adds="grants", drops="permit")              # under way to A
    says = table(
        ObservedLink,
        on("offer", "A's application offers element{s} {listed}", _SENT, tells="offer",
           picks={"elements": next_few("offered", "K", first="first")}),
        on("permit", "a message with {permits} reaches A", _SENT, tells="permit",
           picks={"count": oldest("permits")}),
        on("data", "element {element} reaches B", _GRANTED, tells="data",
           picks={"element": oldest("data")}),
        on("process", "B's consumer processes an element",
           {"element": _PROCESSED, "permits": _GRANTED},
           makes_sense=lambda talk: talk.times["data"] > talk.processed),
    )

    def about(self, message: Message) -> Fields:
        """A request, event or answer, with the fields that are known besides."""
        first = self.settings["first"]
        if elements := message.get("elements"):
            return {**message, "count": len(elements), "s": "s" if len(elements) > 1 else "",
                    "listed": ", ".join(map(str, elements))}
        if "count" in message:
            return {**message, "permits": counted(message["count"], "credit")}
        if "processed" in message:
            number = message["processed"]
            return {**message, "name": "nothing" if number is None else f"element {number}",
                    "next": number == first + self.processed}
        if "element" in message:
            return {**message, "next": message["element"] - first == self.sent < self.offered}
        return message


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "batch": that_goes_with(capacity, BATCHES, half_of),
            "first": FIRST.get(capacity, 0)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "b": that_goes_with(capacity, BATCHES, half_of),
            "K": grown(ELEMENTS_MAX, items_max)}


SUITE: Final = Suite(
    name="link",
    version=3,
    port="link",
    watches=(Watch(ObservedLink),),
    weights={"offer": 3, "permit": 4, "data": 5, "process": 5},
    epilogue=(Act("offer", 2), *(Act("data"), Act("process"), Act("permit")) * 3),
    constants=_constants,
    long=Long(fills=("offer", "data"), drains=("process", "permit"), sizes=(7,)),
    conversation=LinkConversation,
    settings=_settings,
    capacities=(1, 2, 3, 4),
    telling={"FLOW-3": (1, 2), "FLOW-5": (2, 3), "FLOW-9": (3, 4)},
    scene="A link. Slots of B: {capacity}; freed slots that are announced together: {batch}; the "
          "first element: {first}.",
)
