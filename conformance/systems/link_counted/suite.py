"""The suite ``link.counted``: messages are delivered late, again, out of turn, or never."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.flow.observed_counted import ObservedCountedLink
from ...suites.besides import (
    asked, at_least, at_most, below, both, constant, equal, given, minus, same, setting, size_of,
    worded,
)
from ...suites.capacities import half_of, that_goes_with
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import kept, newest, next_few, numbers_below, tally
from ...suites.says import ANY, each, ends, on, one, says, table
from ...suites.suite import Act, Suite, Watch
from ..link.suite import FIRST

__all__ = ["SUITE", "CountedConversation"]

ELEMENTS_MAX: Final = 12
"""Limit of the elements that a program offers."""

BATCHES: Final = {1: 1, 2: 2, 3: 1, 7: 3}
"""Batch by capacity."""

# After one message there is nothing more to send: no request calls for two.
_SENT: Final = each(
    ends("sender_rests", "A sends nothing more"),
    says(ANY, "sends", "A sends the next element", "{element}", gives="element", where="next"),
    says(ANY, "sends_again", "A sends element {element} again", "{element}", gives="element",
         where="again", last=True, among=numbers_below("sent", "first")),
    says(ANY, "sends_another", "A sends an element out of turn", "{element}", gives="element"),
    words="A sends {}", nothing="A sends nothing", joined=", ")
_PROCESSED: Final = one(
    says(ANY, "processes", "the oldest element is processed", "element {processed} is processed",
         gives="processed", where="oldest"),
    says(ANY, "processes_another", "another element is processed",
         "element {processed} is processed", gives="processed"),
    says(None, "processes_nothing", "there is nothing to process", "nothing is processed"))
_TOLD: Final = each(
    ends("receiver_rests", "B sends nothing more"),
    says("ack", "acks", "B acknowledges {ack}", "acknowledges {ack}", gives="ack", last=True,
         among=lambda talk, request: [talk.first + talk.accepted + more for more in (0, 1)]),
    says("limit", "limits", "B grants the limit {limit}", "grants the limit {limit}",
         gives="limit", last=True,
         among=lambda talk, request: [talk.first + talk.room + more for more in (0, 1)]),
    words="B {}", nothing="B sends nothing")


_CREDIBLE: Final = both(at_least("place", 0), at_most("place", constant("K", 2)))


class CountedConversation(PlainConversation):
    """One session with both ends of a link; this is the network between them.

    It keeps all that was ever sent. A ``pick`` of 0 is the message that the other end needs most:
    the oldest element that B has not had, the newest number; others are older. No number comes
    twice, and none that is far beyond all elements. Numbers are counted from the setting ``first``;
    the observer has them less that.
    """

    offered = tally({"offer": "count"})     # elements that A's application had so far
    accepted = tally({"data": "due"})       # elements that B was brought in their turn
    sent = tally({"sends": 1})
    processed = tally({"processes": 1})
    acks = kept("ack", adds="acks:credible", once=True)
    limits = kept("limit", adds="limits:credible", once=True)
    knows = (
        given("elements", count=size_of("elements"), listed=worded("elements")),
        given("limit", place=minus("limit", setting("first")),
              beyond=minus("place", constant("C"), least=0), credible=_CREDIBLE),
        given("ack", place=minus("ack", setting("first")), number=minus("place", 0, least=0),
              credible=_CREDIBLE),
        asked("number", below=same("number"), number=minus("number", setting("first"))),
        given("element", id=minus("element", setting("first")), due=equal("id", "accepted"),
              again=both(at_least("id", 0), below("id", "sent")),
              next=both(equal("id", "sent"), below("id", "offered"))),
        given("processed", place=minus("processed", setting("first")),
              oldest=equal("place", "processed")),
    )
    says = table(
        ObservedCountedLink,
        on("offer", "A's application offers {listed}", _SENT, tells="offer",
           picks={"elements": next_few("offered", "K", first="first")}),
        on("permit", "the limit {limit} reaches A", _SENT, tells="permit",
           picks={"limit": newest("limits")}),
        on("ack", "the acknowledgement of {below} reaches A", _SENT, tells="ack",
           picks={"number": newest("acks")}),
        on("sender_timer", "A's timer runs out", _SENT, tells="sender_timer"),
        on("data", "element {element} reaches B", _TOLD, tells="data",
           picks={"element": "brought"}),
        on("receiver_timer", "B's timer runs out", _TOLD, tells="receiver_timer"),
        on("process", "B's consumer processes an element",
           {"element": _PROCESSED, "messages": _TOLD}),
    )

    @property
    def first(self) -> int:
        """The number of the first element."""
        return self.settings["first"]

    @property
    def room(self) -> int:
        """The limit for as many elements as B has processed, less the first number."""
        return self.constants["C"] + self.processed

    @property
    def brought(self) -> list[int]:
        """The elements that A has sent: first the oldest that B has not had, then those before it,
        then the newest."""
        wanted = min(self.accepted, self.sent - 1)
        places = (*range(wanted, -1, -1), *range(self.sent - 1, wanted, -1))
        return [self.first + place for place in places]


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "batch": that_goes_with(capacity, BATCHES, half_of),
            "first": FIRST.get(capacity, 0)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "b": that_goes_with(capacity, BATCHES, half_of),
            "K": grown(ELEMENTS_MAX, items_max, each=3)}


SUITE: Final = Suite(
    name="link.counted",
    version=3,
    port="link.counted",
    watches=(Watch(ObservedCountedLink),),
    weights={"offer": 3, "permit": 4, "ack": 2, "sender_timer": 2, "data": 6, "receiver_timer": 1,
             "process": 4},
    epilogue=(Act("offer", 2), Act("sender_timer"),
              *(Act("data"), Act("process"), Act("permit")) * 2,
              Act("data", 1), Act("process"), Act("process"), Act("receiver_timer"),
              Act("sender_timer")),
    constants=_constants,
    long=Long(fills=("offer", "data"), drains=("process", "permit"), sizes=(7,)),
    conversation=CountedConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    # A holds credit when a limit comes that is older than the one it has.
    courses={"FLOW-8": (((Act("receiver_timer"),), (Act("offer"),), (Act("data"),), "process",
                         (Act("permit"),), (Act("permit", 1),), (Act("offer", 2),)),)},
    scene="A network that loses, duplicates and reorders. Slots of B: {capacity}; batch: "
          "{batch}; the first element: {first}.",
)
